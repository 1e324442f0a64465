import type { Dialect } from '../../data/engine/dialect.js';
import type { Snapshot, SourceColumn } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import type { Policy } from '../../policy/policy.js';
import { rowSource } from './chosen-rows.js';
import { compileMeasures, isDistinct, readCounts, readGroups, resultBound } from './groups.js';
import type { CountedView, Measure } from './measure.js';
import { columnsOf, columnsRead } from './measure.js';
import { rowCounter } from './row-counter.js';
import { compileStream } from './stream.js';

type Cells = Exact<readonly bigint[]>;

/** Rows x measures up to which a table is read once and counted here; longer ones are counted by the database, one GROUP BY per key set. */
const streamedCells = 200_000_000;
const manyMeasures = 8;

/** Exact integers of every measure. The way of counting depends on the table's shape; the integers do not. */
export async function countCells(engine: Snapshot, policy: Policy, measures: readonly Measure[]): Promise<readonly Cells[]> {
  const counted = new Map<Measure, Cells>();
  for (const [countedView, own] of byView(measures)) {
    const [data, declared] = countedView ? [countedView.over(engine), countedView.policy] : [engine, policy];
    for (const [i, cells] of (await countTable(data, declared, own)).entries()) counted.set(own[i]!, cells);
  }
  return measures.map((measure) => counted.get(measure)!);
}

function byView(measures: readonly Measure[]): Iterable<readonly [CountedView | undefined, readonly Measure[]]> {
  const groups = new Map<string, readonly [CountedView | undefined, Measure[]]>();
  for (const measure of measures) {
    const key = measure.countedView?.text ?? '';
    const group = groups.get(key) ?? ([measure.countedView, []] as const);
    group[1].push(measure);
    groups.set(key, group);
  }
  return groups.values();
}

async function countTable(engine: Snapshot, policy: Policy, measures: readonly Measure[]): Promise<readonly Cells[]> {
  const wide = isWide(measures) && (await engine.size()).open() <= streamedRowLimit(measures);
  return wide ? countStreaming(engine, policy, measures) : countByDatabase(engine, policy, measures);
}

/** Distinct persons are counted by the database only. */
const isWide = (measures: readonly Measure[]): boolean =>
  measures.length >= manyMeasures && !measures.some(({ counting }) => isDistinct(counting));
const streamedRowLimit = (measures: readonly Measure[]): number => Math.floor(streamedCells / measures.length);

/** Execution plan for counting: decided from the measures before any data is read, and from the number of rows where that is public. */
export interface ExecutionPlan {
  /** In the database, which returns groups only; here, row by row; or by the public number of rows (`streamed.upTo`). */
  readonly where: 'database' | 'here' | 'by size';
  /** In the database: number of GROUP BY statements, and the most rows that all of them return. */
  readonly database?: { readonly statements: number; readonly rows: number };
  /** Here: columns read of every row. Applies up to `upTo` rows; longer tables are counted by the database. */
  readonly streamed?: { readonly columns: readonly string[]; readonly upTo?: number };
  /** Most rows, or ties, that fit the permitted memory; larger inputs are refused. */
  readonly held?: { readonly upTo: number };
}

/** Execution plan that `countCells` will follow, by the number of rows where that is public. */
export function executionPlan(measures: readonly Measure[], policy: Policy, dialect?: Dialect): (rows?: number) => ExecutionPlan {
  const database = resultBound(measures, policy, dialect);
  if (!isWide(measures)) return () => ({ where: 'database', database });
  const upTo = streamedRowLimit(measures);
  const streamed = { columns: columnsRead(measures), upTo };
  return (rows) => {
    if (rows === undefined) return { where: 'by size', database, streamed };
    return rows <= upTo ? { where: 'here', streamed } : { where: 'database', database };
  };
}

/** Columns that one statement reads, unless one measure needs more: a database plans wide statements in a time that grows faster than they do. */
const columnsAtOnce = 1000;

export async function countStreaming(
  engine: Snapshot,
  policy: Policy,
  measures: readonly Measure[],
  atOnce = policy.protect.secret === 'person' ? Number.POSITIVE_INFINITY : columnsAtOnce,
): Promise<readonly Cells[]> {
  const counted = new Map<Measure, Cells>();
  for (const near of byBlock(measures, await engine.columns()))
    for (const part of measureBatches(near, atOnce))
      for (const [i, cells] of (await countTogether(engine, policy, part)).entries()) counted.set(part[i]!, cells);
  return measures.map((measure) => counted.get(measure)!);
}

/** Measures whose columns the engine finds in one place, then those that need several. */
function byBlock(measures: readonly Measure[], source: readonly SourceColumn[]): readonly (readonly Measure[])[] {
  const blocks = new Map(source.map(({ name, block }) => [name, block]));
  const groups = new Map<number | undefined, Measure[]>();
  for (const measure of measures) {
    const [block, ...others] = new Set(columnsOf(measure.counting).map((name) => blocks.get(name)));
    const key = others.length === 0 ? block : undefined;
    const near = groups.get(key) ?? [];
    near.push(measure);
    groups.set(key, near);
  }
  return [...groups.values()];
}

/** Consecutive measures that together read at most so many columns. */
function* measureBatches(measures: readonly Measure[], atOnce: number): Iterable<readonly Measure[]> {
  let part: Measure[] = [];
  let read = new Set<string>();
  for (const measure of measures) {
    const columns = columnsOf(measure.counting);
    if (part.length > 0 && read.size + columns.filter((c) => !read.has(c)).length > atOnce) {
      yield part;
      [part, read] = [[], new Set()];
    }
    part.push(measure);
    for (const column of columns) read.add(column);
  }
  if (part.length > 0) yield part;
}

/** Counted here, in one pass over the rows. */
export async function countTogether(engine: Snapshot, policy: Policy, measures: readonly Measure[]): Promise<readonly Cells[]> {
  // Bounding the rows of a person compares the text of all columns, so cells are read as the engine shows them.
  const asWritten = policy.protect.secret !== 'person';
  const source = await rowSource(engine, policy);
  const { statement, columns, written } = compileStream(columnsRead(measures), source, { asWritten });
  const counter = rowCounter(measures, columns, policy, written);
  for await (const chunk of engine.stream(statement)) counter.add(chunk.open());
  return counter.totals().map((cells) => new Exact(cells));
}

export async function countByDatabase(engine: Snapshot, policy: Policy, measures: readonly Measure[]): Promise<readonly Cells[]> {
  const counted = new Array<Cells>(measures.length);
  const rows = (await engine.size()).open();
  for (const plan of compileMeasures(measures, { ...(await rowSource(engine, policy)), rows })) {
    const few = plan.groups && readGroups(plan, measures, (await engine.rows(plan.groups.statement)).open());
    const found = few ?? readCounts(plan, measures, (await engine.rows(plan.statement)).open());
    for (const [index, cells] of found) counted[index] = new Exact(cells);
  }
  return counted;
}
