import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { publicName } from '../../policy/population.js';
import type { AnswerTable } from '../../query/bound.js';
import type { Recorded as RecordedBatch } from '../../release/session/batch.js';
import { onGroundOf } from '../../release/session/ground.js';
import type { Session } from '../../release/session/session.js';
import { answerTables, halfWidths, tidied } from './answer.js';
import { maximalOf, subsets } from './closure.js';
import { type Apart, readTogether } from './estimate.js';
import { readWorkload, type Workload, type WorkloadForm } from './form.js';
import { type Heard, heardIn, isLaidOut, type Kept, type Past } from './past.js';
import { better, type Recorded } from './release.js';

export interface EstimateOptions {
  /** No negative counts: the tables of one distribution, or the nearest. */
  readonly tidy?: boolean;
  /** Only releases since then. */
  readonly since?: Date;
  /** Only these entries of the ledger. */
  readonly entries?: readonly number[];
}

/** Tables from all paid releases. Reads no data, and spends nothing. */
export interface Estimated {
  readonly tables: readonly AnswerTable[];
  readonly population: string;
  /** The ledger entries used for the tables. */
  readonly used: readonly {
    readonly entry: number;
    readonly hash: string;
    readonly at: string;
    readonly label: string;
    /** Number of noisy tables taken from it. */
    readonly tables: number;
  }[];
  readonly unused: Past['unused'];
  /** Requested tables that no paid release covers. */
  readonly untold: readonly string[];
  /** Repeated measurements against each other: the sum of their squared differences in units of noise, and its expectation. */
  readonly agreement: { readonly squares: number; readonly expected: number };
  readonly spent: 0;
}

/**
 * One estimate of all requested tables (of every paid table when none is named) from all recorded evidence about them
 * (recorded-parts.proof.md).
 */
export async function estimateTables(
  session: Session,
  form: WorkloadForm | undefined,
  options: EstimateOptions,
): Promise<Estimated> {
  const { policy } = session;
  const kept = (await session.recorded()).filter(
    ({ entry }) =>
      (!options.since || entry.at >= options.since.getTime()) && (!options.entries || options.entries.includes(entry.sequence)),
  );
  const asked = form ?? everyTable(policy, kept);
  const workload = laidOutAsPaid(policy, asked, kept);
  const { heard, unused, rows } = heardIn(policy, workload.columns, kept);
  const { estimate, apart } = readTogether(
    { sizes: workload.sizes, parts: heard.map(({ part }) => part) },
    heard.map(({ told }) => told),
    heard.map(({ variance }) => variance),
  );
  refuseApart(kept, heard, apart, rows);
  const told = workload.tables.filter(({ axes }) => subsets(axes).every((inner) => estimate.by.has(inner.join())));
  const untold = workload.tables
    .filter((table) => !told.includes(table))
    .map(({ views }) => views.map(({ view }) => view.name).join(' x '));
  if (told.length === 0) throw nothingTold(untold);
  const shown = { ...workload, tables: told };
  const wide = widths(heard);
  const tables = answerTables(shown, estimate, (axes) => halfWidths(wide(axes) ? 'laplace' : 'gaussian'));
  return {
    tables: options.tidy ? tidied(shown, tables, better(estimate, shown, rows.at(-1))) : tables,
    population: publicName(policy),
    used: kept.flatMap(({ entry: { sequence, hash, at, label } }) => {
      const own = heard.filter(({ entry }) => entry === sequence).length;
      return own > 0 ? [{ entry: sequence, hash, at: new Date(at).toISOString(), label, tables: own }] : [];
    }),
    unused,
    untold,
    agreement: {
      squares: apart.reduce((sum, { squares }) => sum + squares, 0),
      expected: apart.reduce((sum, { freedom }) => sum + freedom, 0),
    },
    spent: 0,
  };
}

/** Predicate of tables that Laplace noise enters. */
function widths(heard: readonly Heard[]): (axes: readonly number[]) => boolean {
  const wide = heard.filter((own) => own.wide).map(({ part }) => part);
  return (axes) => wide.some((part) => !part.centred || part.axes.every((axis) => axes.includes(axis)));
}

