import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { writeNew } from '../../base/files/write-file.js';
import { accessSync, constants, statSync } from '../../base/platform/files.js';
import { dirname, join, relative, resolve, sep } from '../../base/platform/paths.js';
import { readCodebook } from '../../data/codebook/codebook.js';
import { columnLines, type DraftResult, policyDraft as draftFrom, type Found, findColumns } from '../../data/draft/draft.js';
import { type ColumnSummary, hasDecimalCommas } from '../../data/draft/guess.js';
import { keysIn } from '../../data/draft/own-by-key.js';
import { type DraftedTable, draftTable, type SideFile, sideFileLines } from '../../data/draft/side-tables.js';
import { guessEncoding } from '../../data/engine/csv/encoding.js';
import { fileState } from '../../data/engine/data-file.js';
import { describeColumns, describeOwn, describePanels } from '../../data/engine/describe.js';
import type { Engine } from '../../data/engine/engine.js';
import { decoderOf, isUtf8Name } from '../../data/statfile/decode.js';
import { hasDictionary, unreadOf } from '../../data/statfile/statfile.js';
import { openEngine } from '../../data/terms/open.js';
import { parsePolicy } from '../../data/terms/read.js';
import { isDatabase } from '../../policy/address.js';
import { chooseNames, isPattern } from '../../policy/name-pattern.js';
import { canonicalPath } from '../../policy/population.js';
import { didYouMean } from '../../policy/suggest.js';
import { budgetElsewhere } from '../../release/session/data-claims.js';
import { type FileName, fileNamed, parseOptions, progressShape, withFaults } from './input.js';
import { withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';
import { readAsSteward } from './steward-read.js';

export type { Found, FoundColumn } from '../../data/draft/draft.js';

/** Dependence between records: none, groups that share a value, or undecided. */
export const dependence = z.union([
  z.enum(['none', 'undecided']),
  z.strictObject({
    by: field(z.string().min(1), 'Rows with the same value of this column are tied.'),
    oddsRatio: field(
      z
        .string()
        .regex(/^(inf|\d+(\.\d+)?)$/, 'a number of at least 1, or inf')
        .optional(),
      'Odds ratio of the tie: 1 strangers, 4 alike, 81 two agree nine times in ten, "inf" copies (when absent).',
    ),
  }),
]);

const amountText = z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'a number');
const answerFields = {
  columns: field(z.array(z.string().min(1)).optional(), 'Names and patterns (`q*`) of the columns to keep; all when absent.'),
  except: field(z.array(z.string().min(1)).optional(), 'Names and patterns of columns to leave out.'),
  dependence: field(
    dependence.optional(),
    'Dependence between records. Drafted as `undecided`, which blocks every plan and release, unless it is given.',
  ),
  person: field(
    z.strictObject({ unit: z.string().min(1), maxRows: z.number().int().min(1).max(1_000_000).optional() }).optional(),
    'For several rows per person: the column of the person, and the most rows used (the most anybody has, when absent).',
  ),
  secret: field(
    z.literal('row').optional(),
    'Each row is a privacy unit, even where a person seems to have several. When absent, rows of one person are protected together.',
  ),
  missing: field(z.array(z.string()).optional(), 'Codes that mean "no answer", in every column; guessed when absent.'),
  budget: field(
    z
      .union([
        z.strictObject({ epsilon: amountText }),
        z.strictObject({ belief: z.strictObject({ prior: amountText, posterior: amountText }) }),
      ])
      .optional(),
    'Privacy budget of one privacy unit over all releases: an epsilon, or a highest posterior; epsilon 1 when absent.',
  ),
  noWeights: field(z.array(z.string().min(1)).optional(), 'Columns that look like survey weights and are not.'),
};
const answers = defineRequest('DraftAnswers', answerFields);
/** Answers of the user about their data. */
export type DraftAnswers = z.input<typeof answers>;

