import { cryptoBits } from '../noise/bits.js';
import { visible, visibleLines } from './visible.js';

/** JSON that is the same document and shows every character for what it is; outside its strings it has none but line breaks to show. */
export const jsonLines = visibleLines;

export type Colour = 'bold' | 'dim' | 'good' | 'warn';
const codes: Readonly<Record<Colour, string>> = { bold: '1', dim: '2', good: '32', warn: '33' };

/** How this process asks for colour: a word nobody else knows, so that no text from elsewhere can hold it. */
interface Brush {
  /** On one line, as names and headings are. */
  paint(colour: Colour, text: string): string;
  /** As the terminal is to get it: line breaks and our own colours as they are, everything else unseen escaped. */
  shown(text: string): string;
  /** How many characters of it are seen. */
  width(text: string): number;
  /** A cell of a table: our own colours and nothing else unseen, not even a line break. */
  cell(text: string): string;
}

export function brushFor(coloured: boolean): Brush {
  if (!coloured)
    return { paint: (_, text) => visible(text), shown: visibleLines, width: (text) => [...text].length, cell: visible };
  const secret = Array.from({ length: 4 }, () => cryptoBits.word().toString(36)).join('-');
  const mark = (code: string) => `\u001b${secret}:${code};`;
  const pieces = new RegExp(`\u001b${secret}:(\\d+);`);
  /** Odd pieces are the codes of our own marks. */
  const each = (text: string, seen: (piece: string) => string, ours: (code: string) => string): string =>
    text
      .split(pieces)
      .map((piece, k) => (k % 2 === 1 ? ours(piece) : seen(piece)))
      .join('');
  const cell = (text: string) => each(text, visible, mark);
  return {
    paint: (colour, text) => `${mark(codes[colour])}${cell(text)}${mark('0')}`,
    shown: (text) => each(text, visibleLines, (code) => `\u001b[${code}m`),
    width: (text) =>
      [
        ...each(
          text,
          (piece) => piece,
          () => '',
        ),
      ].length,
    cell,
  };
}
