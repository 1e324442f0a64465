import { compare, divide, one, type Rational, rational, subtract } from '../base/exact/rational.js';
import { evenEdges } from './bins.js';
import { codeText } from './code.js';
import type { Codebook, CodebookEntry } from './codebook.js';
import { daysOf } from './date-text.js';
import type { Column, NumberColumn } from './policy.js';
import { declarePools } from './pools.js';
import { invalid } from './problems.js';
import type { ColumnEntry } from './schema.js';
import type { YamlFile } from './yaml-file.js';

/** Declared columns: those of the policy, then the codebook's, each in file order; the policy wins over the codebook. */
export function declareColumns(
  entries: Readonly<Record<string, ColumnEntry>>,
  codebook: Codebook,
  yaml: YamlFile,
  decimal?: ',',
): ReadonlyMap<string, Column> {
  const columns = new Map<string, Column>();
  for (const [name, entry] of Object.entries(entries)) columns.set(name, declare(name, entry, codebook.get(name), yaml, decimal));
  for (const [name, book] of codebook)
    if (!columns.has(name) && book.values.length > 0)
      columns.set(name, {
        type: 'category',
        name,
        values: book.values,
        labels: book.labels,
        missing: book.missing,
        ...(book.label !== undefined && { label: book.label }),
      });
  return columns;
}

export type ColumnEntryOf<T extends ColumnEntry['type']> = Extract<ColumnEntry, { type: T }>;

function declare(name: string, entry: ColumnEntry, book: CodebookEntry | undefined, yaml: YamlFile, decimal?: ','): Column {
  const label = entry.label ?? book?.label;
  const missing = entry.missing ?? book?.missing ?? [];
  refuseRepeats(missing, 'missing code', ['columns', name, 'missing'], yaml);
  const base = {
    name,
    missing,
    ...(label !== undefined && { label }),
    ...(entry.public !== undefined && { public: entry.public }),
  };
  if (entry.type === 'category') {
    const listed = codesOf(name, entry, book, missing, yaml);
    const pool = entry.pool && Number(entry.pool.num) / Number(entry.pool.den);
    const pools = declarePools(name, entry, listed.values, pool, book?.shares, yaml);
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
    const listed = codesOf(name, entry, book, missing, yaml);
    if (listed.values.some((v) => v.includes(separator)))
      throw invalid(
        yaml,
        ['columns', name],
        `An option of "${name}" holds its own separator.`,
        'Declare another separator: the one the cells use.',
      );
    return { ...base, type: 'multi', ...listed, separator };
  }
  const { bounds, step } = range(name, entry, yaml);
  if (entry.type === 'weight') {
    if (bounds[0].num < 0n)
      throw invalid(
        yaml,
        ['columns', name, 'bounds'],
        `The weight "${name}" may not be negative.`,
        'Weights start at 0 or above.',
      );
    return { ...base, type: 'weight', bounds, step, ...(decimal && { decimal }) };
  }
  const edges = entry.bins === undefined ? undefined : binEdges(name, entry, { bounds, step }, yaml);
  if (entry.type === 'date')
    return {
      ...base,
      // Days that mean "no answer" are counted as all days are.
      missing: missing.map((code) => `${daysOf(code) ?? code}`),
      type: 'integer',
      date: true,
      bounds,
      step,
      ...(edges && { bins: edges }),
    } satisfies NumberColumn;
  return {
    ...base,
    type: entry.type,
    bounds,
    step,
    ...(decimal && { decimal }),
    ...(edges && { bins: edges }),
  } satisfies NumberColumn;
}

function codesOf(
  name: string,
  entry: ColumnEntryOf<'category'> | ColumnEntryOf<'multi'>,
  book: CodebookEntry | undefined,
  missing: readonly string[],
  yaml: YamlFile,
) {
  const path = ['columns', name, 'values'];
  const listed = Array.isArray(entry.values);
  const values = listed ? (entry.values as string[]) : Object.keys(entry.values).map(codeText);
  const labels = new Map(book?.labels ?? []);
  if (!listed)
    for (const [code, label] of Object.entries(entry.values as Record<string, string>)) labels.set(codeText(code), label);
  if (values.length === 0)
    throw invalid(yaml, path, `The column "${name}" has no values.`, 'List every code it may hold, such as values: [1, 2, 3].');
  refuseRepeats(values, 'value', path, yaml);
  const notAnswers = new Set(missing);
  const both = values.find((v) => notAnswers.has(v));
  if (both !== undefined)
    throw invalid(yaml, path, `The code "${both}" of "${name}" is both a value and missing.`, 'A code is one or the other.');
  if (values.includes(''))
    throw invalid(yaml, path, `A value of "${name}" is empty.`, 'Empty cells count as missing by themselves.');
  return { values, labels };
}

