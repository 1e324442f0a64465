import { Fault, type FaultCode, type FaultPlace } from '../errors.js';

/** Limit on input: the quantity, its largest value, and a remedy. */
export interface Limit {
  /** The subject of the sentence: "The SQL text". */
  readonly what: string;
  readonly unit: string;
  readonly most: number;
  readonly stay: string;
  /** LIMIT_EXCEEDED when absent. */
  readonly code?: FaultCode;
}

const mib = 2 ** 20;
const declareLess = 'Declare large tie graphs in the policy (ties, groups, sequence), which has no such limit.';
const splitBatches = 'Ask in several batches; every batch is one ledger entry.';

/**
 * All limits on user input (reasons in docs/explanation/decisions/0014-limits.md); input within them is read in about a second.
 * docs/reference/limits.md is generated from this list.
 */
const table = {
  sqlBytes: { what: 'The SQL text', unit: 'bytes', most: 65_536, stay: 'Ask several smaller queries, or use --query with JSON.' },
  sqlTokens: {
    what: 'The SQL text',
    unit: 'words, numbers and marks',
    most: 2_000,
    stay: 'Ask for less at once; a JSON query takes lists of up to 10,000 values.',
  },
  sqlDepth: { what: 'The SQL text', unit: 'levels of parentheses', most: 64, stay: 'Leave out parentheses that change nothing.' },
  sqlSigns: { what: 'The SQL text', unit: 'operators in a row', most: 8, stay: 'Write one operator between two values.' },
  sqlParts: {
    what: 'The SQL text',
    unit: 'words SELECT, CASE and UNION',
    most: 100,
    stay: 'Ask fewer statements at once, or write long cases as a JSON query.',
  },
  sqlCases: {
    what: 'The SQL text',
    unit: 'words CASE inside one another, or without their END',
    most: 8,
    stay: 'Write one CASE WHEN … THEN … WHEN … THEN … ELSE … END.',
  },
  queryBytes: { what: 'The JSON query', unit: 'bytes', most: 4 * mib, stay: splitBatches },
  jsonDepth: { what: 'The JSON text', unit: 'levels of brackets', most: 64, stay: 'Nothing that Fugu reads is nested as deep.' },
  queries: { what: 'The batch', unit: 'queries', most: 10_000, stay: splitBatches },
  conditions: { what: 'A query', unit: 'conditions', most: 100, stay: 'Join values of one column with IN.' },
  keys: { what: 'A query', unit: 'group keys', most: 8, stay: 'Group by fewer columns: every cell of the table needs noise.' },
  literals: {
    what: 'A list of values',
    unit: 'values',
    most: 10_000,
    stay: 'Use NOT IN for the other values, or bounds for numbers.',
  },
  literalLength: { what: 'A value in a query', unit: 'characters', most: 1_000, stay: 'No declared code is as long.' },
  shares: { what: 'A quantile query', unit: 'shares', most: 100, stay: 'Ask for fewer quantiles.' },
  nameLength: { what: 'A name', unit: 'characters', most: 1_000, stay: 'Use a shorter name.' },
  digits: {
    what: 'A number',
    unit: 'digits',
    most: 1_000,
    stay: 'Write it with fewer digits: seventeen hold everything a computer calculates with.',
  },
  exponent: {
    what: 'A number',
    unit: 'as its power of ten',
    most: 100,
    stay: 'Write 0 or a number between 1e-100 and 1e100: nothing larger or smaller is ever measured, and calculating with it would overflow.',
  },
  workloadTables: {
    what: 'The workload',
    unit: 'tables',
    most: 200_000,
    stay: 'Name fewer columns, or tables of fewer columns each.',
  },
  workloadAxes: {
    what: 'A table of the workload',
    unit: 'columns and levels of columns',
    most: 14,
    stay: 'Ask for fewer columns with levels or ranges in one table.',
  },
  workloadColumns: { what: 'The workload', unit: 'columns', most: 1_000, stay: 'Ask in several workloads.' },
  graphicalCells: {
    what: 'The distribution behind the tables',
    unit: 'cells',
    most: 2 ** 24,
    stay: 'Ask for fewer tables that share columns, for tables of fewer columns, or for coarser bins.',
    code: 'MODEL_TOO_LARGE',
  },
  patternLength: { what: 'The pattern', unit: 'characters', most: 10_000, stay: 'Count smaller patterns, one after the other.' },
  patternGoals: { what: 'The pattern', unit: 'conditions', most: 100, stay: 'Count smaller patterns, one after the other.' },
  patternTerms: { what: 'A list in the pattern', unit: 'terms', most: 64, stay: 'Name fewer variables at once.' },
  privateGoals: {
    what: 'The pattern',
    unit: 'conditions on private relations',
    most: 15,
    stay: 'Count smaller patterns: every set of its conditions is looked at.',
  },
  policyBytes: { what: 'The policy', unit: 'bytes', most: 2 * mib, stay: 'Move the codes into a codebook (data.codebook).' },
  policyEntries: {
    what: 'The policy',
    unit: 'entries',
    most: 150_000,
    stay: 'Move the codes into a codebook (data.codebook), and combinations into a support file.',
  },
  policyDepth: { what: 'The policy', unit: 'levels', most: 16, stay: 'No section of a policy is nested as deep.' },
  policyAliases: { what: 'The policy', unit: 'aliases', most: 100, stay: 'Write the values out.' },
  columns: { what: 'The policy', unit: 'columns', most: 50_000, stay: 'Declare the columns you ask about; split the survey.' },
  categories: {
    what: 'A column',
    unit: 'values',
    most: 100_000,
    stay: 'Declare it as a number with bounds, or group its codes.',
  },
  bins: { what: 'A column', unit: 'bins', most: 10_000, stay: 'Declare wider bins.' },
  relations: { what: 'The policy', unit: 'relations', most: 1_000, stay: 'Declare the relations you ask about.' },
  tables: { what: 'The policy', unit: 'tables', most: 100, stay: 'Declare the tables you ask about.' },
  dependences: { what: 'The policy', unit: 'dependences', most: 1_000, stay: 'Declare one dependence per kind of tie.' },
  beliefs: { what: 'The budget', unit: 'beliefs', most: 1_000, stay: 'Keep the strictest ones.' },
  combinations: {
    what: 'A group of merged columns',
    unit: 'combinations',
    most: 10_000,
    stay: 'Merge fewer columns: a joint table of that size is worse than one table per column.',
    code: 'POLICY_INVALID',
  },
  pairs: {
    what: 'A column',
    unit: 'pairs of values',
    most: 1_000_000,
    stay: 'Declare blocks of codes, or a distance: partition or within.',
  },
  codebookBytes: { what: 'The codebook', unit: 'bytes', most: 16 * mib, stay: 'Keep the columns that the policy speaks of.' },
  dictionaryBytes: {
    what: 'The dictionary of the survey file',
    unit: 'bytes',
    most: 64 * mib,
    stay: 'Keep the variables that are needed, or export the data as CSV with a codebook.',
  },
  workbookBytes: {
    what: 'A list of the workbook, unpacked,',
    unit: 'bytes',
    most: 64 * mib,
    stay: 'Keep the sheet that is needed, or export it as CSV.',
  },
  sheetBytes: {
    what: 'The sheet, unpacked,',
    unit: 'bytes',
    most: 256 * mib,
    stay: 'Keep the columns that are needed, or export it as CSV, which has no such limit.',
  },
  supportBytes: { what: 'The support file', unit: 'bytes', most: 4 * mib, stay: 'Merge fewer columns.' },
  modelBytes: { what: 'The model file', unit: 'bytes', most: 16 * mib, stay: declareLess },
  tableBytes: { what: 'The file', unit: 'bytes', most: 32 * mib, stay: 'Keep the columns and lines that are needed.' },
  unpackedBytes: { what: 'The unpacked file', unit: 'bytes', most: 16 * mib, stay: 'Keep what is needed.' },
  releaseBytes: {
    what: 'A file of the release',
    unit: 'bytes',
    most: 64 * mib,
    stay: 'Give the folder of a release, unchanged.',
  },
  records: { what: 'The model', unit: 'records', most: 100_000, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  values: { what: 'The model', unit: 'values of one record', most: 4_096, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  states: { what: 'The model', unit: 'states', most: 4_096, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  members: { what: 'The model', unit: 'records in one factor', most: 4_096, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  cells: { what: 'The model', unit: 'table cells', most: 2 ** 20, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  allCells: { what: 'The model', unit: 'table cells in all', most: 2 ** 22, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  factors: { what: 'The model', unit: 'factors', most: 1_000_000, stay: declareLess, code: 'MODEL_TOO_LARGE' },
  degrees: { what: 'A relation', unit: 'ties per person to tell apart', most: 1_000_000, stay: 'Ask for a smaller --degree.' },
  numbers: { what: 'A list on the command line', unit: 'numbers', most: 100_000, stay: 'Give fewer numbers.' },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof table;
export const limits: Readonly<Record<LimitName, Limit>> = table;

/** Fault of a limit: its name, the value found, the largest value and a remedy. */
export function exceeded(name: LimitName, size: number, place?: FaultPlace, subject?: string): Fault {
  const { what, unit, most, stay, code = 'LIMIT_EXCEEDED' } = limits[name];
  const found = Number.isFinite(size) ? size.toLocaleString('en') : 'too many';
  return new Fault(code, `${subject ?? what} has ${found} ${unit}; the limit is ${most.toLocaleString('en')}.`, stay, {
    ...(place && { place }),
    details: { limit: most, size: Number.isFinite(size) ? size : 'infinite', limited: name },
  });
}

/** Refuses values above the limit. */
export function within(name: LimitName, size: number, place?: FaultPlace, subject?: string): void {
  if (!(size <= limits[name].most)) throw exceeded(name, size, place, subject);
}

/** The same for a double: 0, or of a magnitude for which arithmetic does not overflow. */
export function withinMagnitude(x: number, subject?: string, place?: FaultPlace): void {
  if (x !== 0) within('exponent', Math.abs(Math.trunc(Math.log10(Math.abs(x)))), place, subject);
}

/** Share of the process's memory that the database gets while ties between records are declared. */
export const databaseShare = 1 / 4;
