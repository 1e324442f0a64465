import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { publicName } from '../../policy/population.js';
import type { AnswerTable } from '../../query/bound.js';
import { onGroundOf } from '../../release/session/ground.js';
import type { PrivacySession } from '../../release/session/session.js';
import { answerTables, halfWidthFactor, tidyTables } from './answer.js';
import { maximalSets, subsets } from './closure.js';
import { combineReadings, type Discrepancy } from './estimate.js';
import { readWorkload, type Workload, type WorkloadForm } from './form.js';
import { type AnsweredEntry, isLaidOut, type RecordedEvidence, type RecordedPart, recordedEvidence } from './recorded-parts.js';
import { consistentTables } from './release.js';

export interface EstimateOptions {
  /** No negative counts: the tables of one distribution, or the nearest. */
  readonly tidy?: boolean;
  /** Only releases since then. */
  readonly since?: Date;
  /** Only these entries of the ledger. */
  readonly entries?: readonly number[];
}

/** Tables from all paid releases. Reads no data, and spends nothing. */
export interface EstimatedTables {
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
  readonly unused: RecordedEvidence['unused'];
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
  session: PrivacySession,
  form: WorkloadForm | undefined,
  options: EstimateOptions,
): Promise<EstimatedTables> {
  const { policy } = session;
  const { since, entries } = options;
  const answers = (await session.recorded())
    .filter(({ entry }) => (!since || entry.at >= since.getTime()) && (!entries || entries.includes(entry.sequence)))
    .map(({ entry, answer }): AnsweredEntry => ({ entry, answer: JSON.parse(answer) }));
  const requested = form ?? recordedTables(policy, answers);
  const workload = layOutAsRecorded(policy, requested, answers);
  const { parts: recordedParts, unused, rows } = recordedEvidence(policy, workload.columns, answers);
  const { estimate, discrepancies } = combineReadings(workload.sizes, recordedParts);
  refuseInconsistent(answers, recordedParts, discrepancies, rows);
  const answered = workload.tables.filter(({ axes }) => subsets(axes).every((inner) => estimate.by.has(inner.join())));
  const unanswered = workload.tables
    .filter((table) => !answered.includes(table))
    .map(({ views }) => views.map(({ view }) => view.name).join(' x '));
  if (answered.length === 0) throw nothingRecorded(unanswered);
  const shown = { ...workload, tables: answered };
  const wide = laplaceEnters(recordedParts);
  const tables = answerTables(shown, estimate, (axes) => halfWidthFactor(wide(axes) ? 'laplace' : 'gaussian'));
  return {
    tables: options.tidy ? tidyTables(shown, tables, consistentTables(estimate, shown, rows.at(-1))) : tables,
    population: publicName(policy),
    used: answers.flatMap(({ entry: { sequence, hash, at, label } }) => {
      const own = recordedParts.filter(({ entry }) => entry === sequence).length;
      return own > 0 ? [{ entry: sequence, hash, at: new Date(at).toISOString(), label, tables: own }] : [];
    }),
    unused,
    untold: unanswered,
    agreement: {
      squares: discrepancies.reduce((sum, { squares }) => sum + squares, 0),
      expected: discrepancies.reduce((sum, { freedom }) => sum + freedom, 0),
    },
    spent: 0,
  };
}

function laplaceEnters(recordedParts: readonly RecordedPart[]): (axes: readonly number[]) => boolean {
  const wide = recordedParts.filter((own) => own.wide).map(({ part }) => part);
  return (axes) => wide.some((part) => !part.centred || part.axes.every((axis) => axes.includes(axis)));
}

/** A column is on the axes of its levels and ranges if something was measured on those, and else on one. */
function layOutAsRecorded(policy: Policy, form: WorkloadForm, answers: readonly AnsweredEntry[]): Workload {
  const requested = readWorkload(policy, form);
  if (requested.columns.every(({ sizes }) => sizes.length === 1)) return requested;
  const recordedColumns = answers.flatMap(({ answer }) => answer.result?.columns ?? []);
  const split = new Set(
    requested.columns
      .filter((column) => recordedColumns.some((own) => own.name === column.name && isLaidOut(policy, column, own)))
      .map(({ name }) => name),
  );
  return readWorkload(policy, form, (column) => !split.has(column));
}

