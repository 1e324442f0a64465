import { trimCode, wholeCode } from '../../policy/code.js';
import { type DecimalMark, numberFromText } from '../../policy/number-text.js';
import type { Cell } from './engine.js';

/**
 * Lookup tables from cells of each stored type to declared codes: text by trimmed text, integers and reals
 * by value, so that "1" matches 1 and 1.0. SQL (as bound values) and the streaming count share them.
 */
export interface CodeTables {
  readonly text: ReadonlyMap<string, number>;
  readonly integer: ReadonlyMap<string, number>;
  readonly real: ReadonlyMap<number, number>;
}

const integerText = (code: string): string | undefined => {
  const x = numberFromText(code);
  if (Number.isSafeInteger(x)) return `${x === 0 ? 0 : x}`;
  return /^[+-]?\d+$/.test(code) ? `${BigInt(code.replace('+', ''))}` : undefined;
};

const tables = new WeakMap<readonly string[], CodeTables>();

/** The tables of a list of codes; made once for a list (`codesOf` hands out the same one for a column). */
export function codeTables(codes: readonly string[]): CodeTables {
  const known = tables.get(codes) ?? makeTables(codes);
  tables.set(codes, known);
  return known;
}

function makeTables(codes: readonly string[]): CodeTables {
  const text = new Map<string, number>();
  const integer = new Map<string, number>();
  const real = new Map<number, number>();
  codes.forEach((code, i) => {
    if (!text.has(code)) text.set(code, i);
    const whole = integerText(code);
    if (whole !== undefined && !integer.has(whole)) integer.set(whole, i);
    const number = numberFromText(code);
    if (Number.isFinite(number) && !real.has(number)) real.set(number, i);
  });
  return { text, integer, real };
}

/** Index of the cell's code, -1 when it is none. */
export function codeIndex({ text, integer, real }: CodeTables, cell: Cell): number {
  if (cell === null) return -1;
  if (typeof cell === 'string') return text.get(trimCode(cell)) ?? -1;
  if (typeof cell === 'number') return real.get(cell) ?? -1;
  return (typeof cell === 'bigint' ? integer.get(`${cell}`) : text.get(`${cell}`)) ?? -1;
}

const whole = new RegExp(wholeCode);
/**
 * Index for text as written in a file, as data/engine/duckdb/coded.ts reads it: blanks
 * around a code are ignored, and so are zeros after the decimal mark of a whole number.
 */
export function writtenIndex({ text }: CodeTables, cell: Cell, longest: number): number {
  if (typeof cell !== 'string' || Buffer.byteLength(cell) > longest) return -1;
  const plain = cell.replace(/^\p{Zs}+|\p{Zs}+$/gu, '').replace(whole, '$1');
  return text.get(cell) ?? text.get(trimCode(plain)) ?? -1;
}

/** Reals that are no plain integers name no option. */
export const plainReal = 1e15;
/** Text of a multi-select cell, up to `longest` letters. */
export function optionText(cell: Cell, longest: number): string | undefined {
  if (cell === null) return undefined;
  if (typeof cell === 'string') return hasMore(cell, longest) ? undefined : cell;
  if (typeof cell === 'number')
    return Number.isInteger(cell) && Math.abs(cell) < plainReal ? `${cell === 0 ? 0 : cell}` : undefined;
  return `${cell}`;
}

/** Letters as databases count them: a pair of surrogates is one. */
const hasMore = (text: string, letters: number): boolean =>
  text.length > letters && (text.length > 2 * letters || [...text].length > letters);

/** Number in a cell; NaN if there is none. `mark`: decimal mark of a text. */
export function numberOf(cell: Cell, mark?: DecimalMark): number {
  if (cell === null) return Number.NaN;
  return typeof cell === 'string' ? numberFromText(cell, mark) : Number(cell);
}