/** A column is on the axes of its levels and ranges if something was measured on those, and else on one. */
function laidOutAsPaid(policy: Policy, form: WorkloadForm, kept: readonly Kept[]): Workload {
  const asked = readWorkload(policy, form);
  if (asked.columns.every(({ sizes }) => sizes.length === 1)) return asked;
  const paid = kept.flatMap(({ answer }) => (JSON.parse(answer) as { result?: Partial<Recorded> }).result?.columns ?? []);
  const split = new Set(
    asked.columns
      .filter((column) => paid.some((own) => own.name === column.name && isLaidOut(policy, column, own)))
      .map(({ name }) => name),
  );
  return readWorkload(policy, form, (column) => !split.has(column));
}

/** Every whole table on record that is no marginal of another, of columns that are declared now. */
function everyTable(policy: Policy, kept: readonly Kept[]): WorkloadForm {
  const isOn = onGroundOf(policy);
  const names: string[] = [];
  const place = (name: string) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
  const sets = kept.flatMap(({ answer }) => {
    const { told, result } = JSON.parse(answer) as Partial<RecordedBatch> & { result?: Partial<Recorded> };
    if (told && isOn(told.ground)) return told.tables.flatMap((table) => (table ? [table.by.map(place)] : []));
    if (!result?.columns || !isOn(result.ground)) return [];
    const owner = result.columns.flatMap(({ name, sizes }) => sizes.map(() => ({ name, flat: sizes.length === 1 })));
    return result.parts!.flatMap(({ axes }) =>
      axes.every((axis) => owner[axis]!.flat) ? [axes.map((axis) => place(owner[axis]!.name))] : [],
    );
  });
  const some = sets
    .filter((set) => set.length > 0 && set.length <= 5 && set.every((k) => policy.columns.has(names[k]!)))
    .map((set) => [...set].sort((a, b) => a - b));
  if (some.length === 0) throw nothingTold([]);
  return { tables: maximalOf(some).map((set) => ({ by: set.map((k) => names[k]!) })) };
}

const nothingTold = (untold: readonly string[]) =>
  new Fault(
    'QUERY_UNSUPPORTED',
    untold.length > 0
      ? `Nothing that was paid for says ${untold[0]}${untold.length > 1 ? ` or the other ${untold.length - 1}` : ''}.`
      : 'Nothing was paid for that tells whole tables of this data.',
    'Pay for such tables first: fugu release POLICY --workload FILE.',
  );

/** Deviations beyond which answers are about different rows: one in a million by chance. */
const beyond = 4.75;

/** Refusal to combine releases from before and after a change of the data; public numbers only. */
function refuseApart(kept: readonly Kept[], heard: readonly Heard[], apart: readonly Apart[], rows: readonly number[]): void {
  const others = rows.some((n) => n !== rows[0]);
  // Laplace noise has heavier tails: if any entered, squares count a fourth.
  const by = heard.some(({ wide }) => wide) ? 4 : 1;
  const sum = (own: readonly number[]) => ({
    squares: own.reduce((s, k) => s + apart[k]!.squares / by, 0),
    freedom: own.reduce((s, k) => s + apart[k]!.freedom, 0),
  });
  if (!others && deviations(sum([...heard.keys()])) < beyond) return;
  const entries = [...new Set(heard.map(({ entry }) => entry))];
  const worst = entries
    .map((entry) => ({ entry, far: deviations(sum([...heard.keys()].filter((k) => heard[k]!.entry === entry))) }))
    .reduce((a, b) => (b.far > a.far ? b : a));
  const at = kept.find(({ entry }) => entry.sequence === worst.entry)!.entry.at;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `What was paid for is not about the same rows: entry ${worst.entry} (${new Date(at).toISOString().slice(0, 10)}) lies farther from the others than noise does.`,
    'The data has changed in between. Name the entries that belong together with --entries, or the day since which it is as it is with --since.',
    { details: { entry: worst.entry } },
  );
}

/** Excess of a sum of squares over its expectation, as a normal deviate (Wilson and Hilferty's cube root). */
function deviations({ squares, freedom }: Apart): number {
  if (freedom < 1e-9) return 0;
  const spread = 2 / (9 * freedom);
  return (Math.cbrt(squares / freedom) - (1 - spread)) / Math.sqrt(spread);
}
