import type { Fault } from '../base/errors.js';
import { compare, divide, one, type Rational, rational, subtract } from '../base/exact/rational.js';
import { evenEdges } from './bins.js';
import { codeText } from './code.js';
import type { Codebook, CodebookEntry } from './codebook.js';
import { daysOf } from './date-text.js';
import type { Column, NumberColumn, WeightColumn } from './policy.js';
import { declarePools } from './pools.js';
import { invalid } from './problems.js';
import type { ColumnEntry } from './schema.js';
import type { YamlFile } from './yaml-file.js';

/** A fault at a place within the entry of a column. */
type FaultAt = (at: readonly (string | number)[], message: string, hint: string) => Fault;
/** Entry of a column, what the codebook says of it, and the decimal mark of the data. */
export interface ColumnDeclaration<E extends ColumnEntry = ColumnEntry> {
  readonly name: string;
  readonly entry: E;
  readonly book: CodebookEntry | undefined;
  readonly decimal: ',' | undefined;
  readonly wrong: FaultAt;
}
export type ColumnEntryOf<T extends ColumnEntry['type']> = Extract<ColumnEntry, { type: T }>;
type NumericEntry = ColumnEntryOf<'integer' | 'number' | 'weight' | 'date'>;

/** Declared columns: those of the policy, then the codebook's, each in file order; the policy wins over the codebook. */
export function declareColumns(
  entries: Readonly<Record<string, ColumnEntry>>,
  codebook: Codebook,
  yaml: YamlFile,
  decimal?: ',',
): ReadonlyMap<string, Column> {
  const columns = new Map<string, Column>();
  for (const [name, entry] of Object.entries(entries)) {
    const wrong: FaultAt = (at, message, hint) => invalid(yaml, ['columns', name, ...at], message, hint);
    columns.set(name, declare({ name, entry, book: codebook.get(name), decimal, wrong }));
  }
  for (const [name, { label, values, labels, missing }] of codebook)
    if (!columns.has(name) && values.length > 0)
      columns.set(name, { type: 'category', name, values, labels, missing, ...(label !== undefined && { label }) });
  return columns;
}

function declare(column: ColumnDeclaration): Column {
  const { name, entry, book, wrong } = column;
  const label = entry.label ?? book?.label;
  const missing = entry.missing ?? book?.missing ?? [];
  refuseRepeats(missing, 'missing code', ['missing'], wrong);
  const base = {
    name,
    missing,
    ...(label !== undefined && { label }),
    ...(entry.public !== undefined && { public: entry.public }),
  };
  if (entry.type === 'category') {
    const listed = codesOf({ ...column, entry }, missing);
    const pool = entry.pool && Number(entry.pool.num) / Number(entry.pool.den);
    const pools = declarePools({ ...column, entry }, listed.values, pool);
    return {
      ...base,
      type: 'category',
      ...listed,
      ...(pool !== undefined && { pool }),
      ...(pools.length > 0 && { pools }),
    };
  }
  if (entry.type === 'multi') {
    const separator = entry.separator ?? ';';
    const listed = codesOf({ ...column, entry }, missing);
    if (listed.values.some((v) => v.includes(separator)))
      throw wrong([], `An option of "${name}" holds its own separator.`, 'Declare another separator: the one the cells use.');
    return { ...base, type: 'multi', ...listed, separator };
  }
  return declareNumber({ ...column, entry }, base);
}

function declareNumber(
  { name, entry, decimal, wrong }: ColumnDeclaration<NumericEntry>,
  base: Pick<NumberColumn, 'name' | 'missing' | 'label' | 'public'>,
): NumberColumn | WeightColumn {
  const { bounds, step } = range(name, entry, wrong);
  if (entry.type === 'weight') {
    if (bounds[0].num < 0n) throw wrong(['bounds'], `The weight "${name}" may not be negative.`, 'Weights start at 0 or above.');
    return { ...base, type: 'weight', bounds, step, ...(decimal && { decimal }) };
  }
  const bins = entry.bins === undefined ? {} : { bins: binEdges(name, entry, { bounds, step }, wrong) };
  if (entry.type !== 'date') return { ...base, type: entry.type, bounds, step, ...(decimal && { decimal }), ...bins };
  // Days that mean "no answer" are counted as all days are.
  const missing = base.missing.map((code) => `${daysOf(code) ?? code}`);
  return { ...base, missing, type: 'integer', date: true, bounds, step, ...bins };
}