/** Every whole table on record that is no marginal of another, of columns that are declared now. */
function recordedTables(policy: Policy, answers: readonly AnsweredEntry[]): WorkloadForm {
  const isOn = onGroundOf(policy);
  const names: string[] = [];
  const place = (name: string) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
  const sets = answers.flatMap(({ answer: { told: answered, result } }) => {
    if (answered && isOn(answered.ground)) return answered.tables.flatMap((table) => (table ? [table.by.map(place)] : []));
    if (!result?.columns || !isOn(result.ground)) return [];
    const owner = result.columns.flatMap(({ name, sizes }) => sizes.map(() => ({ name, flat: sizes.length === 1 })));
    return result.parts!.flatMap(({ axes }) =>
      axes.every((axis) => owner[axis]!.flat) ? [axes.map((axis) => place(owner[axis]!.name))] : [],
    );
  });
  const some = sets
    .filter((set) => set.length > 0 && set.length <= 5 && set.every((k) => policy.columns.has(names[k]!)))
    .map((set) => [...set].sort((a, b) => a - b));
  if (some.length === 0) throw nothingRecorded([]);
  return { tables: maximalSets(some).map((set) => ({ by: set.map((k) => names[k]!) })) };
}

const nothingRecorded = (unanswered: readonly string[]) =>
  new Fault(
    'QUERY_UNSUPPORTED',
    unanswered.length > 0
      ? `Nothing that was paid for says ${unanswered[0]}${unanswered.length > 1 ? ` or the other ${unanswered.length - 1}` : ''}.`
      : 'Nothing was paid for that tells whole tables of this data.',
    'Pay for such tables first: fugu release POLICY --workload FILE.',
  );

/** Deviations beyond which answers are about different rows: one in a million by chance. */
const maxDeviation = 4.75;

/** Refusal to combine releases from before and after a change of the data; public numbers only. */
function refuseInconsistent(
  answers: readonly AnsweredEntry[],
  recordedParts: readonly RecordedPart[],
  discrepancies: readonly Discrepancy[],
  rows: readonly number[],
): void {
  const others = rows.some((n) => n !== rows[0]);
  // Laplace noise has heavier tails: if any entered, squares count a fourth.
  const by = recordedParts.some(({ wide }) => wide) ? 4 : 1;
  const sum = (own: readonly number[]) => ({
    squares: own.reduce((s, k) => s + discrepancies[k]!.squares / by, 0),
    freedom: own.reduce((s, k) => s + discrepancies[k]!.freedom, 0),
  });
  if (!others && deviations(sum([...recordedParts.keys()])) < maxDeviation) return;
  const entries = [...new Set(recordedParts.map(({ entry }) => entry))];
  const worst = entries
    .map((entry) => ({ entry, far: deviations(sum([...recordedParts.keys()].filter((k) => recordedParts[k]!.entry === entry))) }))
    .reduce((a, b) => (b.far > a.far ? b : a));
  const at = answers.find(({ entry }) => entry.sequence === worst.entry)!.entry.at;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `What was paid for is not about the same rows: entry ${worst.entry} (${new Date(at).toISOString().slice(0, 10)}) lies farther from the others than noise does.`,
    'The data has changed in between. Name the entries that belong together with --entries, or the day since which it is as it is with --since.',
    { details: { entry: worst.entry } },
  );
}

/** Excess of a sum of squares over its expectation, as a normal deviate (Wilson and Hilferty's cube root). */
function deviations({ squares, freedom }: Discrepancy): number {
  if (freedom < 1e-9) return 0;
  const spread = 2 / (9 * freedom);
  return (Math.cbrt(squares / freedom) - (1 - spread)) / Math.sqrt(spread);
}
