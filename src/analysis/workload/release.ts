import { Fault } from '../../base/errors.js';
import { addsRemoves } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { cellsIn, type Layout, placesWithout } from '../../privacy/mechanism/residual/part.js';
import { publicRecords } from '../../query/count/kept-rows.js';
import type { Axis } from '../../query/count/measure.js';
import { noisyTables, type Tables } from '../../query/count/tables.js';
import type { Reading } from '../../release/accountant/reading.js';
import { nothingLeft } from '../../release/accountant/share.js';
import { type Allowance, toldOf } from '../../release/session/allowance.js';
import { groundOf, tableBy } from '../../release/session/ground.js';
import { looseDelta, mostlyNoise, type Plan } from '../../release/session/plan.js';
import type { Release } from '../../release/session/receipt.js';
import { column, type Relied, rowsThemselves } from '../../release/session/relied.js';
import type { AskOptions, Session } from '../../release/session/session.js';
import { answerTables, foreseen, halfWidths, tidied } from './answer.js';
import { nearerAsRows } from './as-rows.js';
import { countedBy } from './axes.js';
import { knownAxes, knownTable, raked, withLittleError, withoutError } from './beside-known.js';
import { changesOf, type Way, waysFor, whyOf } from './choice.js';
import { maximalOf } from './closure.js';
import { distributionCells, distributionFrom } from './distribution.js';
import { type Estimate, estimateFrom, readTogether, tableFrom } from './estimate.js';
import { readWorkload, type Workload, type WorkloadForm } from './form.js';
import { nonNegative } from './non-negative.js';
import { refuseLarge } from './too-large.js';

interface Prepared {
  readonly workload: Workload;
  readonly allowance: Allowance;
  readonly best: Way;
  readonly plan: WorkloadPlan;
  readonly canonical: string;
  /** Axes whose table is public. */
  readonly known: readonly number[];
}

/** A plan with the totals over its tables. */
export interface WorkloadPlan extends Plan {
  readonly workload: {
    readonly tables: number;
    /** Cells of all tables. */
    readonly cells: number;
    /** Count of numbers that get noise; memory and time are proportional to it. */
    readonly noised: number;
    /** Most bytes that a release holds, besides those of the program itself. */
    readonly memory: number;
    readonly aim: Workload['aim'];
    /** Root mean square error of a cell, or the largest standard error if that is the objective, by strategy: the first is taken. */
    readonly ways: readonly { readonly name: string; readonly noise: string; readonly error: number }[];
    /**
     * Cells of the distribution that --tidy fits to all tables; absent if too large, and the nearest tables without negative cells are
     * published.
     */
    readonly distribution?: number;
  };
}

/** Bytes of a cell as counts, noisy numbers, recorded text and table row: 580 to 640 measured. */
const bytesPerCell = 800;

export const planWorkload = async (session: Session, form: WorkloadForm, options: AskOptions): Promise<WorkloadPlan> =>
  (await prepare(session, form, options)).plan;

/** Ledger record of a workload: enough to make the tables again, and to combine them with others. */
export interface Recorded {
  readonly parts: readonly {
    readonly axes: readonly number[];
    readonly scale: string;
    readonly centred: boolean;
    readonly told: readonly string[];
  }[];
  readonly variance: number;
  readonly wide: number;
  /** Number of rows counted, if public. */
  readonly rows?: number;
  /** Population counted, and the coding and layout of the columns behind the axes. */
  readonly ground?: string;
  readonly columns?: readonly {
    readonly name: string;
    readonly of: string;
    readonly sizes: readonly number[];
    readonly at: readonly number[];
  }[];
}

