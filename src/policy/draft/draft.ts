import type { Codebook } from '../codebook/codebook.js';
import { type ColumnSummary, type Guess, guess } from './guess.js';

export interface DraftOptions {
  /** As written into the policy: relative to it. */
  readonly source: string;
  readonly table?: string;
  readonly codebookPath?: string;
  readonly codebook?: Codebook;
  /** Written out when the default place, beside the data, cannot be used. */
  readonly ledger?: string;
}

export interface Draft {
  readonly text: string;
  readonly declared: number;
  readonly unconfirmed: readonly string[];
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
}

const householdName = /household|^hh|_hh|hhid|family|serialno|pedigree|ward$|ward_|school|class_?id|couple/i;

/** A policy for this data, with comments, ready to be looked at. Domains that were read from the data are listed as unconfirmed. */
export function draftPolicy(columns: readonly ColumnSummary[], options: DraftOptions): Draft {
  const book = options.codebook ?? new Map();
  const known = new Set(columns.map((c) => c.name));
  // A codebook that speaks of columns the data lacks cannot be referred to; what it says is written out instead.
  const refer = options.codebookPath !== undefined && [...book.keys()].every((name) => known.has(name));
  const lines: string[] = [];
  const unconfirmed: string[] = [];
  const leftOut: { name: string; why: string }[] = [];
  let declared = 0;
  for (const column of columns) {
    const entry = book.get(column.name);
    const told = guess(column);
    const isNumber = told.type === 'integer' || told.type === 'number' || told.type === 'weight';
    if (entry && entry.values.length > 0 && !(isNumber && entry.values.length < column.distinct / 2)) {
      declared++;
      if (!refer)
        lines.push(
          line(column.name, [
            'type: category',
            `values: {${entry.values.map((v: string) => `${scalar(v)}: ${scalar(entry.labels.get(v) ?? v)}`).join(', ')}}`,
            ...(entry.missing.length > 0 ? [`missing: ${list(entry.missing)}`] : []),
            ...(entry.label === undefined ? [] : [`label: ${scalar(entry.label)}`]),
          ]),
        );
      continue;
    }
    if (told.type === 'out') {
      leftOut.push({ name: column.name, why: told.why });
      continue;
    }
    declared++;
    unconfirmed.push(column.name);
    const missing = [...new Set([...(entry?.missing ?? []), ...told.missing])];
    const label = entry?.label === undefined ? [] : [`label: ${scalar(entry.label)}`];
    lines.push(line(column.name, [...shape(told), ...(missing.length > 0 ? [`missing: ${list(missing)}`] : []), ...label]));
  }
  return { text: render(columns, options, refer, lines, unconfirmed, leftOut), declared, unconfirmed, leftOut };
}

const shape = (told: Exclude<Guess, { type: 'out' }>): string[] =>
  told.type === 'category'
    ? ['type: category', `values: ${list(told.values)}`]
    : told.type === 'multi'
      ? ['type: multi', `values: ${list(told.values)}`, `separator: ${JSON.stringify(told.separator)}`]
      : [`type: ${told.type}`, `bounds: [${told.bounds.map(plainNumber).join(', ')}]`];

const plainNumber = (x: number): string => (Math.abs(x) >= 1e21 ? x.toExponential() : String(x));
const scalar = (text: string): string =>
  /^[A-Za-z_][A-Za-z0-9_. /-]*$/.test(text) && !/[ .]$/.test(text)
    ? text
    : /^-?\d+(\.\d+)?$/.test(text)
      ? text
      : JSON.stringify(text);
const list = (codes: readonly string[]): string => `[${codes.map(scalar).join(', ')}]`;
const line = (name: string, parts: readonly string[]): string => `  ${scalar(name)}: {${parts.join(', ')}}`;

function render(
  columns: readonly ColumnSummary[],
  options: DraftOptions,
  refer: boolean,
  lines: readonly string[],
  unconfirmed: readonly string[],
  leftOut: Draft['leftOut'],
): string {
  const groups = columns.filter((c) => householdName.test(c.name) && c.distinct > 1 && c.distinct < c.filled).map((c) => c.name);
  const ids = columns.filter((c) => leftOut.some((o) => o.name === c.name && o.why.startsWith('names'))).map((c) => c.name);
  const repeats = columns.find((c) => ids.includes(c.name) && c.distinct < 0.97 * c.filled);
  const parts = [`source: ${scalar(options.source)}`];
  if (options.table !== undefined) parts.push(`table: ${scalar(options.table)}`);
  if (refer) parts.push(`codebook: ${scalar(options.codebookPath!)}`);
  return [
    '# A draft by fugu init. Read it, change what is wrong, then run: fugu confirm, fugu check.',
    `data: {${parts.join(', ')}}`,
    '',
    '# What one guess of an attacker is about: row (one row is one person), person (all rows of one unit), answer (one cell).',
    repeats
      ? `# Several rows seem to share one ${repeats.name}; if that is a person, protect the person:`
      : '# If one person can have several rows:',
    `# protect: {secret: person, unit: ${scalar(repeats?.name ?? ids[0] ?? 'person_id')}, maxRows: 5}`,
    'protect: {secret: row}',
    '',
    '# How much may be learned about one secret over all releases together. Or by belief:',
    '# budget: {belief: {prior: 0.1, posterior: 0.3}, delta: 1e-6}',
    'budget: {epsilon: 1, delta: 1e-6}',
    '',
    '# Do records know each other? "none" claims that no row says anything about another. If people of one household answer alike, say so:',
    '# dependence:',
    `#   - {kind: groups, by: ${scalar(groups[0] ?? 'household_id')}, oddsRatio: 9}`,
    ...(groups.length > 0
      ? [`# The data has ${groups.length === 1 ? 'a column that looks' : 'columns that look'} like groups: ${groups.join(', ')}.`]
      : []),
    'dependence: none',
    '',
    ...(options.ledger === undefined
      ? []
      : [
          '# The folder of the data cannot be written to, so spending is recorded here. Keep one ledger for these people.',
          `ledger: ${scalar(options.ledger)}`,
          '',
        ]),
    ...(lines.length > 0 ? ['columns:', ...lines, ''] : []),
    ...(leftOut.length > 0
      ? [
          '# Left out (add a line above to ask about one):',
          ...wrapComment(leftOut.map(({ name, why }) => `${name} (${why})`)),
          '',
        ]
      : []),
    ...(unconfirmed.length > 0
      ? [
          '# Values and bounds of these columns were read from the data. Bounds and lists should be what is known beforehand, not what the data',
          '# happens to hold. Look at them, then run: fugu confirm. Nothing is released before.',
          `unconfirmed: [${wrap(unconfirmed.map(scalar), '  ')}]`,
          '',
        ]
      : []),
  ].join('\n');
}

function wrap(words: readonly string[], indent: string): string {
  let text = '';
  let width = 14;
  for (const [i, word] of words.entries()) {
    const piece = i < words.length - 1 ? `${word},` : word;
    if (width + piece.length > 120) {
      text += `\n${indent}`;
      width = indent.length;
    } else if (i > 0) text += ' ';
    text += piece;
    width += piece.length + 1;
  }
  return text;
}
const wrapComment = (words: readonly string[]): string[] =>
  wrap(words, '#   ')
    .split('\n')
    .map((text, i) => (i === 0 ? `#   ${text}` : text));
