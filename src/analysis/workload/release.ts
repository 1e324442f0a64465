import { Fault } from '../../base/errors.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { layoutCells, type ResidualLayout } from '../../privacy/mechanism/residual/layout.js';
import type { ExpectedError } from '../../query/bound.js';
import { publicRecordCount } from '../../query/count/contribution-bound.js';
import { type MarginalSet, noisyMarginals } from '../../query/count/marginals.js';
import type { Axis } from '../../query/count/measure.js';
import type { RequestReading } from '../../release/accountant/request-reading.js';
import { nothingLeft } from '../../release/accountant/share.js';
import { planFieldsOf } from '../../release/session/allowance.js';
import { groundOf, tableBy } from '../../release/session/ground.js';
import { looseDeltaWarning, mostlyNoiseWarning, type Plan } from '../../release/session/plan.js';
import { columnFact, type PublicFact, rowsFact } from '../../release/session/public-facts.js';
import type { Release } from '../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';
import { answerTables, expectedTableErrors, halfWidthFactor, tidyTables } from './answer.js';
import { axisCounting } from './axes.js';
import { maximalSets } from './closure.js';
import { distributionCells, fitDistribution } from './distribution.js';
import { combineReadings, marginPlaces, type PartReading, type TableEstimate, tableFrom, withVariance } from './estimate.js';
import { readWorkload, type Workload, type WorkloadForm } from './form.js';
import { knownAxes, knownTable, rakeTables, withoutError, withTinyError } from './known-table.js';
import { nonNegative } from './non-negative.js';
import { strategyReason, type WorkloadStrategy, workloadChanges, workloadStrategies } from './strategy-choice.js';
import { synthesisHint } from './synthesis-hint.js';
import { refuseLargeWorkload } from './too-large.js';

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

export const planWorkload = async (session: PrivacySession, form: WorkloadForm, options: ReleaseOptions): Promise<WorkloadPlan> =>
  (await prepareWorkload(session, form, options)).plan;