export async function releaseWorkload(session: Session, form: WorkloadForm, options: AskOptions): Promise<Release> {
  const { workload, allowance, best, plan, canonical, known } = await prepare(session, form, options);
  const { noised } = best;
  const { layout, mechanism } = noised;
  const counted = countedFor(workload, layout);
  const { result, receipt } = await session.analyse<Recorded>({
    kind: 'workload',
    allowance,
    canonical,
    plan,
    mechanisms: [mechanism],
    relied: reliedBy(session.policy, workload, mechanism),
    execute: async (engine, paid) => {
      const told = noised.apart(
        await noisyTables(
          engine,
          session.policy,
          counted.tables,
          (counts) => noised.vector(counted.ofParts(counts)),
          mechanism,
          paid,
        ),
      );
      return {
        parts: layout.parts.map(({ axes, scale, centred }, k) => ({
          axes,
          scale: `${scale}`,
          centred,
          told: told[k]!.map(String),
        })),
        variance: noised.variance,
        wide: halfWidths(mechanism.law.kind),
        ground: groundOf(session.policy),
        columns: workload.columns.map(({ name, key, sizes, at }) => ({
          name,
          of: tableBy(session.policy, [key as Axis]).of,
          sizes,
          at,
        })),
        ...(rowsArePublic(session.policy) && { rows: await publicRecords(engine, session.policy) }),
      };
    },
  });
  const parts = result.parts.map(({ axes, scale, centred }) => ({ axes, scale: BigInt(scale), centred }));
  const told = result.parts.map((part) => part.told.map(Number));
  if (known.length > 0) return { tables: await agreeing(session, workload, known, { parts, told, result }, options), receipt };
  const estimate = estimateFrom({ sizes: workload.sizes, parts }, told, result.variance);
  const tables = answerTables(workload, estimate, result.wide);
  if (!options.tidy || result.variance === 0) return { tables, receipt };
  return { tables: tidied(workload, tables, better(estimate, workload, result.rows)), receipt };
}

/** All tables combined with a public one, with which they then agree (estimate.proof.md). */
async function agreeing(
  session: Session,
  workload: Workload,
  known: readonly number[],
  {
    parts,
    told,
    result,
  }: { readonly parts: Layout['parts']; readonly told: readonly (readonly number[])[]; readonly result: Recorded },
  { tidy, fresh }: AskOptions,
): Promise<Release['tables']> {
  const exact = await knownTable(session, workload, fresh);
  const { estimate } = readTogether(
    { sizes: workload.sizes, parts: [...parts, { axes: known, scale: 1n, centred: false }] },
    [...told, exact],
    [...parts.map(() => result.variance || 1), 1e-12],
  );
  const tables = answerTables(workload, withoutError(estimate, known), result.wide);
  if (!tidy) return tables;
  const rows = exact.reduce((a, b) => a + b, 0);
  const near = better(withLittleError(estimate, known), workload, rows);
  return tidied(workload, tables, raked(workload.sizes, known, estimate, near));
}

/**
 * Tables of one distribution, or if that is too large the nearest without negative cells. A secret number of rows stays at its noisy
 * value: left free, negative cells of all tables would raise it.
 */
export function better(
  estimate: Estimate,
  workload: Pick<Workload, 'sizes' | 'tables'>,
  rows = Math.max(0, estimate.by.get('')!.values[0]!),
): (axes: readonly number[]) => Float64Array {
  const asked = workload.tables.map(({ axes }) => axes);
  if (distributionCells(workload) !== undefined) return distributionFrom(estimate, asked, rows).table;
  const found = nonNegative(estimate, asked, rows);
  return (axes) => tableFrom(found, axes);
}

/**
 * True if the number of rows is public: replacing records keeps their number, and every record is one row
 * (query/count/contribution-bound.ts).
 */
const rowsArePublic = (policy: Policy): boolean => !addsRemoves(policy) && policy.protect.secret !== 'person';

