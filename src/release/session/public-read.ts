import { Fault } from '../../base/errors.js';
import { type Engine, type Pinned, pinned, type SourceColumn } from '../../data/engine/engine.js';
import { type Declared, declaredAmplifiers } from '../../data/ties/declared.js';
import { kindOf, tieColumns, tieKinds } from '../../data/ties/kinds.js';
import type { Told as Progress } from '../../data/ties/record-ties.js';
import { countTies } from '../../data/ties/relation.js';
import { addsRemoves } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { publicRecords } from '../../query/count/kept-rows.js';
import {
  hiddenSteps,
  rowsBefore,
  rowsOfSteps,
  rowsWithoutStep,
  type StepRows,
  type StepRowsAsked,
} from '../../query/count/public-steps.js';
import { countInSeveral } from '../../query/count/several-groups.js';
import type { Desk } from './charge.js';
import { type FactsOfOne, keepRelied } from './note.js';
import { readingIn, stepIn } from './relied.js';

/**
 * A read of the data that costs nothing. Its result must be the same on all neighbouring data sets,
 * for the reason that `relies` states (public-read.proof.md).
 */
export interface PublicRead<Asked, Result> {
  readonly name: string;
  /** Reason why the result is public, in one sentence; docs/unpaid-reads.md lists it. */
  readonly relies: string;
  /** Fault for policies under which the result is not public. */
  readonly refusal?: (policy: Policy, asked: Asked) => Fault | undefined;
  /**
   * Facts that the ledger keeps before anything is read, each list under its first:
   * terms that protect one of them are refused from then on.
   */
  readonly relied?: (policy: Policy, asked: Asked) => readonly FactsOfOne[];
  readonly read: (data: Pinned, policy: Policy, asked: Asked) => Promise<Result>;
}

const define = <Asked, Result>(read: PublicRead<Asked, Result>): PublicRead<Asked, Result> => read;

const records = define<undefined, number>({
  name: 'number of records',
  relies: 'Neighbouring data sets have the same number of records: rows, or persons where persons are the secret.',
  refusal: (policy) => (addsRemoves(policy) ? presence('how many records there are') : undefined),
  read: publicRecords,
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
    policy.dependence.some((d) => tieColumns(d).some(({ column }) => column === by))
      ? undefined
      : new Fault('QUERY_UNSUPPORTED', `No declared tie says who is in which group of "${by}".`, `Declare dependence: [{ kind: groups, by: ${by} }].`), // biome-ignore format: one line
  read: (data, policy, by) => countInSeveral(data, policy, by),
});

const relationSize = define<string, number>({
  name: 'number of ties of a relation',
  relies: 'The relation is declared public, or declared as ties that the adversary knows.',
  refusal: (policy, name) =>
    policy.relations.get(name)?.private === false || policy.dependence.some((d) => kindOf(d).relation?.(d).name === name)
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

const stepRows = define<StepRowsAsked, StepRows>({
  name: 'rows of each step',
  relies: 'Everybody knows at which step a record stands: neighbouring data sets agree in the public order column.',
  refusal: (policy, { steps, order }) => hiddenSteps(policy, steps.column) ?? hiddenSteps(policy, order),
  relied: (policy, { steps, order }) =>
    [...new Set([order, steps.column])].map((name) => [stepIn(name), readingIn(policy, name)]),
  read: async (data, policy, { steps, order }) => ({
    moment: data.moment ?? (await data.id()),
    rows: await rowsOfSteps(data, policy, steps),
    without: await rowsWithoutStep(data, policy, steps),
    before: order === steps.column ? 0 : await rowsBefore(data, policy, steps.column, order),
  }),
});

/**
 * All reads that cost nothing.
 * The only other ways to the data are `charge` and the steward's own reads (app/api/steward-read.ts).
 */
export const publicReads = { records, ties, membersOfSeveral, relationSize, columns, content, moment, stepRows };
const registered: ReadonlySet<unknown> = new Set(Object.values(publicReads));

/** Reads pinned data through this registry, and nothing else of it. */
export type Look = <Asked, Result>(read: PublicRead<Asked, Result>, ...asked: Given<Asked>) => Promise<Result>;
/** Arguments of a read; optional where it takes none. */
export type Given<Asked> = undefined extends Asked ? [asked?: Asked] : [asked: Asked];

/** For callers that hold pinned data before payment. Reads that leave a note need a ledger and go through `readPublic`. */
export const lookAt =
  (policy: Policy, data: Pinned): Look =>
  async <Asked, Result>(read: PublicRead<Asked, Result>, ...[given]: Given<Asked>) => {
    const asked = given as Asked;
    refuse(read, policy, asked);
    if (read.relied !== undefined) throw new RangeError(`the ledger keeps a note of "${read.name}"`);
    return read.read(data, policy, asked);
  };

/** Public facts of one state of the data, before there is an account. */
export const lookInto = <T>(engine: Engine, policy: Policy, work: (look: Look) => Promise<T>): Promise<T> =>
  pinned(engine, (data) => work(lookAt(policy, data)));

/** Refuses, writes the notes durably, reads: in this order. */
export async function readPublic<Asked, Result>(
  desk: Desk,
  read: PublicRead<Asked, Result>,
  ...[given]: Given<Asked>
): Promise<Result> {
  const { policy, engine } = desk;
  const asked = given as Asked;
  refuse(read, policy, asked);
  await keepRelied(desk, read.name, read.relied?.(policy, asked) ?? []);
  return pinned(engine, (data) => read.read(data, policy, asked));
}

function refuse<Asked>(read: PublicRead<Asked, unknown>, policy: Policy, asked: Asked): void {
  if (!registered.has(read)) throw new RangeError(`"${read.name}" is no registered public read`);
  const refusal = read.refusal?.(policy, asked);
  if (refusal) throw refusal;
}

const presence = (what: string): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    `This policy protects whether a record is there, and so ${what}.`,
    'Leave protect.neighbours out: one record is then replaced by another.',
  );
