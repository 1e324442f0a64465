import { codeText } from '../../policy/code.js';
import type { Codebook, CodebookEntry } from '../../policy/codebook.js';
import {
  isDesignLabel,
  isDeviceName,
  isGroupLabel,
  isPersonalName,
  isTimingName,
  isWeightLabel,
} from '../../policy/column-name.js';
import { birthDatesIn } from './birth.js';
import { type FoundGroups, foundGroups } from './groups.js';
import {
  bodiesIn,
  type ColumnSummary,
  coordinatesIn,
  type DraftKnowledge,
  type Guess,
  guess,
  hasCommas,
  type LeftOutReason,
} from './guess.js';
import { labelsMissing } from './missing-word.js';
import type { FoundPanel } from './panel.js';
import { namesPeople, peopleIn, personalKind } from './personal.js';
import { categoryLine, codesLine, columnLine, guessFields, renderPolicy, unlistedLine } from './policy-text.js';

export interface PolicyDraftOptions {
  /** As written into the policy: relative to it. */
  readonly source: string;
  readonly table?: string;
  /** Numbers are written with commas. */
  readonly decimal?: ',';
  /** Encoding of the data, if not UTF-8. */
  readonly encoding?: string;
  readonly codebookPath?: string;
  readonly codebook?: Codebook;
  /** Ledger path, written out if the default next to the data cannot be used. */
  readonly ledger?: string;
  /** The columns to keep; all when absent. */
  readonly chosen?: ReadonlySet<string>;
  readonly known?: DraftKnowledge;
  /** Declared dependence between records; `undecided` by default. */
  readonly dependence?: DraftDependence;
  readonly budget?: DraftBudget;
  /** Order in which the answers of a column are written, if known; unlisted answers come last. */
  readonly order?: ReadonlyMap<string, readonly string[]>;
  readonly panels?: readonly FoundPanel[];
  /**
   * Declared privacy unit: the owner of the rows, or each row as a secret.
   * By default all rows of a person that was found are protected together.
   */
  readonly person?: { readonly unit: string; readonly maxRows?: number };
  readonly secret?: 'row';
  readonly sideTables?: readonly string[];
}

/** Dependence between records as written to the policy: declared by the steward, or undecided. */
export type DraftDependence = 'none' | 'undecided' | { readonly by: string; readonly oddsRatio?: string };

export type DraftBudget =
  | { readonly epsilon: string }
  | { readonly belief: { readonly prior: string; readonly posterior: string } };

export interface DraftResult {
  readonly text: string;
  readonly declared: number;
  readonly unconfirmed: readonly string[];
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
  /** Columns whose values are shared by a few rows each (households, families, classes), the most certain first. */
  readonly groups: readonly FoundGroups[];
  /** True if dependence between records is undecided, which blocks plans and releases. */
  readonly undecided: boolean;
  /** Privacy unit: a row, or all rows of one person, whom `unit` names. */
  readonly protect: DraftProtect;
}

export interface DraftProtect {
  readonly secret: 'row' | 'person';
  /** True if the steward declared it; false if it follows from repeated rows. */
  readonly said: boolean;
  readonly unit?: string;
  /** The time column, if one was found. */
  readonly order?: string;
  readonly maxRows?: number;
}

/** Properties of a column as read from the data, before any decision: for the steward only. */
export interface FoundColumn {
  readonly name: string;
  readonly is: 'question' | 'weight' | LeftOutReason;
  readonly why: string;
  /** Codes that seem to mean "no answer". */
  readonly missing: readonly string[];
}
export interface Found {
  readonly columns: readonly FoundColumn[];
  readonly groups: readonly FoundGroups[];
  /** Columns that name persons with several rows, the most certain first. */
  readonly panels: readonly FoundPanel[];
}

export function findColumns(
  columns: readonly ColumnSummary[],
  panels: readonly FoundPanel[] = [],
  book: Codebook = new Map(),
): Found {
  const known = knownOfAll(columns, book);
  const found = columns.map((column): FoundColumn => {
    const guessed = guessColumn(column, book.get(column.name), known);
    const { name } = column;
    if (guessed.type === 'out' && (known.born?.has(name) || !isListed(book.get(name), column, guessed)))
      return { name, is: guessed.is, why: guessed.why, missing: [] };
    return {
      name,
      is: guessed.type === 'weight' ? 'weight' : 'question',
      why: '',
      missing: 'missing' in guessed ? guessed.missing : [],
    };
  });
  return { columns: found, groups: groupsIn(columns, panels), panels };
}

const knownOfAll = (columns: readonly ColumnSummary[], book: Codebook): DraftKnowledge => ({
  commas: hasCommas(columns),
  coordinates: coordinatesIn(columns),
  born: birthDatesIn(columns, book),
  bodies: bodiesIn(columns),
});

