import { Fault } from '../../base/errors.js';
import { type Engine, type Snapshot, type SourceColumn, withSnapshot } from '../../data/engine/engine.js';
import { type Declared, declaredAmplifiers } from '../../data/ties/declared.js';
import { tieKindColumns, tieKindOf, tieKinds } from '../../data/ties/kinds.js';
import type { ProgressListener as Progress } from '../../data/ties/record-ties.js';
import { countTies } from '../../data/ties/relation.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { publicRecordCount } from '../../query/count/contribution-bound.js';
import {
  protectedStepsFault,
  rowsBefore,
  rowsOfSteps,
  rowsWithoutStep,
  type StepRows,
  type StepRowsRequest,
} from '../../query/count/public-steps.js';
import { countSeveralGroups } from '../../query/count/several-groups.js';
import { type FactsOfOne, recordPublicFacts } from './note.js';
import { readingIn, stepFact } from './public-facts.js';
import type { ReleaseContext } from './release-context.js';

/**
 * A read of the data that costs nothing. Its result must be the same on all neighbouring data sets,
 * for the reason that `relies` states (public-read.proof.md).
 */
export interface PublicRead<Argument, Result> {
  readonly name: string;
  /** Reason why the result is public, in one sentence; docs/reference/unpaid-reads.md lists it. */
  readonly relies: string;
  /** Fault for policies under which the result is not public. */
  readonly refusal?: (policy: Policy, argument: Argument) => Fault | undefined;
  /** Facts noted before anything is read, each list under its first: terms that protect one of them are refused from then on. */
  readonly relied?: (policy: Policy, argument: Argument) => readonly FactsOfOne[];
  readonly read: (data: Snapshot, policy: Policy, argument: Argument) => Promise<Result>;
}

const define = <Argument, Result>(read: PublicRead<Argument, Result>): PublicRead<Argument, Result> => read;

const records = define<undefined, number>({
  name: 'number of records',
  relies: 'Neighbouring data sets have the same number of records: rows, or persons where persons are the secret.',
  refusal: (policy) => (isAddRemove(policy) ? presence('how many records there are') : undefined),
  read: publicRecordCount,
});

const ties = define<{ readonly progress?: Progress }, Declared>({
  name: 'declared ties',
  relies: 'The adversary is declared to know who is tied to whom: groups, relations, sequences and the names of records.',
  read: (data, policy, { progress }) => declaredAmplifiers(policy, data, tieKinds, progress),
});

const membersOfSeveral = define<string, number>({
  name: 'persons in several groups',
  relies: 'A declared tie says that the adversary knows who is in which group of the column.',
  refusal: (policy, by) =>
    policy.dependence.some((d) => tieKindColumns(d).some(({ column }) => column === by))
      ? undefined
      : new Fault('QUERY_UNSUPPORTED', `No declared tie says who is in which group of "${by}".`, `Declare dependence: [{ kind: groups, by: ${by} }].`), // biome-ignore format: one line
  read: (data, policy, by) => countSeveralGroups(data, policy, by),
});

const relationSize = define<string, number>({
  name: 'number of ties of a relation',
  relies: 'The relation is declared public, or declared as ties that the adversary knows.',
  refusal: (policy, name) =>
    policy.relations.get(name)?.private === false || policy.dependence.some((d) => tieKindOf(d).relation?.(d).name === name)
      ? undefined
      : new Fault('QUERY_UNSUPPORTED', `The relation "${name}" is not declared as known to everybody.`, 'Ask for a pattern: its answer is paid for.'), // biome-ignore format: one line
  read: (data, _, name) => countTies(data, name),
});

const columns = define<string | undefined, readonly SourceColumn[]>({
  name: 'columns of the source',
  relies: 'Names and stored types of columns belong to the schema, which no record decides.',
  read: (data, _, table) => data.columns(table),
});

const content = define<undefined, string>({
  name: 'digest of the content',
  relies: 'It is compared with an earlier one and decides only whether public facts are read again.',
  read: (data) => data.id(),
});

const moment = define<undefined, object | string>({
  name: 'state of the data',
  relies: content.relies,
  read: async (data) => data.moment ?? data.id(),
});

const stepRows = define<StepRowsRequest, StepRows>({
  name: 'rows of each step',
  relies: 'Everybody knows at which step a record stands: neighbouring data sets agree in the public order column.',
  refusal: (policy, { steps, order }) => protectedStepsFault(policy, steps.column) ?? protectedStepsFault(policy, order),
  relied: (policy, { steps, order }) =>
    [...new Set([order, steps.column])].map((name) => [stepFact(name), readingIn(policy, name)]),
  read: async (data, policy, { steps, order }) => ({
    moment: data.moment ?? (await data.id()),
    rows: await rowsOfSteps(data, policy, steps),
    without: await rowsWithoutStep(data, policy, steps),
    before: order === steps.column ? 0 : await rowsBefore(data, policy, steps.column, order),
  }),
});

/** All reads that cost nothing. Other ways to the data: `charge`, and the steward's reads (app/api/steward-read.ts). */
export const publicReads = { records, ties, membersOfSeveral, relationSize, columns, content, moment, stepRows };
const registered: ReadonlySet<unknown> = new Set(Object.values(publicReads));

/** Reads pinned data through this registry, and nothing else of it. */
export type PublicReader = <Argument, Result>(
  read: PublicRead<Argument, Result>,
  ...argument: ReadArguments<Argument>
) => Promise<Result>;
/** Arguments of a read; optional where it takes none. */
export type ReadArguments<Argument> = undefined extends Argument ? [argument?: Argument] : [argument: Argument];

/** For callers that hold pinned data before payment. Reads that leave a note need a ledger and go through `readPublic`. */
export const publicReader =
  (policy: Policy, data: Snapshot): PublicReader =>
  async <Argument, Result>(read: PublicRead<Argument, Result>, ...[given]: ReadArguments<Argument>) => {
    const argument = given as Argument;
    refuse(read, policy, argument);
    if (read.relied !== undefined) throw new RangeError(`the ledger keeps a note of "${read.name}"`);
    return read.read(data, policy, argument);
  };

/** Public facts of one state of the data, before there is an account. */
export const withPublicReader = <T>(engine: Engine, policy: Policy, work: (look: PublicReader) => Promise<T>): Promise<T> =>
  withSnapshot(engine, (data) => work(publicReader(policy, data)));

/** Refuses, writes the notes durably, reads: in this order. */
export async function readPublic<Argument, Result>(
  context: ReleaseContext,
  read: PublicRead<Argument, Result>,
  ...[given]: ReadArguments<Argument>
): Promise<Result> {
  const { policy, engine } = context;
  const argument = given as Argument;
  refuse(read, policy, argument);
  await recordPublicFacts(context, read.name, read.relied?.(policy, argument) ?? []);
  return withSnapshot(engine, (data) => read.read(data, policy, argument));
}

function refuse<Argument>(read: PublicRead<Argument, unknown>, policy: Policy, argument: Argument): void {
  if (!registered.has(read)) throw new RangeError(`"${read.name}" is no registered public read`);
  const refusal = read.refusal?.(policy, argument);
  if (refusal) throw refusal;
}

const presence = (what: string): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    `This policy protects whether a record is there, and so ${what}.`,
    'Leave protect.neighbours out: one record is then replaced by another.',
  );