function refuseRepeats(codes: readonly string[], what: string, path: readonly string[], yaml: YamlFile): void {
  const seen = new Set<string>();
  const at = codes.findIndex((c) => seen.size === seen.add(c).size);
  if (at >= 0)
    throw invalid(
      yaml,
      [...path, at],
      `The ${what} "${codes[at]}" is listed twice.`,
      '1 and 1.0 are the same code; list each code once.',
    );
}

/** At most 2^31 steps between the bounds, so that sums of squares times weights over 2^33 rows stay inside 128 bits. */
const mostSteps = rational(1n << 31n);

function range(
  name: string,
  entry: ColumnEntryOf<'integer'> | ColumnEntryOf<'number'> | ColumnEntryOf<'weight'> | ColumnEntryOf<'date'>,
  yaml: YamlFile,
) {
  const [low, high] = entry.bounds;
  const path = ['columns', name, 'bounds'];
  if (compare(low, high) >= 0)
    throw invalid(
      yaml,
      path,
      compare(low, high) > 0 ? `The bounds of "${name}" are reversed.` : `The bounds of "${name}" leave no room.`,
      entry.type === 'date' ? 'Write the earlier day first.' : 'Write the smaller number first: bounds: [0, 100].',
    );
  const whole = entry.type === 'integer' || entry.type === 'date';
  if (whole && (low.den !== 1n || high.den !== 1n))
    throw invalid(yaml, path, `The bounds of the integer "${name}" are not whole numbers.`, 'Use type: number for fractions.');
  const written = 'step' in entry ? entry.step : undefined;
  const step = written ?? (whole ? one : defaultStep(low, high));
  const stepPath = written ? ['columns', name, 'step'] : path;
  if (step.num <= 0n)
    throw invalid(yaml, stepPath, `The step of "${name}" must be above 0.`, 'Values are rounded to multiples of it.');
  if (whole && step.den !== 1n)
    throw invalid(yaml, stepPath, `The step of the integer "${name}" is not whole.`, 'Use type: number.');
  const steps = divide(subtract(high, low), step);
  if (steps.den !== 1n)
    throw invalid(
      yaml,
      stepPath,
      `The step of "${name}" does not divide its bounds.`,
      'Upper minus lower bound must be a multiple of the step.',
    );
  if (compare(steps, mostSteps) > 0)
    throw invalid(
      yaml,
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
  entry: ColumnEntryOf<'integer'> | ColumnEntryOf<'number'> | ColumnEntryOf<'date'>,
  { bounds: [low, high], step }: { readonly bounds: readonly [Rational, Rational]; readonly step: Rational },
  yaml: YamlFile,
): readonly Rational[] {
  const path = ['columns', name, 'bins'];
  if (!Array.isArray(entry.bins)) {
    const text = String(entry.bins).trim();
    const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    if (count < 1)
      throw invalid(
        yaml,
        path,
        `The bins of "${name}" are not understood.`,
        'Write bins: 10, or the inner edges: bins: [30, 45, 65].',
      );
    return evenEdges({ type: entry.type === 'number' ? 'number' : 'integer', bounds: [low, high], step }, count);
  }
  const edges = entry.bins;
  for (const [i, edge] of edges.entries()) {
    if (compare(edge, low) <= 0 || compare(edge, high) >= 0)
      throw invalid(
        yaml,
        [...path, i],
        `A bin edge of "${name}" lies outside its bounds.`,
        'Edges are inner edges: strictly between the bounds.',
      );
    if (i > 0 && compare(edges[i - 1]!, edge) >= 0)
      throw invalid(yaml, [...path, i], `The bin edges of "${name}" do not rise.`, 'Write them from small to large, each once.');
  }
  return edges;
}
