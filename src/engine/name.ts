import { Fault } from '../errors.js';
import type { Engine, SourceColumn } from './engine.js';

/**
 * Whom a cell is about: a person, a group, an end of a tie. A name is a text, the same for every spelling and every stored type (docs/policy.md, "Names").
 * Whoever asks "is this the same one?" compares names and nothing else: the cut to maxRows, records, groups, sequences, ties, relations, rows left out.
 * In doubt two spellings are one name: their owners are then protected as one, which is more; one owner with two names would be protected as half. See name.proof.md.
 */

/** What shows nothing at the ends of a text: spaces, control characters (Unicode Z and Cc), and these. */
const invisible: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfeff, 0xfeff],
];
const blank = (letter: 'u' | 'x'): string => {
  const code = (c: number) => `\\${letter}{${c.toString(16)}}`;
  return `[\\p{Z}\\p{Cc}${invisible.map(([from, to]) => `${code(from)}-${code(to)}`).join('')}]`;
};
const ends = (letter: 'u' | 'x'): string => `^${blank(letter)}+|${blank(letter)}+$`;

/** A plain number, with a point or a comma, without its plus sign and without the zeros that end its fraction. Leading zeros stay: 007 is not 7. */
const [whole, broken] = ['^(?:\\+|(-))?([0-9]+)(?:[.,]0*)?$', '^(?:\\+|(-))?([0-9]+)[.,]([0-9]*[1-9])0*$'];
const negativeZero = '^-0$';

const endsHere = new RegExp(ends('u'), 'gu');
const [wholeHere, brokenHere] = [new RegExp(whole, 'u'), new RegExp(broken, 'u')];

/** The name that a text spells, written in a model file or a query; undefined when it spells none. */
export function nameText(text: string): string | undefined {
  const shown = text.replaceAll('\0', '').normalize('NFC').replace(endsHere, '');
  const plain = shown.replace(wholeHere, '$1$2').replace(brokenHere, '$1$2.$3');
  return plain === '' ? undefined : plain === '-0' ? '0' : plain;
}

/** The name in a cell, as an expression over the cell: text, NULL where there is no name. It cannot fail on data. */
export type NameExpression = (cell: string, type: SourceColumn['type']) => string;

/** The same as `nameText` of what the cell reads; the first two cases are short cuts. nfc_normalize would stop at a NUL. */
const textInDuckdb = (cell: string): string => {
  const shown = `regexp_replace(nfc_normalize(replace(${cell}, chr(0), '')), '${ends('x')}', '', 'g')`;
  const numbered = `regexp_replace(regexp_replace(${shown}, '${whole}', '\\1\\2'), '${broken}', '\\1\\2.\\3')`;
  const plain = `regexp_replace(${numbered}, '${negativeZero}', '0')`;
  return `CASE WHEN regexp_full_match(${cell}, '[!-*/-~](?:[ -+\\-/-~]*[!-+\\-/-~])?') THEN ${cell} WHEN regexp_full_match(${cell}, '[0-9]+\\.0*') THEN split_part(${cell}, '.', 1) ELSE nullif(${plain}, '') END`;
};

const duckdb: NameExpression = (cell, type) => {
  if (type === 'integer' || type === 'boolean') return `CAST(${cell} AS VARCHAR)`;
  if (type !== 'real') return textInDuckdb(`CAST(${cell} AS VARCHAR)`);
  const integer = `CAST(TRY_CAST(${cell} AS HUGEINT) AS VARCHAR)`;
  return `CASE WHEN isnan(${cell}) THEN NULL WHEN ${cell} = trunc(${cell}) THEN coalesce(${integer}, CAST(${cell} AS VARCHAR)) ELSE CAST(${cell} AS VARCHAR) END`;
};

const dialects: Readonly<Partial<Record<Engine['dialect'], NameExpression>>> = { duckdb };

/** How names are read from the cells of a database. */
export function nameReader(dialect: Engine['dialect']): NameExpression {
  const found = dialects[dialect];
  if (found) return found;
  throw new Fault('QUERY_UNSUPPORTED', `Names cannot yet be read from ${dialect}.`, 'Use a CSV, Parquet or DuckDB file.');
}
