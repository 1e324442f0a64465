import { thousands } from '../../policy/figures.js';
import { cryptoBits } from '../../privacy/noise/bits.js';
import { visible, visibleLines } from './visible.js';

/** Equal JSON document that shows every character escaped; outside its strings only line breaks need care. */
export const jsonLines = visibleLines;

type Colour = 'bold' | 'dim' | 'good' | 'warn';
const codes: Readonly<Record<Colour, string>> = { bold: '1', dim: '2', good: '32', warn: '33' };

/** Colour marks of this process: a random word, so that no text from elsewhere can contain it. */
interface Brush {
  /** Single line, for names and headings. */
  paint(colour: Colour, text: string): string;
  /** Text for the terminal: line breaks and our own colours kept, other invisible characters escaped. */
  shown(text: string): string;
  /** Number of visible characters. */
  width(text: string): number;
  /** Table cell: our own colours kept, every other invisible character escaped, even a line break. */
  cell(text: string): string;
}

export function brushFor(coloured: boolean): Brush {
  if (!coloured)
    return { paint: (_, text) => visible(text), shown: visibleLines, width: (text) => [...text].length, cell: visible };
  const secret = Array.from({ length: 4 }, () => cryptoBits.word().toString(36)).join('-');
  const mark = (code: string) => `\u001b${secret}:${code};`;
  const pieces = new RegExp(`\u001b${secret}:(\\d+);`);
  const ownMarks = new RegExp(pieces, 'g');
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
    width: (text) => [...text.replace(ownMarks, '')].length,
    cell,
  };
}

/** Brush for the terminal of this process. */
const { paint, shown, width, cell } = brushFor(process.stdout.isTTY === true && process.env.NO_COLOR === undefined);

export { shown };

const painter = (colour: Colour) => (text: string) => paint(colour, text);
export const bold = painter('bold');
export const dim = painter('dim');
export const good = painter('good');
export const warn = painter('warn');

const numeric = /^[-+±<>≤≥~]?\s?[\d.,]+([eE][-+]?\d+)?\s?[%x]?$|^-$|^inf$/;

/** Columns aligned by content: numbers to the right, text to the left. */
export function table(headerTexts: readonly string[], rowTexts: readonly (readonly string[])[]): string {
  const header = headerTexts.map(cell);
  const rows = rowTexts.map((row) => row.map(cell));
  const widths = header.map((h, c) => Math.max(width(h), ...rows.map((r) => width(r[c] ?? ''))));
  const right = header.map(
    (_, c) => rows.length > 0 && rows.every((r) => numeric.test((r[c] ?? '').trim()) || (r[c] ?? '') === ''),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((text, c) => {
        const gap = ' '.repeat(Math.max(0, widths[c]! - width(text)));
        return right[c] ? gap + text : text + gap;
      })
      .join('  ')
      .trimEnd();
  return [
    bold(line(header)),
    dim(
      widths
        .map((w) => '-'.repeat(w))
        .join('  ')
        .trimEnd(),
    ),
    ...rows.map(line),
  ].join('\n');
}

/** A number for people: about four significant digits, thousands separated. */
export function numberText(x: number): string {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1000) return thousands(Math.round(x));
  if (size < 1e-4) return x.toExponential(2);
  return Number(x.toPrecision(4)).toString();
}
