import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import type { Snapshot } from '../../data/engine/engine.js';
import { readStructure } from '../../data/engine/structure.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import { declaredColumn } from '../../policy/domain.js';
import { gridOf, unboundedGrid } from '../../policy/grid.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { NumberColumn, Policy } from '../../policy/policy.js';
import { numberExpression, numberReading, sourceColumn } from './read-column.js';

/** Steps of a table: equal numbers of units of a public integer column, from its lower bound on, numbered from 1. */
export interface Steps {
  readonly column: string;
  readonly width: number;
  /** Largest possible number of steps. */
  readonly count: number;
  /** The first and the last unit of a step. */
  unitsOf(step: number): readonly [first: number, last: number];
}

/** Most units that the steps may span. */
const maxUnits = 10_000_000;

/** Refuses steps, before any data is read, where records are added and removed: empty steps would reveal who is present. */
export function refuseSecretSteps(policy: Policy): void {
  if (isAddRemove(policy)) throw presenceFault();
}
const presenceFault = (): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    'A stream tells which steps have rows, and this policy protects whether a record is there.',
    'Ask for the steps you want with release and a condition on the column, or leave protect.neighbours out.',
  );

/**
 * Fault where rows may not be counted by step before payment; undefined where neighbouring data sets agree in the column:
 * for rows, steps and answers with a public column, but not for persons, nor for several records changing within known totals.
 */
export function protectedStepsFault(policy: Policy, name: string): Fault | undefined {
  const { secret } = policy.protect;
  if (isAddRemove(policy)) return presenceFault();
  const agree =
    secret === 'answer'
      ? policy.columns.get(name)?.public === true
      : slicingsOf(policy).some(({ column }) => column.name === name);
  return agree
    ? undefined
    : new Fault(
        'QUERY_UNSUPPORTED',
        `Which steps have rows is protected here: neighbouring data sets may differ in "${name}".`,
        'Say which units are over: --through N. Steps up to it are answered whether or not they have rows.',
      );
}

/** Steps of a column: row numbers by step are published and relied on, so the column must be declared public. */
export function publicSteps(policy: Policy, name: string, width: number): Steps {
  const column = declaredColumn(policy, name);
  if (column.type !== 'integer' || toNumber(column.step) !== 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The column "${name}" is no column of whole numbers.`,
      `Declare it: ${declarationExample(name)}.`,
    );
  // A person's rows may be at any step, so nothing is relied on (protectedStepsFault).
  if (column.public !== true && policy.protect.secret !== 'person')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Steps are released one by one, so everybody sees which there are; the column "${name}" is not declared public.`,
      `If everybody knows at which ${name} a record stands, write ${declarationExample(name)}.`,
    );
  const low = toNumber(column.bounds[0]);
  const units = gridOf(column).last + 1;
  if (units > maxUnits * width)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The bounds of "${name}" hold more than ${maxUnits} steps.`,
      'Declare narrower bounds, or longer steps.',
    );
  return {
    column: name,
    width,
    count: Math.ceil(units / width),
    unitsOf: (step) => [low + (step - 1) * width, low + Math.min(units, step * width) - 1],
  };
}
const declarationExample = (name: string): string => `${name}: { type: integer, bounds: [1, 365], public: true }`;

/** Steps by which rows are counted, and the column that orders them where it is another one. */
export interface StepRowsRequest {
  readonly steps: Steps;
  readonly order: string;
}

/** Facts about the steps from public columns, read from one state of the data. */
export interface StepRows {
  readonly moment: object | string;
  /** Number of rows of each step, from the first on. */
  readonly rows: Float64Array;
  /** Number of rows at no step: no number, or one beyond the last step. */
  readonly without: number;
  /** Number of rows that arrived before the time they are about. */
  readonly before: number;
}

/** Number of rows of each step, from the first on: as public as the column. */
export async function rowsOfSteps(engine: Snapshot, policy: Policy, steps: Steps): Promise<Float64Array> {
  refuseCounting(policy, steps.column);
  const { dialect } = engine;
  const { place, last } = await publicPlace(engine, policy, steps.column);
  const sql = `SELECT ${dialect.quotient('place', steps.width)} AS step, count(*) FROM (SELECT ${place} AS place FROM fugu_data) AS placed WHERE place <= ${last} GROUP BY 1`;
  const rows = new Float64Array(steps.count);
  for await (const [step, count] of readStructure(engine, { sql, values: [] })) rows[Number(step)] = Number(count);
  return rows;
}

/** Number of rows without a step: no number, or one beyond the declared bounds. */
export async function rowsWithoutStep(engine: Snapshot, policy: Policy, steps: Steps): Promise<number> {
  refuseCounting(policy, steps.column);
  const { place, last } = await publicPlace(engine, policy, steps.column);
  return countWhere(engine, `${place} AS place`, `NOT coalesce(place <= ${last}, false)`);
}

/** Number of rows that hold a smaller number in one public column than in another. */
export async function rowsBefore(engine: Snapshot, policy: Policy, column: string, other: string): Promise<number> {
  refuseCounting(policy, column);
  refuseCounting(policy, other);
  const [x, y] = [await publicPlace(engine, policy, column), await publicPlace(engine, policy, other)];
  return countWhere(
    engine,
    `${x.place} AS own, ${y.place} AS other`,
    `NOT coalesce(own + (${x.low}) >= other + (${y.low}), false)`,
  );
}

function refuseCounting(policy: Policy, column: string): void {
  if (protectedStepsFault(policy, column)) throw new Error('the number of rows of a step is protected');
}

async function countWhere(engine: Snapshot, places: string, test: string): Promise<number> {
  const sql = `SELECT count(*) FROM (SELECT ${places} FROM fugu_data) AS placed WHERE ${test}`;
  for await (const [count] of readStructure(engine, { sql, values: [] })) return Number(count);
  return 0;
}

/**
 * SQL for the value of a public column counted from its lower bound, NULL for none; the same reading as that of slices
 * (`unboundedGrid`), so two rows that neighbouring data sets may exchange have one place. Places above `last` exceed the upper bound.
 */
export async function publicPlace(engine: Snapshot, policy: Policy, name: string) {
  const { dialect } = engine;
  const column = declaredColumn(policy, name) as NumberColumn;
  const source = sourceColumn(await engine.columns(), name);
  const grid = unboundedGrid(column);
  if (!grid) throw new RangeError(`"${name}" is no column of whole numbers`);
  const { positionOrNull } = numberReading(dialect, source, grid, numberExpression(dialect, source, column.decimal));
  return { place: positionOrNull, last: gridOf(column).last, low: grid.from };
}