/** A short label that is not a question describes the column, as its name does. */
function guessColumn(column: ColumnSummary, entry: CodebookEntry | undefined, known: DraftKnowledge = {}): Guess {
  const guessed = guess(column, known);
  const label = entry?.label ?? '';
  if (guessed.type === 'out' || label.includes('?') || label.length > mostLabel || known.wanted?.has(column.name)) return guessed;
  if (isPersonalName(label) && column.distinct > mostCodes)
    return { type: 'out', is: 'person', why: 'says who or where somebody is' };
  if (isGroupLabel(label) && column.distinct >= Math.min(10, column.filled / 4))
    return { type: 'out', is: 'group', why: 'names a group of rows' };
  if (isDesignLabel(label)) return { type: 'out', is: 'design', why: 'how the sample was drawn' };
  if (guessed.type === 'number' && isWeightLabel(label) && !known.noWeights?.has(column.name) && column.range![0] >= 0)
    return { type: 'weight', bounds: guessed.bounds, missing: [] };
  if (isDeviceName(label)) return { type: 'out', is: 'device', why: 'about a device, or an address' };
  return isTimingName(label) && column.numbers > column.filled / 2 ? { type: 'out', is: 'timing', why: 'a timing' } : guessed;
}
const [mostLabel, mostCodes] = [40, 12];

/** A person interviewed several times is one person, not a group of people. */
const groupsIn = (columns: readonly ColumnSummary[], panels: readonly FoundPanel[]): readonly FoundGroups[] =>
  columns
    .filter(({ name }) => panels[0]?.unit !== name)
    .flatMap((column) => foundGroups(column) ?? [])
    .sort((a, b) => Number(b.sure) - Number(a.sure));

function protectOf({ panels = [], person, secret }: PolicyDraftOptions): DraftProtect {
  if (secret === 'row') return { secret, said: true };
  const found = panels.find(({ unit }) => person === undefined || unit === person.unit);
  const unit = person?.unit ?? found?.unit;
  if (unit === undefined) return { secret: 'row', said: false };
  const maxRows = person?.maxRows ?? found?.maxRows ?? 5;
  return {
    secret: 'person',
    said: person !== undefined,
    unit,
    maxRows,
    ...(found?.order !== undefined && { order: found.order }),
  };
}

/** Labels that were made from what people wrote (an open question that was recoded as it stood), or that name people. */
function isMadeOfAnswers({ values, labels }: CodebookEntry, { distinct, once, filled }: ColumnSummary): boolean {
  if (values.length <= maxScalePoints) return false;
  const words = values.map((code) => labels.get(code) ?? '').filter((label) => /\p{L}{2}/u.test(label));
  if (2 * words.length < values.length) return false;
  if (namesPeople(words.length, peopleIn(words)) || 2 * words.filter((w) => personalKind(w)).length > words.length) return true;
  return 2 * once >= distinct && 5 * distinct >= filled;
}

/** True if the codebook lists the values of the column, so that none is taken from the data. */
const isListed = (entry: CodebookEntry | undefined, column: ColumnSummary, guessed: Guess): boolean => {
  const isNumber = guessed.type === 'integer' || guessed.type === 'number' || guessed.type === 'weight';
  return entry !== undefined && entry.values.length > 0 && !(isNumber && entry.values.length < column.distinct / 2);
};

/** Moves codes whose label means "no answer" from the answers of the codebook to its missing codes. */
function withMissing(entry: CodebookEntry): CodebookEntry {
  const gone = entry.values.filter((value) => labelsMissing(entry.labels.get(value) ?? ''));
  if (gone.length === 0 || gone.length === entry.values.length) return entry;
  return { ...entry, values: entry.values.filter((value) => !gone.includes(value)), missing: [...entry.missing, ...gone] };
}

/** Values in the data without the codes that the codebook declares missing: no code is both. */
function withoutMissing(guessed: Guess, entry: CodebookEntry | undefined): Guess {
  if (!entry || entry.missing.length === 0 || !('values' in guessed)) return guessed;
  const gone = new Set(entry.missing.map(codeText));
  const values = guessed.values.filter((code) => !gone.has(codeText(code)));
  if (values.length === guessed.values.length) return guessed;
  return values.length > 0 ? { ...guessed, values } : { type: 'out', is: 'empty', why: 'all its codes are declared missing' };
}

const maxScalePoints = 21;

/**
 * "1 = not at all, 7 = very much": where a codebook labels whole numbers and the data has others between them, the answers are the whole scale. A yes of 1 and a
 * no of 5 with nothing between stay two answers.
 */
function scaleOf({ values, missing }: CodebookEntry, { codes }: ColumnSummary): readonly string[] | undefined {
  const points = values.map(Number);
  if (values.length < 2 || !values.every((value) => /^-?\d+$/.test(value))) return undefined;
  const [low, high] = [Math.min(...points), Math.max(...points)];
  // Below zero lie codes for "no answer", unless the scale has as much on either side.
  if (low < 0 && low !== -high) return undefined;
  if (high - low >= maxScalePoints || high - low + 1 === values.length) return undefined;
  if (missing.some((code) => Number(code) > low && Number(code) < high)) return undefined;
  const between = (code: string) => /^-?\d+$/.test(code) && Number(code) > low && Number(code) < high && !values.includes(code);
  if (!codes?.map(codeText).some(between)) return undefined;
  return Array.from({ length: high - low + 1 }, (_, k) => `${low + k}`);
}