const options = defineRequest('DraftOptions', {
  ...answerFields,
  interview: field(
    z
      .custom<(found: Found, stated: DraftAnswers) => DraftAnswers | Promise<DraftAnswers>>(
        (x) => typeof x === 'function',
        'expected a function',
      )
      .optional(),
    'Interview for missing answers after the data was examined; the findings are for the steward only.',
  ),
  codebook: field(
    z.string().min(1).optional(),
    'CSV with the columns name,value,label[,missing], a survey file, or a DDI codebook (.xml). A survey file is its own codebook unless one is named.',
  ),
  table: field(z.string().min(1).optional(), 'The table of a duckdb file, the sheet of a workbook.'),
  encoding: field(z.string().min(1).optional(), 'Encoding of a CSV (windows-1252, iso-8859-15, utf-16 …); detected when absent.'),
  order: field(
    z.record(z.string(), z.array(z.string())).optional(),
    'Order of answers by column, as of a factor or a categorical. It adds no value that the draft does not list.',
  ),
  tables: field(
    z.array(z.string().min(1)).optional(),
    'Further files: rows about the same persons, or public facts. They are drafted as comments; the steward decides whose rows they are.',
  ),
  out: field(z.string().min(1).default('policy.yaml'), 'Path of the policy to write; an existing file is never overwritten.'),
  progress: progressShape.optional(),
});
export type DraftOptions = z.input<typeof options>;

export interface DraftedPolicy extends DraftResult {
  /** Path of the written policy. */
  readonly policy: string;
  /** Possible misreadings (sheets that were not read, letters that are no UTF-8), and a notice if the data has a budget already. */
  readonly doubts: readonly string[];
  /** Guessed roles of the further files. The policy holds them as comments, without effect. */
  readonly tables?: readonly DraftedTable[];
}

/**
 * Drafts a policy for a csv, parquet, duckdb or survey file (.sav, .dta, .xpt, .xlsx) and writes it. Domains and bounds are read
 * from the data and marked: confirm them before releasing.
 *
 * @example
 * const { policy, unconfirmed } = await draftPolicy('survey.csv', { out: 'drafted.yaml' });
 * await confirmPolicy(policy, { columns: unconfirmed });
 */
export async function draftPolicy(data: FileName, given?: DraftOptions): Promise<DraftedPolicy> {
  return withFaults(async () => {
    const { codebook, table, tables, encoding, order, out, progress, interview, ...first } = parseOptions(options, given);
    const file = canonicalPath(resolve(out));
    const called = fileNamed(data, 'The data');
    const remote = isDatabase(called);
    const source = remote ? called : resolve(called);
    const { book, path: codebookPath } = await codebookOf(source, codebook);
    const written = remote ? undefined : await detectEncoding(source, encoding);
    const engine = await openEngine({
      source,
      ...(table !== undefined && { table }),
      ...(written !== undefined && { encoding: written }),
    });
    const draft = await withClosing(engine, async () => {
      const fromPolicy = (path: string) => (isDatabase(path) ? path : relative(dirname(file), path).split(sep).join('/'));
      const folder = dirname(canonicalPath(source));
      const { columns, commas, panels } = await describeData(engine, source, progress);
      const known = columns.map(({ name }) => name);
      for (const name of Object.keys(order ?? {})) requireColumn(name, known);
      const resolved = interview ? parseOptions(answers, await interview(findColumns(columns, panels, book), first)) : first;
      const group = typeof resolved.dependence === 'object' ? resolved.dependence.by : undefined;
      const keys = keysIn(columns, panels, { unit: resolved.person?.unit, group });
      const own = await readAsSteward('init', engine, (rows) => describeOwn(rows, columns, keys));
      const sideFiles = await Promise.all((tables ?? []).map((name) => readSideFile(resolve(name), fromPolicy)));
      const named = sideFiles.map((file) => draftTable(file, columns, resolved.person?.unit ?? panels[0]?.unit));
      const drafted = draftFrom(own, {
        ...draftChoices(resolved, known),
        ...(sideFiles.length > 0 && { sideTables: sideFileLines(sideFiles, named, columns) }),
        panels,
        ...(order && { order: new Map(Object.entries(order)) }),
        source: fromPolicy(source),
        ...(table !== undefined && { table }),
        ...(commas && { decimal: ',' as const }),
        ...(written !== undefined && { encoding: written }),
        ...(codebookPath !== undefined && { codebookPath: fromPolicy(codebookPath), codebook: book! }),
        ...((remote || !canWrite(folder)) && { ledger: join(dirname(file), '.fugu', 'ledger.db') }),
      });
      refuseEmpty(own, drafted.declared, source);
      const unread = remote ? undefined : await unreadOf(source, table === undefined ? {} : { table });
      return {
        ...drafted,
        ...(named.length > 0 && { tables: named }),
        doubts: [
          ...(unread ? sheetDoubts(unread, table) : []),
          ...(written !== undefined && encoding === undefined ? [encodingDoubt(written, own)] : []),
          ...headerDoubts(own),
          ...letterDoubts(own),
        ],
      };
    });
    const known = await budgetElsewhere(await parsePolicy(draft.text, file));
    if (!writeNew(file, draft.text, { hint: 'Choose another place with --out.' }))
      throw new Fault('USAGE', `${out} exists already.`, 'Choose another name with --out, or move it away.');
    return { policy: file, ...draft, doubts: [...draft.doubts, ...known] };
  });
}