async function prepare(session: Session, form: WorkloadForm, options: AskOptions): Promise<Prepared> {
  const { policy } = session;
  refuseOthers(policy);
  const workload = readWorkload(policy, form);
  refuseLarge(workload);
  const changes = changesOf(policy, workload);
  const reading: Reading = { sums: policy.protect.secret !== 'answer', comesAndGoes: true, together: true };
  const allowance = await session.allowance(options, everyRecord, reading);
  const known = await knownAxes(session, workload);
  const ways = waysFor(workload, changes, allowance, addsRemoves(policy) ? 'removed' : 'replaced', known);
  const [best] = ways;
  if (!best) throw nothingLeft();
  const { tables } = workload;
  const errors = foreseen(workload, best.noised, known);
  const behind = distributionCells(workload);
  const [cells, noised] = [errors.reduce((n, own) => n + own.cells, 0), cellsIn(best.noised.layout)];
  const records = addsRemoves(policy) ? undefined : await session.records();
  const doubts =
    records === undefined
      ? []
      : [
          mostlyNoise(errors, records, policy),
          nearerAsRows(policy, workload, errors, records),
          looseDelta(session.account.delta, records),
        ].filter((w) => w !== undefined);
  const framed = session.frame({
    label:
      options.label ??
      `workload: ${tables.length} ${tables.length === 1 ? 'table' : 'tables'} of ${workload.columns.length} columns`,
    ...toldOf(allowance),
    mechanisms: [best.noised.mechanism],
    mechanism: best.noised.mechanism.law.kind === 'none' ? 'none' : `${best.noised.mechanism.law.kind}, ${best.name}`,
    why: whyOf(ways),
    errors,
    ...(doubts.length > 0 && { warnings: doubts }),
    candidates: ways.map((way) => ({
      mechanism: `${way.noised.mechanism.law.kind}, ${way.name}`,
      route: allowance.route.amplifier.name,
      error: way.error,
      fits: session.admits(way.noised.mechanism.cost, reading, allowance.spent),
    })),
  });
  return {
    workload,
    allowance,
    best,
    plan: {
      ...framed,
      workload: {
        tables: tables.length,
        cells,
        noised,
        memory: 32e6 + bytesPerCell * Math.max(cells, noised),
        aim: workload.aim,
        ways: ways.map(({ name, noised, error }) => ({ name, noise: noised.mechanism.law.kind, error })),
        ...(behind !== undefined && { distribution: behind }),
      },
    },
    canonical: canonicalOf(workload),
    known,
  };
}

/** Workloads with equal texts are equal: columns of one axis each, and tables of all cells, keep the text of earlier versions. */
function canonicalOf({ columns, tables, aim }: Workload): string {
  const plain = columns.every(({ sizes, at }) => sizes.length === 1 && sizes[0] === at.length);
  const asksCells = tables.every(({ views }) => views.every(({ view }) => !view.questions));
  return JSON.stringify([
    columns.flatMap(({ key, sizes }) => sizes.map(() => key)),
    tables.map(({ axes, weight }) => ({ axes, weight })),
    ...(aim === 'mean' ? [] : [aim]),
    ...(plain && asksCells
      ? []
      : [columns.map(({ sizes, at }) => [sizes, at]), tables.map(({ views }) => views.map(({ view }) => view))]),
  ]);
}

function refuseOthers({ protect }: Policy): void {
  if (protect.secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
}

/** Public facts relied on, which pay nothing, if the secret is an answer (release/session/public-facts.proof.md). */
function reliedBy({ protect, columns }: Policy, { columns: asked }: Workload, { cost }: Mechanism): readonly Relied[] {
  if (protect.secret !== 'answer') return [];
  return [
    ...(cost.perRecord.size === 0 ? [rowsThemselves] : []),
    ...asked.flatMap(({ name }) => (columns.get(name)?.public ? [column(name)] : [])),
  ];
}

/** Counting of the maximal tables; the counts of every part follow from these. */
function countedFor({ columns, sizes, tables }: Workload, { parts }: Layout) {
  const maximal = maximalOf(tables.map((t) => t.axes));
  const how = maximal.map((own) => countedBy(columns, own));
  const counted: Tables = { axes: columns.map(({ key }) => key as Axis), tables: how.map((by) => by.columns) };
  const holding = parts.map((part) => maximal.findIndex((own) => part.axes.every((axis) => own.includes(axis))));
  const ofParts = (byColumns: readonly (readonly bigint[])[]): readonly (readonly bigint[])[] => {
    const counts = byColumns.map((list, t) => {
      const placed = new Array<bigint>(how[t]!.cells).fill(0n);
      for (const [cell, x] of list.entries()) placed[how[t]!.at[cell]!]! += x;
      return placed;
    });
    return parts.map((part, k) => {
      const own = maximal[holding[k]!]!;
      const set = own.reduce((bits, axis, i) => (part.axes.includes(axis) ? bits : bits | (1 << i)), 0);
      if (set === 0) return counts[holding[k]!]!;
      const { at, cells } = placesWithout(
        own.map((axis) => sizes[axis]!),
        set,
      );
      const sums = new Array<bigint>(cells).fill(0n);
      for (const [cell, x] of counts[holding[k]!]!.entries()) sums[at[cell]!]! += x;
      return sums;
    });
  };
  return { tables: counted, ofParts };
}
