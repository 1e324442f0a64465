import type { z } from 'zod';
import type { Column, Dependence, Policy, Relation, SecretKind } from '../../policy/policy.js';
import type { Path, YamlFile } from '../../policy/yaml-file.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import type { FactorGraph } from '../../privacy/dependence/graph/factor-graph.js';
import type { Room } from '../../privacy/dependence/graph/room.js';
import type { Pinned } from '../engine/engine.js';
import type { AnswersModel } from './answers.js';
import type { RecordTable } from './records.js';
import type { TupleTies } from './tuples.js';
import type { GroupLimit } from './used-records.js';

/**
 * Everything about one kind of declared dependence. Each kind is one file that makes one of these and one line in kinds.ts; nobody else knows kinds by name.
 * `D` is what is declared, `Told` how it is written. What a kind leaves out it has nothing to say about.
 */
export interface TieKind<D extends Dependence = Dependence, Told = unknown> {
  readonly kind: D['kind'];
  /** How it is written in a policy, and what that means. */
  readonly shape: z.ZodObject;
  declare(told: Told, path: Path, context: Declaring): D;
  /** The key of the model file it rests on. */
  readonly file?: string;
  /** The relation that says who is tied, and the column of its table that says how strongly. */
  relation?(d: D): { readonly name: string; readonly odds?: string };
  /** The columns of the data that say who is tied. */
  columns?(d: D): readonly TieColumn[];
  /** What the steward is told it means. */
  explain(d: D, secret: SecretKind): string;
  /** What must be true, as plans and receipts print it. */
  words(d: D): string;
  /** What one step is, where it orders steps: only such a kind makes `secret: step` mean something. */
  step?(d: D): string;
  /** The column that puts steps in order: everybody knows it, and costs are booked by its values. */
  order?(d: D): string;
  /** Ties between whole records. */
  readonly records?: BetweenRecords<D>;
  /** Ties between the answers of one person. */
  answers?(d: D, policy: Policy, count: number, indexOf: (name: string) => number | undefined): AnswersModel;
  /** Ties between the tuples of a relation. */
  readonly tuples?: BetweenTuples<D>;
  /** A bound of its own, where it is no graph: of another kind of file, for instance. */
  apart?(d: D): ((policy: Policy) => Amplifier) | undefined;
}

export interface Declaring {
  readonly directory: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly relations: ReadonlyMap<string, Relation>;
  readonly yaml: YamlFile;
}

export interface TieColumn {
  readonly column: string;
  /** The key that names it, and what it is there. */
  readonly key: string;
  readonly role: string;
  /** Names are compared as names are (data/engine/name.ts), cells as they are. */
  readonly read: 'name' | 'cell';
}

export interface BetweenRecords<D> {
  /** Where it is all that is declared: a bound that needs no records, if the data is such. */
  chain?(d: D, given: Alone): Promise<OneChain | undefined>;
  graph(d: D, source: Source): FactorGraph | Promise<FactorGraph>;
  /** Ties reach no further than their ends: holds against an uninformed attacker only. */
  reach?(d: D): 'any' | 'direct';
  /** The column of two values through which all its ties pull records together, where that is declared or seen. */
  pull?(d: D): string | undefined;
  /** So many used records may be tied to a used one; others are left out. */
  limit?(d: D): number | undefined;
  /** So many members of each of its groups may be used; others are left out. */
  groupLimits?(d: D, source: Source): readonly GroupLimit[];
  /** Why it cannot stand beside other ties: its graph stands for records nobody has seen. */
  alone?(d: D): { readonly message: string; readonly hint: string } | undefined;
  /** Who is really tied to whom, for an attack on the data at hand. */
  actual?(d: D): D;
}

export interface OneChain {
  readonly amplifier: Amplifier;
  /** Somebody goes through about all of it: the records themselves would say no less. */
  readonly whole: boolean;
}

export interface Alone {
  readonly policy: Policy;
  readonly engine: Pinned;
  /** What is assumed already. */
  readonly assumptions: readonly string[];
}

/** What graphs of records are built from. */
export interface Source {
  readonly policy: Policy;
  readonly records: RecordTable;
  readonly engine: Pinned;
  readonly room?: Room;
}

export interface BetweenTuples<D> {
  relation(d: D): string;
  ties(d: D, policy: Policy): TupleTies;
  words(d: D): string;
}
