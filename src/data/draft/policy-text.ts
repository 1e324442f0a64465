import type { CodebookEntry } from '../../policy/codebook.js';
import type { DraftBudget, DraftDependence, DraftProtect, DraftResult, PolicyDraftOptions } from './draft.js';
import type { FoundGroups } from './groups.js';
import type { Guess } from './guess.js';
import type { FoundPanel } from './panel.js';

export function guessFields(guess: Exclude<Guess, { type: 'out' }>): string[] {
  const type = `type: ${guess.type}`;
  if (guess.type === 'category') return [type, `values: ${yamlList(guess.values)}`];
  if (guess.type === 'multi') return [type, `values: ${yamlList(guess.values)}`, `separator: ${JSON.stringify(guess.separator)}`];
  return [type, `bounds: [${guess.bounds.map((end) => (typeof end === 'string' ? end : plainNumber(end))).join(', ')}]`];
}

const plainNumber = (x: number): string => (Math.abs(x) >= 1e21 ? x.toExponential() : String(x));
export function yamlScalar(text: string): string {
  const isPlain = /^[A-Za-z_][A-Za-z0-9_. /-]*$/.test(text) && !/[ .]$/.test(text);
  return isPlain || /^-?\d+(\.\d+)?$/.test(text) ? text : JSON.stringify(text);
}
const yamlList = (codes: readonly string[]): string => `[${codes.map(yamlScalar).join(', ')}]`;

export function columnLine(
  name: string,
  fields: readonly string[],
  { missing, label }: { readonly missing: readonly string[]; readonly label?: string | undefined },
): string {
  const more = [
    ...(missing.length > 0 ? [`missing: ${yamlList(missing)}`] : []),
    ...(label === undefined ? [] : [`label: ${yamlScalar(label)}`]),
  ];
  return `  ${yamlScalar(name)}: {${[...fields, ...more].join(', ')}}`;
}

/** The same for a category with the labels of its codebook entry. */
export function categoryLine(name: string, entry: CodebookEntry, codes: readonly string[]): string {
  const labelled = codes.map((code) => `${yamlScalar(code)}: ${yamlScalar(entry.labels.get(code) ?? code)}`);
  return columnLine(name, ['type: category', `values: {${labelled.join(', ')}}`], entry);
}

export const unlistedLine = (n: number): string =>
  `  # ${n === 1 ? 'One value' : `${n} values`} that only a few rows hold, or that say who somebody is, ${n === 1 ? 'is not listed and counts as no answer' : 'are not listed and count as no answer'}:`;

export const codesLine = ([low, high]: readonly [number, number]): string =>
  `  # Whole numbers with holes between them: taken for codes. If they measure something: {type: integer, bounds: [${low}, ${high}]}.`;

interface PolicyContent {
  readonly options: PolicyDraftOptions;
  /** The columns of the codebook are declared by naming it. */
  readonly refer: boolean;
  readonly lines: readonly string[];
  readonly unconfirmed: readonly string[];
  readonly leftOut: DraftResult['leftOut'];
  readonly groups: readonly FoundGroups[];
  readonly ids: readonly string[];
  readonly panels: readonly FoundPanel[];
  readonly protect: DraftProtect;
}

const budgetText = (budget: DraftBudget): string =>
  'epsilon' in budget
    ? `epsilon: ${budget.epsilon}`
    : `belief: {prior: ${budget.belief.prior}, posterior: ${budget.belief.posterior}}`;