/** Codebook that is named, or the survey file's own; a survey file without labels is none. */
async function codebookOf(source: string, given: string | undefined) {
  const named = given === undefined ? undefined : resolve(given);
  const file = named ?? (hasDictionary(source) ? source : undefined);
  const book = file === undefined ? undefined : await readCodebook(file);
  return { book, path: named ?? (book?.size ? file : undefined) };
}

/** Columns of the data and its panels; numbers are read again with decimal commas where they seem to have them. */
function describeData(engine: Engine, source: string, progress: DraftOptions['progress']) {
  return readAsSteward('init', engine, async (rows) => {
    refuseNamelessData(
      (await rows.columns()).map((c) => c.name),
      source,
    );
    const pointed = await describeColumns(rows, progress);
    const commas = hasDecimalCommas(pointed);
    const columns = commas ? await describeColumns(rows, progress, ',') : pointed;
    return { columns, commas, panels: await describePanels(rows, columns) };
  });
}

async function readSideFile(source: string, fromPolicy: (path: string) => string): Promise<SideFile> {
  if (isDatabase(source))
    throw new Fault('USAGE', 'Files are drafted beside a file.', 'Tables of a database are written into the policy: tables: {visits: {table: schema.visits, …}}.'); // biome-ignore format: one line
  const written = await detectEncoding(source, undefined);
  const engine = await openEngine({ source, ...(written !== undefined && { encoding: written }) });
  const columns = await withClosing(engine, () => readAsSteward('init', engine, (rows) => describeColumns(rows)));
  const lines = (except: ReadonlySet<string>) =>
    columnLines(columns, new Set(columns.map(({ name }) => name).filter((name) => !except.has(name))));
  return { source: fromPolicy(source), columns, lines };
}

function requireColumn(name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw new Fault('COLUMN_UNKNOWN', `The data has no column "${name}".`, didYouMean(name, known, 'Columns of the data'));
}

/** User's answers in the form that the draft takes; every named column must exist. */
function draftChoices(
  { columns, except, dependence, person, secret, missing, noWeights, budget }: DraftAnswers,
  known: readonly string[],
) {
  for (const name of [typeof dependence === 'object' ? dependence.by : undefined, person?.unit, ...(noWeights ?? [])])
    if (name !== undefined) requireColumn(name, known);
  if (secret && person)
    throw new Fault('USAGE', 'The secret is a row, or a person: not both.', 'Say "secret", or "person" with its unit.');
  const chosen = new Set(chooseNames(known, { ...(columns && { columns }), ...(except && { except }) }, 'Columns of the data'));
  return {
    chosen,
    known: {
      wanted: new Set((columns ?? []).filter((name) => !isPattern(name))),
      ...(missing && { missing: new Set(missing) }),
      ...(noWeights && { noWeights: new Set(noWeights) }),
    },
    ...(dependence !== undefined && {
      dependence:
        typeof dependence === 'string'
          ? dependence
          : { by: dependence.by, ...(dependence.oddsRatio !== undefined && { oddsRatio: dependence.oddsRatio }) },
    }),
    ...(person && { person: { unit: person.unit, ...(person.maxRows !== undefined && { maxRows: person.maxRows }) } }),
    ...(secret && { secret }),
    ...(budget && { budget }),
  };
}

const listed = (names: readonly string[]): string =>
  names.length > mostNamed ? `${names.slice(0, mostNamed).join(', ')} and others` : names.join(', ');
const mostNamed = 5;

const sheetDoubts = (
  { sheets, beyond, nameless }: Awaited<ReturnType<typeof unreadOf>>,
  table: string | undefined,
): readonly string[] => [
  ...(table === undefined && sheets.length > 0
    ? [`Only the first sheet was read. There is also ${listed(sheets)}: --table names one.`]
    : []),
  ...(nameless > 1
    ? [
        `${nameless} columns have no name in the first row of the sheet. If it is a title, or the columns are named in several rows, write one name above each column in one row, delete the others, and draft again.`,
      ]
    : []),
  ...(beyond
    ? [
        'Most rows of the sheet go on beyond the first one, and what is there was not read. If that is a title, delete it: the first row names the columns.',
      ]
    : []),
];

