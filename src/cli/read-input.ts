import { readFileSync } from 'node:fs';
import { Fault } from '../errors.js';

/** JSON from the command line, or from a file as @file.json. */
export function readJson(text: string): unknown {
  const source = text.startsWith('@') ? readText(text.slice(1)) : text;
  try {
    return JSON.parse(source);
  } catch {
    throw new Fault(
      'QUERY_INVALID',
      'The query is not valid JSON.',
      'Write it like {"kind": "count", "by": ["party"]}, or put it in a file and use @file.json.',
    );
  }
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault(
      'DATA_NOT_FOUND',
      `The file ${file} cannot be read.`,
      'Check the path; it is taken relative to where you run fugu.',
    );
  }
}
