import type { Dialect } from '../engine/dialect.js';
import type { Pinned } from '../engine/engine.js';
import { readStructure } from '../engine/structure.js';
import { Fault } from '../errors.js';
import { toNumber } from '../exact/rational.js';
import { columnNamed } from '../policy/domain.js';
import { gridOf } from '../policy/grid.js';
import { addsRemoves } from '../policy/neighbours.js';
import type { NumberColumn, Policy } from '../policy/policy.js';
import { numberExpression, sourceColumn } from './read-column.js';

/** The steps of a table: so many units of a public whole-number column each, from its lower bound on, numbered from 1. */
export interface Steps {
  readonly column: string;
  readonly width: number;
  /** How many there can be. */
  readonly count: number;
  /** The first and the last unit of a step. */
  unitsOf(step: number): readonly [first: number, last: number];
}

/** Steps that are looked at. */
const mostUnits = 10_000_000;

/** Before anything is read: where records are added and removed, a step that has rows, or none, tells who is there. */
export function refuseSecretSteps(policy: Policy): void {
  if (addsRemoves(policy))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A stream tells which steps have rows, and this policy protects whether a record is there.',
      'Ask for the steps you want with release and a condition on the column, or leave protect.neighbours out.',
    );
}

/** Which rows belong to which step is told and relied on, so the column must be declared to be known to everybody. */
export function stepsOf(policy: Policy, name: string, width: number): Steps {
  const column = columnNamed(policy, name);
  if (column.type !== 'integer' || toNumber(column.step) !== 1)
    throw new Fault('QUERY_UNSUPPORTED', `The column "${name}" is no column of whole numbers.`, `Declare it: ${form(name)}.`);
  if (column.public !== true)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `Steps are told one by one, so everybody sees which there are; the column "${name}" is not declared public.`,
      `If everybody knows at which ${name} a record stands, write ${form(name)}.`,
    );
  const low = toNumber(column.bounds[0]);
  const units = gridOf(column).last + 1;
  if (units > mostUnits * width)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      `The bounds of "${name}" hold more than ${mostUnits} steps.`,
      'Declare narrower bounds, or longer steps.',
    );
  return {
    column: name,
    width,
    count: Math.ceil(units / width),
    unitsOf: (step) => [low + (step - 1) * width, low + Math.min(units, step * width) - 1],
  };
}
const form = (name: string): string => `${name}: { type: integer, bounds: [1, 365], public: true }`;

/** How many rows each step has, from the first on: as public as the column. */
export async function rowsOfSteps(engine: Pinned, policy: Policy, steps: Steps): Promise<Float64Array> {
  refuseCounting(policy);
  const { dialect } = engine;
  const x = await read(engine, steps.column);
  const step = dialect.whole(`floor((${x} - ${dialect.constant(steps.unitsOf(1)[0])}) / ${steps.width})`);
  const sql = `SELECT ${step} AS step, count(*) FROM fugu_data WHERE ${inside(policy, steps, x, dialect)} GROUP BY 1`;
  const rows = new Float64Array(steps.count);
  for await (const [step, count] of readStructure(engine, { sql, values: [] })) rows[Number(step)] = Number(count);
  return rows;
}

/** How many rows stand at no step: no whole number, or one beyond the declared bounds. */
export async function rowsWithoutStep(engine: Pinned, policy: Policy, steps: Steps): Promise<number> {
  refuseCounting(policy);
  const x = await read(engine, steps.column);
  return counted(engine, `NOT coalesce(${inside(policy, steps, x, engine.dialect)}, false)`);
}

/** How many rows hold a smaller number in one public column than in another. */
export async function rowsBefore(engine: Pinned, policy: Policy, column: string, other: string): Promise<number> {
  refuseCounting(policy);
  const [x, y] = [await read(engine, column), await read(engine, other)];
  return counted(engine, `NOT coalesce(${x} >= ${y}, false)`);
}

function refuseCounting(policy: Policy): void {
  if (addsRemoves(policy)) throw new Error('the number of rows of a step is protected');
}

async function counted(engine: Pinned, test: string): Promise<number> {
  const sql = `SELECT count(*) FROM fugu_data WHERE ${test}`;
  for await (const [count] of readStructure(engine, { sql, values: [] })) return Number(count);
  return 0;
}

function inside(policy: Policy, steps: Steps, x: string, { constant: real }: Dialect): string {
  const [low] = steps.unitsOf(1);
  const [, high] = steps.unitsOf(steps.count);
  const { missing } = gridOf(columnNamed(policy, steps.column) as NumberColumn);
  const known = missing.length > 0 ? ` AND ${x} NOT IN (${missing.map(real).join(', ')})` : '';
  return `${x} >= ${real(low)} AND ${x} <= ${real(high)} AND ${x} = floor(${x})${known}`;
}

async function read(engine: Pinned, column: string): Promise<string> {
  const { dialect } = engine;
  return dialect.real(numberExpression(dialect, sourceColumn(await engine.columns(), column)));
}