function inOrder<G extends Exclude<Guess, { type: 'out' }>>(guessed: G, order: readonly string[] | undefined): G {
  if (!order || !('values' in guessed)) return guessed;
  const places = new Map(order.map((code, k) => [codeText(code), k]));
  const placeOf = (code: string) => places.get(code) ?? order.length;
  return { ...guessed, values: [...guessed.values].sort((a, b) => placeOf(a) - placeOf(b)) };
}

/** Lines that would declare columns, as they were found. */
export const columnLines = (columns: readonly ColumnSummary[], chosen: ReadonlySet<string>): readonly string[] =>
  drafted(columns, { source: '', chosen, secret: 'row' }).lines;

/** A policy for this data, with comments, ready to be looked at. Domains that were read from the data are listed as unconfirmed. */
export const policyDraft = (columns: readonly ColumnSummary[], options: PolicyDraftOptions): DraftResult =>
  drafted(columns, options).draft;

/** A column left out, or the lines that declare it and whether its domain was read from the data. */
type Decision =
  | { readonly why: string; readonly is: LeftOutReason }
  | { readonly lines: readonly string[]; readonly fromData: boolean };

function drafted(
  columns: readonly ColumnSummary[],
  options: PolicyDraftOptions,
): { readonly draft: DraftResult; readonly lines: string[] } {
  const { dependence = 'undecided', panels = [] } = options;
  const protect = protectOf(options);
  const { decide, refer } = decisions(columns, options, protect);
  const lines: string[] = [];
  const unconfirmed: string[] = [];
  const leftOut: { name: string; why: string; is: LeftOutReason }[] = [];
  let declared = 0;
  for (const column of columns) {
    const decision = decide(column);
    if ('why' in decision) {
      leftOut.push({ name: column.name, ...decision });
      continue;
    }
    declared++;
    lines.push(...decision.lines);
    if (decision.fromData) unconfirmed.push(column.name);
  }
  const groups = groupsIn(columns, panels);
  const ids = leftOut.filter(({ is }) => is === 'id').map(({ name }) => name);
  const draft = {
    text: renderPolicy({ options, refer, lines, unconfirmed, leftOut, groups, ids, protect, panels }),
    declared,
    unconfirmed,
    leftOut: leftOut.map(({ name, why }) => ({ name, why })),
    groups,
    undecided: dependence === 'undecided',
    protect,
  };
  return { draft, lines };
}

/** Decides column by column; `refer`: the policy refers to the codebook for what that lists. */
function decisions(columns: readonly ColumnSummary[], options: PolicyDraftOptions, protect: DraftProtect) {
  const { codebook: book = new Map<string, CodebookEntry>(), dependence } = options;
  const summaries = new Map(columns.map((column) => [column.name, column]));
  const { chosen = new Set(summaries.keys()) } = options;
  // Membership of a group defines ties; it is not an answer to a question.
  const key = typeof dependence === 'object' ? dependence.by : undefined;
  const known = knownOfAll(columns, book);
  const isMade = (name: string) =>
    book.has(name) && summaries.has(name) && isMadeOfAnswers(book.get(name)!, summaries.get(name)!);
  const isBorn = (name: string) => known.born?.has(name) && !options.known?.wanted?.has(name);
  const isRequested = (name: string) =>
    summaries.has(name) && chosen.has(name) && name !== key && name !== protect.unit && !isMade(name) && !isBorn(name);
  // A codebook with columns that the data lacks or that are left out cannot be referenced; its content is written out instead.
  const refer = options.codebookPath !== undefined && [...book.keys()].every(isRequested);

  const decide = (column: ColumnSummary): Decision => {
    const { name } = column;
    const listed = book.get(name);
    const entry = listed && withMissing(listed);
    const guessed = withoutMissing(guessColumn(column, entry, { ...options.known, ...known }), entry);
    if (name === key) return { why: 'names a group of rows', is: 'group' };
    if (name === protect.unit) return { why: 'names a person', is: 'id' };
    if (isMade(name)) return { why: 'its labels were made from what people wrote, or name people', is: 'free text' };
    if (!chosen.has(name)) return { why: 'not asked for', is: guessed.type === 'out' ? guessed.is : 'not asked for' };
    if (entry && !isBorn(name)) {
      const scale = scaleOf(entry, column);
      if (scale) return { lines: [categoryLine(name, entry, scale)], fromData: true };
      if (isListed(entry, column, guessed))
        return { lines: refer && entry === listed ? [] : [categoryLine(name, entry, entry.values)], fromData: false };
    }
    if (guessed.type === 'out') return { why: guessed.why, is: guessed.is };
    const missing = [...new Set([...(entry?.missing ?? []), ...guessed.missing])];
    const fields = guessFields(inOrder(guessed, options.order?.get(name)));
    return {
      lines: [
        ...('unlisted' in guessed && guessed.unlisted !== undefined ? [unlistedLine(guessed.unlisted)] : []),
        ...('orBounds' in guessed && guessed.orBounds ? [codesLine(guessed.orBounds)] : []),
        columnLine(name, fields, { missing, label: entry?.label }),
      ],
      fromData: true,
    };
  };
  return { decide, refer };
}
