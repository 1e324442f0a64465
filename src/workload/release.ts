import type { Reading } from '../accounting/reading.js';
import { nothingLeft } from '../accounting/share.js';
import { type Axis, noisyTables, type Tables } from '../count/tables.js';
import { Fault } from '../errors.js';
import type { Allotment } from '../mechanism/allotment.js';
import { lawWords } from '../mechanism/law.js';
import type { Mechanism } from '../mechanism/mechanism.js';
import { answersTo, everyRecord } from '../mechanism/record-class.js';
import type { Change } from '../mechanism/residual/move.js';
import { cellsIn, cellsOf, type Layout, placesWithout } from '../mechanism/residual/part.js';
import { type Changes, type NoisedTables, noisedTables } from '../mechanism/residual/residual.js';
import { addsRemoves } from '../policy/neighbours.js';
import type { Policy } from '../policy/policy.js';
import { mostCells, mostCellsTogether, refuseManyCells } from '../query/keys.js';
import { looseDelta, mostlyNoise, noNoise, type Plan } from '../release/plan.js';
import type { Release } from '../release/receipt.js';
import { column, type Relied, rowsThemselves } from '../release/relied.js';
import { type Allowance, type AskOptions, type Session, toldOf } from '../release/session.js';
import { withErrorsOf } from '../release/tidy.js';
import { answerTables, foreseen, halfWidths } from './answer.js';
import { closureOf, maximalOf } from './closure.js';
import { estimateFrom } from './estimate.js';
import { readWorkload, type Workload, type WorkloadForm } from './form.js';
import { nonNegative } from './non-negative.js';
import { errorOf, plainLayout, residualLayout } from './ways.js';

/** A way to release all tables, and the root mean square error over all their cells, weights included. */
interface Way {
  readonly name: 'without smaller tables' | 'every table by itself';
  readonly noised: NoisedTables;
  readonly error: number;
}

interface Prepared {
  readonly workload: Workload;
  readonly allowance: Allowance;
  readonly best: Way;
  readonly plan: WorkloadPlan;
  readonly canonical: string;
}

/** A plan, with what the tables are together. */
export interface WorkloadPlan extends Plan {
  readonly workload: {
    readonly tables: number;
    /** Of all tables. */
    readonly cells: number;
    /** How many numbers noise is drawn for; memory and time go with it. */
    readonly noised: number;
    /** Root mean square error of a cell, by every way: the first is taken. */
    readonly ways: readonly { readonly name: string; readonly noise: string; readonly error: number }[];
  };
}

export const planWorkload = async (session: Session, form: WorkloadForm, options: AskOptions): Promise<WorkloadPlan> =>
  (await prepare(session, form, options)).plan;

/** What the ledger keeps: all that is needed to make the tables again. */
interface Recorded {
  readonly parts: readonly {
    readonly axes: readonly number[];
    readonly scale: string;
    readonly centred: boolean;
    readonly told: readonly string[];
  }[];
  readonly variance: number;
  readonly wide: number;
}

export async function releaseWorkload(session: Session, form: WorkloadForm, options: AskOptions): Promise<Release> {
  const { workload, allowance, best, plan, canonical } = await prepare(session, form, options);
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
      };
    },
  });
  const parts = result.parts.map(({ axes, scale, centred }) => ({ axes, scale: BigInt(scale), centred }));
  const estimate = estimateFrom(
    { sizes: workload.sizes, parts },
    result.parts.map(({ told }) => told.map(Number)),
    result.variance,
  );
  const tables = answerTables(workload, estimate, result.wide);
  if (!options.tidy) return { tables, receipt };
  const asked = workload.tables.map(({ axes }) => axes);
  return { tables: withErrorsOf(answerTables(workload, nonNegative(estimate, asked), result.wide, 0), tables), receipt };
}

async function prepare(session: Session, form: WorkloadForm, options: AskOptions): Promise<Prepared> {
  const { policy } = session;
  refuseOthers(policy);
  const workload = readWorkload(policy, form);
  refuseLarge(workload);
  const changes = changesOf(policy, workload);
  const reading: Reading = { sums: policy.protect.secret !== 'answer', comesAndGoes: true };
  const allowance = await session.allowance(options, everyRecord, reading);
  const ways = waysFor(workload, changes, allowance, addsRemoves(policy) ? 'removed' : 'replaced');
  const [best] = ways;
  if (!best) throw nothingLeft();
  const { tables } = workload;
  const cells = tables.reduce((n, table) => n + cellsOf(workload.sizes, table), 0);
  const errors = foreseen(workload, best.noised);
  const records = addsRemoves(policy) ? undefined : await session.records();
  const doubts =
    records === undefined
      ? []
      : [mostlyNoise(errors, records, policy), looseDelta(session.account.delta, records)].filter((w) => w !== undefined);
  const framed = session.frame({
    label:
      options.label ??
      `workload: ${tables.length} ${tables.length === 1 ? 'table' : 'tables'} of ${workload.names.length} columns`,
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
        noised: cellsIn(best.noised.layout),
        ways: ways.map(({ name, noised, error }) => ({ name, noise: noised.mechanism.law.kind, error })),
      },
    },
    canonical: JSON.stringify([workload.axes.map(({ key }) => key), tables]),
  };
}