/** Encoding of a file; undefined for UTF-8, and for files that declare it themselves. */
async function detectEncoding(source: string, stated: string | undefined): Promise<string | undefined> {
  const { kind } = await fileState(source);
  if (stated === undefined) return kind === 'csv' ? guessEncoding(source) : undefined;
  if (kind !== 'csv') throw new Fault('USAGE', 'Only a csv file has an encoding to be said.', 'Leave the encoding out.');
  if (decoderOf(stated) === undefined)
    throw new Fault(
      'USAGE',
      'The encoding is not known.',
      'Write for example windows-1252, iso-8859-15, windows-1251, macintosh or utf-16.',
    );
  return isUtf8Name(stated) ? undefined : stated;
}

function encodingDoubt(assumed: string, columns: readonly ColumnSummary[]): string {
  const stated = `The data is not written in UTF-8. It was read as ${assumed}, and the policy says so;`;
  const again = 'draft again with --encoding';
  return isOtherAlphabet(columns.flatMap(({ name, codes = [] }) => [name, ...codes]))
    ? `${stated} but most of its words have no letter from A to Z, as when another alphabet is read so: ${again} windows-1251 (Cyrillic), windows-1253 (Greek), windows-1255 (Hebrew) or windows-1256 (Arabic).`
    : `${stated} if letters are wrong, ${again} and another name (windows-1250, windows-1251, iso-8859-15, macintosh).`;
}

/** True for words without letters from A to Z: western texts mix accented and plain letters, other alphabets do not. */
function isOtherAlphabet(texts: readonly string[]): boolean {
  const words = texts.flatMap((text) => text.match(/[\p{L}\p{M}]{3,}/gu) ?? []).filter((word) => /\P{ASCII}/u.test(word));
  return words.length > 1 && 2 * words.filter((word) => !/[A-Za-z]/.test(word)).length > words.length;
}

/** Rows of question texts below the column names, as some survey programs write them, would count as answers. */
function headerDoubts(columns: readonly ColumnSummary[]): readonly string[] {
  const numbers = columns.filter((c) => c.filled >= 20 && c.numbers >= 0.9 * c.filled);
  const headed = numbers.filter((c) => c.filled - c.numbers === 1 || c.filled - c.numbers === 2);
  if (headed.length < 2 || 2 * headed.length < numbers.length) return [];
  return [
    `${headed.length} columns hold numbers but for one row or two. If the columns are named in several lines, or questions stand below their names, delete all but one line and draft again: each counts as somebody's answers.`,
  ];
}

/** A lost letter may have made two different answers equal. */
function letterDoubts(columns: readonly ColumnSummary[]): readonly string[] {
  const lost = columns.filter(({ codes = [], options = [] }) => [...codes, ...options].some((code) => code.includes('\ufffd')));
  if (lost.length === 0) return [];
  return [
    `Letters in ${listed(lost.map(({ name }) => name))} are not written in UTF-8 and were lost. Save the data in UTF-8, or say --encoding, and draft again: answers that differ in such a letter count as one.`,
  ];
}

/** A file without a header would show the first person's answers as column names. */
function refuseNamelessData(names: readonly string[], file: string): void {
  const numbers = names.filter((name) => name.trim() !== '' && Number.isFinite(Number(name))).length;
  if (numbers * 3 >= names.length)
    throw new Fault(
      'DATA_MALFORMED',
      'The first line of the data does not look like names of columns.',
      'Add a first line with the names of the columns.',
      {
        place: { file, line: 1 },
      },
    );
}

/** Without rows there is nothing to draft from, unless a dictionary lists the codes. */
function refuseEmpty(columns: readonly ColumnSummary[], declared: number, file: string): void {
  if (declared > 0 || columns.some(({ filled }) => filled > 0)) return;
  throw new Fault(
    'DATA_MALFORMED',
    'The data has names of columns and no values, so no column can be drafted.',
    'Draft from data with rows, or give a --codebook that lists the codes.',
    isDatabase(file) ? {} : { place: { file } },
  );
}

/** Checks the mode as well: the superuser may write anywhere, but a folder marked read-only should stay unchanged. */
function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return (statSync(folder).mode & 0o222) !== 0;
  } catch {
    return false;
  }
}
