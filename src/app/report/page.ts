import { style } from './html-style.js';
import { escapeText } from './svg.js';

/** The head of every page: one file that needs nothing else. No script, no font, no request. */
export const pageHead = (title: string, more = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="referrer" content="no-referrer">
<title>${escapeText(title)} · Fugu</title>
<style>${style}${more}</style>
</head>`;
