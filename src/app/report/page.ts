import { style } from './html-style.js';
import { element, escapeText } from './svg.js';

/** A page; all but its title is markup already. */
export interface Page {
  readonly title: string;
  readonly heading: string;
  readonly sub: string;
  readonly body: string;
  readonly footer: string;
  readonly style?: string;
}

/** One file that needs nothing else: no script, no font, no request. Safe to mail, to print and to open offline. */
export const page = ({ title, heading, sub, body, footer, style: own = '' }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="referrer" content="no-referrer">
<title>${escapeText(title)} · Fugu</title>
<style>${style}${own}</style>
</head>
<body>
<header><div>${mark}<div><h1>${heading}</h1>
<p class="sub">${sub}</p></div></div></header>
<main>
${body}
</main>
<footer>Made by Fugu${footer}</footer>
</body>
</html>
`;

export const badge = (kind: 'good' | 'warn', text: string): string => `<span class="badge ${kind}">${text}</span>`;

export const list = (items: readonly string[]): string =>
  `<ul>${items.map((item) => `<li>${escapeText(item)}</li>`).join('')}</ul>`;

/** Cell of a table; `over` marks a figure that is beyond what it should be. */
export type Cell = string | { readonly text: string; readonly over: boolean };

/** Table of columns of text and then columns of figures. */
export function htmlTable(texts: readonly string[], figures: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cell = (tag: 'th' | 'td') => (one: Cell, k: number) => {
    const { text, over } = typeof one === 'string' ? { text: one, over: false } : one;
    const look = k < texts.length ? '' : ` class="n${over ? ' over' : ''}"`;
    return `<${tag}${look}>${escapeText(text)}</${tag}>`;
  };
  const body = rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`);
  return `<table><thead><tr>${[...texts, ...figures].map(cell('th')).join('')}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}

/** A pufferfish, puffed up: spines around a body, a tail, an eye. Drawn, not loaded. */
const spines = Array.from({ length: 18 }, (_, k) => {
  const angle = (k / 18) * 2 * Math.PI;
  const at = (r: number, turn = 0) =>
    `${(32 + r * Math.cos(angle + turn)).toFixed(1)} ${(32 + r * Math.sin(angle + turn)).toFixed(1)}`;
  return `M${at(20, -0.11)}L${at(27)}L${at(20, 0.11)}Z`;
}).join('');

const mark: string = element(
  'svg',
  { viewBox: '0 0 64 64', class: 'mark', 'aria-hidden': 'true' },
  element('path', { d: 'M49 32 L62 23 Q58.5 32 62 41 Z', fill: 'var(--accent, #cf5f22)' }),
  element('path', { d: spines, fill: 'var(--bar, #1f6f8b)' }),
  element('circle', { cx: 32, cy: 32, r: 20.6, fill: 'var(--bar, #1f6f8b)' }),
  element('path', {
    d: 'M12.6 37.5 A20.4 20.4 0 0 0 51.4 37.5 Q32 45.5 12.6 37.5Z',
    fill: 'var(--card, #fff)',
    'fill-opacity': 0.82,
  }),
  element('circle', { cx: 22.5, cy: 26.5, r: 4.4, fill: 'var(--card, #fff)' }),
  element('circle', { cx: 21.4, cy: 26.8, r: 2.1, fill: 'var(--ink, #16232e)' }),
  element('path', { d: 'M33 33.5 q5.5 -4.5 10 -0.5 q-4 5 -10 0.5Z', fill: 'var(--accent, #cf5f22)' }),
);