/** Ledger record of a workload: enough to make the tables again, and to combine them with others. */
export interface RecordedWorkload {
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

export async function releaseWorkload(session: PrivacySession, form: WorkloadForm, options: ReleaseOptions): Promise<Release> {
  const { workload, allowance, best, plan, canonical, known } = await prepareWorkload(session, form, options);
  const { noised } = best;
  const { layout, mechanism } = noised;
  const counted = workloadCounting(workload, layout);
  const { result, receipt } = await session.analyse<RecordedWorkload>({
    kind: 'workload',
    allowance,
    canonical,
    plan,
    mechanisms: [mechanism],
    relied: workloadFacts(session.policy, workload, mechanism),
    execute: async (engine, payment) => {
      const noisyNumbers = noised.split(
        await noisyMarginals(engine, session.policy, counted.tables, {
          vector: (counts) => noised.vector(counted.ofParts(counts)),
          mechanism,
          payment,
        }),
      );
      return {
        parts: layout.parts.map(({ axes, scale, centred }, k) => ({
          axes,
          scale: `${scale}`,
          centred,
          told: noisyNumbers[k]!.map(String),
        })),
        variance: noised.variance,
        wide: halfWidthFactor(mechanism.distribution.kind),
        ground: groundOf(session.policy),
        columns: workload.columns.map(({ name, key, sizes, at }) => ({
          name,
          of: tableBy(session.policy, [key as Axis]).of,
          sizes,
          at,
        })),
        ...(rowsArePublic(session.policy) && { rows: await publicRecordCount(engine, session.policy) }),
      };
    },
  });
  const { variance, wide } = result;
  const readings = result.parts.map(({ axes, scale, centred, told }) => ({
    part: { axes, scale: BigInt(scale), centred },
    numbers: told.map(Number),
    variance: variance || 1,
  }));
  if (known.length > 0) return { tables: await tablesWithKnown({ session, options, workload, known, readings, wide }), receipt };
  const combined = combineReadings(workload.sizes, readings).estimate;
  const estimate = variance > 0 ? combined : withVariance(combined, () => 0);
  const tables = answerTables(workload, estimate, wide);
  if (!options.tidy || variance === 0) return { tables, receipt };
  return { tables: tidyTables(workload, tables, consistentTables(estimate, workload, result.rows)), receipt };
}

/** All tables combined with a public one, with which they then agree (estimate.proof.md). */
async function tablesWithKnown(recorded: {
  readonly session: PrivacySession;
  readonly options: ReleaseOptions;
  readonly workload: Workload;
  readonly known: readonly number[];
  readonly readings: readonly PartReading[];
  readonly wide: number;
}): Promise<Release['tables']> {
  const { session, workload, known, readings, wide } = recorded;
  const { tidy, fresh } = recorded.options;
  const exact = await knownTable(session, workload, fresh);
  const exactReading = { part: { axes: known, scale: 1n, centred: false }, numbers: exact, variance: 1e-12 };
  const { estimate } = combineReadings(workload.sizes, [...readings, exactReading]);
  const tables = answerTables(workload, withoutError(estimate, known), wide);
  if (!tidy) return tables;
  const rows = exact.reduce((a, b) => a + b, 0);
  const near = consistentTables(withTinyError(estimate, known), workload, rows);
  return tidyTables(workload, tables, rakeTables(workload.sizes, known, estimate, near));
}

/**
 * Tables of one distribution, or if that is too large the nearest without negative cells. A secret number of rows stays at its noisy
 * value: left free, negative cells of all tables would raise it.
 */
export function consistentTables(
  estimate: TableEstimate,
  workload: Pick<Workload, 'sizes' | 'tables'>,
  rows = Math.max(0, estimate.by.get('')!.values[0]!),
): (axes: readonly number[]) => Float64Array {
  const requested = workload.tables.map(({ axes }) => axes);
  if (distributionCells(workload) !== undefined) return fitDistribution(estimate, requested, rows).table;
  const found = nonNegative(estimate, requested, rows);
  return (axes) => tableFrom(found, axes);
}

/**
 * True if the number of rows is public: replacing records keeps their number, and every record is one row
 * (query/count/contribution-bound.ts).
 */
const rowsArePublic = (policy: Policy): boolean => !isAddRemove(policy) && policy.protect.secret !== 'person';

async function prepareWorkload(session: PrivacySession, form: WorkloadForm, options: ReleaseOptions) {
  const { policy } = session;
  refuseTieSecret(policy);
  const workload = readWorkload(policy, form);
  refuseLargeWorkload(workload);
  const changes = workloadChanges(policy, workload);
  const reading: RequestReading = { sums: policy.protect.secret !== 'answer', addRemove: true, knownTotals: true };
  const allowance = await session.allowance(options, everyRecord, reading);
  const known = await knownAxes(session, workload);
  const change = isAddRemove(policy) ? 'removed' : 'replaced';
  const strategies = workloadStrategies({ workload, changes, allowance, change, known });
  const [best] = strategies;
  if (!best) throw nothingLeft();
  const { tables, columns } = workload;
  const errors = expectedTableErrors(workload, best.noised, known);
  const warnings = await doubtsAbout(session, workload, errors);
  const noiseOf = ({ noised }: WorkloadStrategy) => noised.mechanism.distribution.kind;
  const framed = session.completePlan({
    label: options.label ?? `workload: ${tables.length} ${tables.length === 1 ? 'table' : 'tables'} of ${columns.length} columns`,
    ...planFieldsOf(allowance),
    mechanisms: [best.noised.mechanism],
    mechanism: noiseOf(best) === 'none' ? 'none' : `${noiseOf(best)}, ${best.name}`,
    why: strategyReason(strategies),
    errors,
    ...(warnings.length > 0 && { warnings }),
    candidates: strategies.map((strategy) => ({
      mechanism: `${noiseOf(strategy)}, ${strategy.name}`,
      route: allowance.route.amplifier.name,
      error: strategy.error,
      fits: session.admits(strategy.noised.mechanism.cost, reading, allowance.spent),
    })),
  });
  const [cells, noised] = [errors.reduce((n, own) => n + own.cells, 0), layoutCells(best.noised.layout)];
  const distribution = distributionCells(workload);
  const totals: WorkloadPlan['workload'] = {
    tables: tables.length,
    cells,
    noised,
    memory: 32e6 + bytesPerCell * Math.max(cells, noised),
    aim: workload.aim,
    ways: strategies.map((strategy) => ({ name: strategy.name, noise: noiseOf(strategy), error: strategy.error })),
    ...(distribution !== undefined && { distribution }),
  };
  return { workload, allowance, best, plan: { ...framed, workload: totals }, canonical: canonicalOf(workload), known };
}

async function doubtsAbout(session: PrivacySession, workload: Workload, errors: readonly ExpectedError[]) {
  const { policy, account } = session;
  if (isAddRemove(policy)) return [];
  const records = await session.records();
  if (records === undefined) return [];
  return [
    mostlyNoiseWarning(
      errors,
      records,
      errors.map(() => policy),
    ),
    synthesisHint(policy, workload, errors, records),
    looseDeltaWarning(account.delta, records),
  ].filter((w) => w !== undefined);
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

function refuseTieSecret({ protect }: Policy): void {
  if (protect.secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
}

/** Public facts relied on, which pay nothing, if the secret is an answer (release/session/public-facts.proof.md). */
function workloadFacts(
  { protect, columns }: Policy,
  { columns: requested }: Workload,
  { cost }: Mechanism,
): readonly PublicFact[] {
  if (protect.secret !== 'answer') return [];
  return [
    ...(cost.perRecord.size === 0 ? [rowsFact] : []),
    ...requested.flatMap(({ name }) => (columns.get(name)?.public ? [columnFact(name)] : [])),
  ];
}

/** Counting of the maximal tables; the counts of every part follow from these. */
function workloadCounting({ columns, sizes, tables }: Workload, { parts }: ResidualLayout) {
  const maximal = maximalSets(tables.map((t) => t.axes));
  const countings = maximal.map((own) => axisCounting(columns, own));
  const counted: MarginalSet = { axes: columns.map(({ key }) => key as Axis), tables: countings.map((by) => by.columns) };
  const holding = parts.map((part) => maximal.findIndex((own) => part.axes.every((axis) => own.includes(axis))));
  const ofParts = (byColumns: readonly (readonly bigint[])[]): readonly (readonly bigint[])[] => {
    const counts = byColumns.map((list, t) => {
      const placed = new Array<bigint>(countings[t]!.cells).fill(0n);
      for (const [cell, x] of list.entries()) placed[countings[t]!.at[cell]!]! += x;
      return placed;
    });
    return parts.map((part, k) => {
      const { at, cells } = marginPlaces(sizes, maximal[holding[k]!]!, part.axes);
      const sums = new Array<bigint>(cells).fill(0n);
      for (const [cell, x] of counts[holding[k]!]!.entries()) sums[at[cell]!]! += x;
      return sums;
    });
  };
  return { tables: counted, ofParts };
}