function codesOf(
  { name, entry, book, wrong }: ColumnDeclaration<ColumnEntryOf<'category' | 'multi'>>,
  missing: readonly string[],
) {
  const listed = Array.isArray(entry.values);
  const values = listed ? (entry.values as string[]) : Object.keys(entry.values).map(codeText);
  const labels = new Map(book?.labels ?? []);
  if (!listed)
    for (const [code, label] of Object.entries(entry.values as Record<string, string>)) labels.set(codeText(code), label);
  const at = ['values'];
  if (values.length === 0)
    throw wrong(at, `The column "${name}" has no values.`, 'List every code it may hold, such as values: [1, 2, 3].');
  refuseRepeats(values, 'value', at, wrong);
  const notAnswers = new Set(missing);
  const both = values.find((v) => notAnswers.has(v));
  if (both !== undefined)
    throw wrong(at, `The code "${both}" of "${name}" is both a value and missing.`, 'A code is one or the other.');
  if (values.includes('')) throw wrong(at, `A value of "${name}" is empty.`, 'Empty cells count as missing by themselves.');
  return { values, labels };
}

function refuseRepeats(codes: readonly string[], what: string, path: readonly string[], wrong: FaultAt): void {
  const seen = new Set<string>();
  const at = codes.findIndex((c) => seen.size === seen.add(c).size);
  if (at >= 0)
    throw wrong(
      [...path, at],
      `The ${what} "${codes[at]}" is listed twice.`,
      '1 and 1.0 are the same code; list each code once.',
    );
}

/** At most 2^31 steps between the bounds, so that sums of squares times weights over 2^33 rows stay inside 128 bits. */
const mostSteps = rational(1n << 31n);

function range(name: string, entry: NumericEntry, wrong: FaultAt) {
  const [low, high] = entry.bounds;
  const path = ['bounds'];
  if (compare(low, high) >= 0)
    throw wrong(
      path,
      compare(low, high) > 0 ? `The bounds of "${name}" are reversed.` : `The bounds of "${name}" leave no room.`,
      entry.type === 'date' ? 'Write the earlier day first.' : 'Write the smaller number first: bounds: [0, 100].',
    );
  const whole = entry.type === 'integer' || entry.type === 'date';
  if (whole && (low.den !== 1n || high.den !== 1n))
    throw wrong(path, `The bounds of the integer "${name}" are not whole numbers.`, 'Use type: number for fractions.');
  const written = 'step' in entry ? entry.step : undefined;
  const step = written ?? (whole ? one : defaultStep(low, high));
  const stepPath = written ? ['step'] : path;
  if (step.num <= 0n) throw wrong(stepPath, `The step of "${name}" must be above 0.`, 'Values are rounded to multiples of it.');
  if (whole && step.den !== 1n) throw wrong(stepPath, `The step of the integer "${name}" is not whole.`, 'Use type: number.');
  const steps = divide(subtract(high, low), step);
  if (steps.den !== 1n)
    throw wrong(
      stepPath,
      `The step of "${name}" does not divide its bounds.`,
      'Upper minus lower bound must be a multiple of the step.',
    );
  if (compare(steps, mostSteps) > 0)
    throw wrong(
      stepPath,
      `The bounds of "${name}" are too far apart for its step.`,
      'Declare a larger step; 2^31 steps is the limit.',
    );
  return { bounds: [low, high] as const, step };
}

/** Power of ten that divides the bounds into at least 10,000 steps; for bounds that are not decimals, a fraction of the range. */
function defaultStep(low: Rational, high: Rational): Rational {
  const width = subtract(high, low);
  let step = one;
  for (let digits = 0; digits <= 40; digits++) {
    const divides = [low, high].every((x) => divide(x, step).den === 1n);
    if (divides && compare(divide(width, step), rational(10000)) >= 0) return step;
    step = divide(step, rational(10));
  }
  return divide(width, rational(16384));
}

function binEdges(
  name: string,
  entry: Exclude<NumericEntry, { type: 'weight' }>,
  { bounds: [low, high], step }: Pick<NumberColumn, 'bounds' | 'step'>,
  wrong: FaultAt,
): readonly Rational[] {
  const path = ['bins'];
  if (!Array.isArray(entry.bins)) {
    const text = String(entry.bins).trim();
    const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    if (count < 1)
      throw wrong(path, `The bins of "${name}" are not understood.`, 'Write bins: 10, or the inner edges: bins: [30, 45, 65].');
    return evenEdges({ type: entry.type === 'number' ? 'number' : 'integer', bounds: [low, high], step }, count);
  }
  const edges = entry.bins;
  for (const [i, edge] of edges.entries()) {
    if (compare(edge, low) <= 0 || compare(edge, high) >= 0)
      throw wrong(
        [...path, i],
        `A bin edge of "${name}" lies outside its bounds.`,
        'Edges are inner edges: strictly between the bounds.',
      );
    if (i > 0 && compare(edges[i - 1]!, edge) >= 0)
      throw wrong([...path, i], `The bin edges of "${name}" do not rise.`, 'Write them from small to large, each once.');
  }
  return edges;
}