/** The policy text with comments for its reader. */
export function renderPolicy(content: PolicyContent): string {
  const { options, refer, lines, unconfirmed, leftOut } = content;
  const parts = [`source: ${yamlScalar(options.source)}`];
  if (options.table !== undefined) parts.push(`table: ${yamlScalar(options.table)}`);
  if (options.encoding !== undefined) parts.push(`encoding: ${yamlScalar(options.encoding)}`);
  if (options.decimal) parts.push(`decimal: "${options.decimal}"`);
  if (refer) parts.push(`codebook: ${yamlScalar(options.codebookPath!)}`);
  return [
    '# A draft by fugu init. Read it, change what is wrong, then run: fugu confirm, fugu check.',
    `data: {${parts.join(', ')}}`,
    '',
    ...protectLines(content),
    '',
    '# How much may be learned about one secret over all releases together. Or by belief:',
    '# budget: {belief: {prior: 0.1, posterior: 0.3}, delta: 1e-6}',
    `budget: {${budgetText(options.budget ?? { epsilon: '1' })}, delta: 1e-6}`,
    '',
    ...dependenceLines(content),
    '',
    ...(options.ledger === undefined
      ? []
      : [
          '# The folder of the data cannot be written to, so spending is recorded here. Keep one ledger for these people.',
          `ledger: ${yamlScalar(options.ledger)}`,
          '',
        ]),
    ...(lines.length > 0 ? ['columns:', ...lines, ''] : []),
    ...(options.sideTables ?? []),
    ...(leftOut.length > 0
      ? [
          '# Left out (add a line above to ask about one):',
          ...wrapComment(leftOut.map(({ name, why }) => `${yamlScalar(name)} (${why})`)),
          '',
        ]
      : []),
    ...(unconfirmed.length > 0
      ? [
          '# Values and bounds of these columns were read from the data. Bounds and lists should be what is known beforehand, not what the data',
          '# happens to hold. Look at them, then run: fugu confirm. Nothing is released before.',
          `unconfirmed: [${wrap(unconfirmed.map(yamlScalar), '  ')}]`,
          '',
        ]
      : []),
  ].join('\n');
}

const personLine = (unit: string, maxRows: number): string =>
  `protect: {secret: person, unit: ${yamlScalar(unit)}, maxRows: ${maxRows}}`;

function protectLines({ ids, panels, protect }: PolicyContent): string[] {
  const { secret, said: stated, unit, maxRows, order } = protect;
  const about =
    '# What one guess of an attacker is about: row (one row is one person), person (all rows of one unit), answer (one cell).';
  if (secret === 'person')
    return [
      about,
      ...(stated
        ? []
        : [`# Several rows share one ${yamlScalar(unit!)}: they are taken for one person's and protected together.`]),
      ...(order === undefined ? [] : [`# ${yamlScalar(order)} says when each was written down.`]),
      '# maxRows: so many rows of one person count, the rest is left out. If each row is a secret of its own: protect: {secret: row},',
      order === undefined
        ? `# and say below how rows of one ${yamlScalar(unit!)} go together.`
        : `# with dependence: [{kind: sequence, by: ${yamlScalar(unit!)}, order: ${yamlScalar(order)}, …}] (docs/how-to/time.md).`,
      personLine(unit!, maxRows!),
    ];
  const [panel] = panels;
  return [
    about,
    ...(panel === undefined
      ? ['# If one person can have several rows:']
      : [
          `# Several rows share one ${yamlScalar(panel.unit)}; said when this was drafted: each row is a secret of its own. Otherwise:`,
        ]),
    `# ${personLine(panel?.unit ?? ids[0] ?? anyColumn, panel?.maxRows ?? 5)}`,
    'protect: {secret: row}',
  ];
}

/** In comments, where the data has no column to name. */
const anyColumn = 'COLUMN';

const groupLine = (by: string, oddsRatio: string): string => `{kind: groups, by: ${yamlScalar(by)}, oddsRatio: ${oddsRatio}}`;

/** As it stands behind `dependence:`. */
export const dependenceText = (stated: DraftDependence): string =>
  typeof stated === 'string' ? stated : `[${groupLine(stated.by, stated.oddsRatio ?? 'inf')}]`;

function dependenceLines({ options: { dependence = 'undecided' }, groups }: PolicyContent): string[] {
  const alike =
    '# 1 means strangers, 81 that two of them agree nine times in ten, inf copies, which is safe for every question. Measured: docs/reference/reference-ties.md.';
  if (dependence === 'none') return ['# Said when this was drafted: no row says anything about another.', 'dependence: none'];
  if (dependence !== 'undecided')
    return [
      '# Rows with the same value here know each other: households, families, classes. How alike they are is declared by an odds ratio:',
      alike,
      'dependence:',
      `  - ${groupLine(dependence.by, dependence.oddsRatio ?? 'inf')}`,
    ];
  return [
    '# Do records know each other? Nothing is planned or released before you say so. If people of one household answer alike:',
    `# dependence: [${groupLine(groups[0]?.name ?? anyColumn, 'inf')}]`,
    alike,
    '# Or, if no row says anything about another (everybody was drawn alone, nobody knows anybody else in the file):',
    '# dependence: none',
    ...groups.map(
      ({ name, sure, why, rowsEach }) =>
        `# ${yamlScalar(name)} ${sure ? 'looks' : 'may look'} like groups of about ${rowsEach} rows: ${why}.`,
    ),
    'dependence: undecided',
  ];
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