function refuseOthers({ protect }: Policy): void {
  if (protect.secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
}

/** Asked before anything of that size is made: it speaks about policy and workload alone. */
function refuseLarge({ sizes, tables }: Workload): void {
  for (const table of tables) refuseManyCells(cellsOf(sizes, table), 'A table of the workload has', 'cells', mostCells);
  const all = closureOf(tables.map(({ axes }) => axes)).reduce((n, axes) => n + cellsOf(sizes, { axes }), 0);
  refuseManyCells(all, 'The tables of the workload, and those inside them, have', 'cells', mostCellsTogether);
}

/** What one record may do, by the secret of the policy (residual.proof.md). */
function changesOf(policy: Policy, { names }: Workload): readonly Changes[] {
  const { protect, columns } = policy;
  const whole: Change = addsRemoves(policy) ? 'removed' : 'replaced';
  const rows = protect.secret === 'person' ? protect.maxRows : 1;
  const all: Changes = { of: everyRecord, change: whole, rows };
  if (protect.secret !== 'answer') return [all];
  const answers = names.flatMap((name, along): Changes[] =>
    columns.get(name)?.public ? [] : [{ of: answersTo(name), change: { along }, rows: 1 }],
  );
  return answers.length > 0 ? [...answers, all] : [];
}

/** What is known to everybody where the secret is an answer, and so pays nothing (release/relied.proof.md). */
function reliedBy({ protect, columns }: Policy, { names }: Workload, { cost }: Mechanism): readonly Relied[] {
  if (protect.secret !== 'answer') return [];
  return [
    ...(cost.perRecord.size === 0 ? [rowsThemselves] : []),
    ...names.filter((name) => columns.get(name)?.public).map(column),
  ];
}

/** The least error first. */
function waysFor(
  workload: Workload,
  changes: readonly Changes[],
  allowance: Allowance,
  change: Extract<Change, string>,
): readonly Way[] {
  const { rho, pure, route } = allowance;
  const by = (name: Way['name'], layout: Layout, allotment: Allotment): Way => {
    const noised = noisedTables('tables of the workload', layout, changes, allotment, route.amplifier.scope);
    return { name, noised, error: Math.sqrt((errorOf(workload, layout) * noised.variance) / weightOf(workload)) };
  };
  return [
    ...(rho
      ? [
          by('without smaller tables', residualLayout(workload, change), rho),
          by('every table by itself', plainLayout(workload, 'zcdp'), rho),
        ]
      : []),
    ...(pure ? [by('every table by itself', plainLayout(workload, 'pure'), pure)] : []),
  ].sort((a, b) => a.error - b.error);
}
const weightOf = ({ sizes, tables }: Workload): number => tables.reduce((sum, t) => sum + t.weight * cellsOf(sizes, t), 0);

function whyOf(ways: readonly Way[]): string {
  const [best, ...others] = ways;
  if (best?.noised.mechanism.law.kind === 'none') return noNoise;
  const words = ({ name, noised }: Way) =>
    `${lawWords(noised.mechanism.law.kind)} noise on ${name === 'every table by itself' ? name : 'tables without what smaller tables say'}`;
  const next = others[0];
  if (!next) return `${words(best!)}, all tables read together, is the only kind this budget allows.`;
  return `${words(best!)}: its expected error is ${Number((next.error / best!.error).toPrecision(3))} times smaller than with ${words(next)}.`;
}

/** The tables that no other says are counted; the counts of every part follow. */
function countedFor({ axes, sizes, tables }: Workload, { parts }: Layout) {
  const maximal = maximalOf(tables.map((t) => t.axes));
  const counted: Tables = { axes: axes.map(({ key }) => key as Axis), tables: maximal };
  const holding = parts.map((part) => maximal.findIndex((own) => part.axes.every((axis) => own.includes(axis))));
  const ofParts = (counts: readonly (readonly bigint[])[]): readonly (readonly bigint[])[] =>
    parts.map((part, k) => {
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
  return { tables: counted, ofParts };
}
