import * as z from 'zod';
import type { Fault } from '../../base/errors.js';
import { resolve } from '../../base/platform/paths.js';
import type { Column, Dependence, Policy, Relation, SecretKind } from '../../policy/policy.js';
import { section, word } from '../../policy/schema.js';
import type { Path, YamlFile } from '../../policy/yaml-file.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import type { FactorGraph } from '../../privacy/dependence/graph/factor-graph.js';
import type { MemoryLimit } from '../../privacy/dependence/graph/memory-limit.js';
import type { Snapshot } from '../engine/engine.js';
import type { AnswersModel } from './answers.js';
import type { RecordTable } from './records.js';
import type { TupleTies } from './tuples.js';
import type { GroupLimit } from './used-records.js';

/**
 * One kind of declared dependence: one file and one line in kinds.ts; no other code knows kinds by name.
 * `D` is the declaration, `Entry` its form in a policy. An omitted member does not apply to the kind.
 */
export interface TieKind<D extends Dependence = Dependence, Entry = unknown> {
  readonly kind: D['kind'];
  readonly shape: z.ZodObject;
  declare(entry: Entry, path: Path, context: TieContext): D;
  /** The key of the model file it rests on. */
  readonly file?: string;
  /** Relation that lists the ties, and the column of its table with their odds ratios. */
  relation?(d: D): { readonly name: string; readonly odds?: string };
  /** Columns of the data that define the ties. */
  columns?(d: D): readonly TieColumn[];
  /** Plain-language explanation for the steward. */
  explain(d: D, secret: SecretKind): string;
  /** Assumption, as plans and receipts print it. */
  words(d: D): string;
  /** One step, in words, for kinds that order steps: only these give `secret: step` a meaning. */
  step?(d: D): string;
  /** Column that orders the steps: public, and costs are recorded by its values. */
  order?(d: D): string;
  /** Ties between whole records. */
  readonly records?: BetweenRecords<D>;
  /** Ties between the answers of one person. */
  answers?(d: D, policy: Policy, count: number, indexOf: (name: string) => number | undefined): AnswersModel;
  /** Ties between the tuples of a relation. */
  readonly tuples?: BetweenTuples<D>;
  /** A separate bound for declarations that are no graph, such as another kind of file. */
  separateRoute?(d: D): ((policy: Policy) => Amplifier) | undefined;
}

/** A declaration that names one file. */
export type FileDependence<Kind extends string, Key extends string> = { readonly kind: Kind } & Readonly<Record<Key, string>>;

/** Form of a kind that one file declares, under this key. */
export const declaredByFile = <Kind extends string, Key extends string>(kind: Kind, key: Key, usage: string) => ({
  kind,
  shape: section({ kind: z.literal(kind), [key]: word(key) }, usage),
  declare: (entry: FileDependence<Kind, Key>, _path: Path, { directory }: TieContext) =>
    ({ kind, [key]: resolve(directory, entry[key]) }) as FileDependence<Kind, Key>,
  file: key,
});

/** Records of a model by its names for them; `fault` for a name that none has, and where two names are one record. */
export function recordsNamed(
  names: readonly string[],
  indexOf: (name: string) => number | undefined,
  fault: (why: 'unknown' | 'repeated') => Fault,
): readonly number[] {
  const records = names.map((name) => {
    const record = indexOf(name);
    if (record === undefined) throw fault('unknown');
    return record;
  });
  if (new Set(records).size !== records.length) throw fault('repeated');
  return records;
}

export interface TieContext {
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
  /** If no other tie is declared: a bound that needs no records, if the data allows it. */
  chain?(d: D, given: Alone): Promise<OneChain | undefined>;
  graph(d: D, source: GraphSource): FactorGraph | Promise<FactorGraph>;
  /** Ties reach no further than their ends: holds against an uninformed attacker only. */
  reach?(d: D): 'any' | 'direct';
  /** Column of two values through which all its ties are positive, if that is declared or observed. */
  pull?(d: D): string | undefined;
  /** Largest number of used records tied to a used one; others are left out. */
  limit?(d: D): number | undefined;
  /** Largest number of used members per group; others are left out. */
  groupLimits?(d: D, source: GraphSource): readonly GroupLimit[];
  /** Reason for which it cannot be combined with other ties: its graph stands for unobserved records. */
  alone?(d: D): { readonly message: string; readonly hint: string } | undefined;
  /** Ties as they are in the data at hand, for an attack on it. */
  actual?(d: D): D;
}

export interface OneChain {
  readonly amplifier: Amplifier;
  /** Somebody has about all of its steps: reading the records would not give a smaller bound. */
  readonly whole: boolean;
}

export interface Alone {
  readonly policy: Policy;
  readonly engine: Snapshot;
  readonly assumptions: readonly string[];
}

/** Inputs for the factor graph of the records. */
export interface GraphSource {
  readonly policy: Policy;
  readonly records: RecordTable;
  readonly engine: Snapshot;
  readonly room?: MemoryLimit;
}

export interface BetweenTuples<D> {
  relation(d: D): string;
  ties(d: D, policy: Policy): TupleTies;
  words(d: D): string;
}
