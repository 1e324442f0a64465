import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { nextUp } from '../../base/exact/rational.js';
import type { SecretKind } from '../../policy/policy.js';
import { invalid } from '../../policy/problems.js';
import { section, wholeShape, word } from '../../policy/schema.js';
import { didYouMean } from '../../policy/suggest.js';
import { type FactorGraph, fromPairs } from '../../privacy/dependence/graph/factor-graph.js';
import { graphBytes, unlimitedMemory } from '../../privacy/dependence/graph/memory-limit.js';
import { directAssumption } from '../../privacy/dependence/uninformed/direct.js';
import type { Snapshot } from '../engine/engine.js';
import { countStructure, readBlocks, relationView } from '../engine/structure.js';
import type { GraphSource, TieKind } from './kind.js';
import { noName } from './name-list.js';
import { NameColumn } from './spelling.js';
import { oddsText, onColumn, pulled, pullWords, ratio, strength, strengthKeys, strengthWords, tiedColumn } from './strength.js';
import { tupleTies, tupleWords } from './tuples.js';

export interface TiesDependence {
  readonly kind: 'ties';
  readonly relation: string;
  readonly column?: string;
  readonly oddsRatio: number;
  /** Tied records are alike in the column, never different. */
  readonly pull?: 'alike';
  /** Column of the relation's table that holds each tie's own odds ratio. */
  readonly oddsColumn?: string;
  readonly reach: 'any' | 'direct';
  readonly maxTies?: number;
}

const shape = section(
  {
    kind: z.literal('ties'),
    relation: word('relation'),
    oddsColumn: word('oddsColumn').optional(),
    reach: z.enum(['any', 'direct'], { error: 'reach must be any or direct.' }).optional(),
    maxTies: wholeShape('maxTies', 0).optional(),
    ...strengthKeys,
  },
  'Write {kind: ties, relation: friend}.',
);

/** Friends, kin, contacts: records tied by a relation; with secret `edge`, tuples of it that depend on one another. */
export const relationTie: TieKind<TiesDependence, z.output<typeof shape>> = {
  kind: 'ties',
  shape,
  declare: (entry, path, context) => {
    const named = context.relations.get(entry.relation);
    if (!named)
      throw invalid(
        context.yaml,
        [...path, 'relation'],
        `The relation "${entry.relation}" is not declared.`,
        context.relations.size > 0
          ? didYouMean(entry.relation, [...context.relations.keys()], 'Declared relations')
          : 'Declare it under relations: with its table and columns.',
      );
    if (named.columns.length !== 2)
      throw invalid(
        context.yaml,
        [...path, 'relation'],
        'Ties need a relation between two records.',
        'Its columns: list has two names.',
      );
    return {
      kind: 'ties',
      relation: entry.relation,
      ...tiedColumn(entry, path, context),
      ...pulled(entry, path, context),
      oddsRatio: ratio(entry.oddsRatio),
      ...(entry.oddsColumn !== undefined && { oddsColumn: entry.oddsColumn }),
      reach: entry.reach ?? 'any',
      ...(entry.maxTies !== undefined && { maxTies: entry.maxTies }),
    };
  },
  relation: (d) => ({ name: d.relation, ...(d.oddsColumn !== undefined && { odds: d.oddsColumn }) }),
  explain: (d, secret) =>
    `records joined by ${d.relation} depend on one another: changing one moves ${onColumn(d.column)} ${
      d.oddsColumn === undefined ? strengthWords(d.oddsRatio) : `as the column ${d.oddsColumn} of the relation says`
    }.${
      d.reach === 'direct'
        ? ' Only direct ties count: what lies beyond them is taken to say nothing, and the ties of one record to be independent of each other.'
        : ' Ties of ties count too.'
    }${d.maxTies === undefined ? '' : ` ${boundOf(d.maxTies, secret)}`}`,
  words: (d) =>
    `Records in the relation "${d.relation}" are tied with an odds ratio of at most ${d.oddsColumn ? 'what the table says' : oddsText(d.oddsRatio)}; who is tied to whom is known to the attacker.${pullWords(d)}${d.reach === 'direct' ? ` ${directAssumption.independent}` : ''}`,
  records: {
    graph: tiesGraph,
    reach: (d) => d.reach,
    pull: (d) => d.pull && d.column,
    limit: (d) => d.maxTies,
    actual: (d) => d,
  },
  tuples: { relation: (d) => d.relation, ties: tupleTies, words: tupleWords },
};

/** Between records maxTies is kept by not using some, never by hoping. */
const boundOf = (most: number, secret: SecretKind) =>
  secret === 'edge'
    ? `Nobody has more than ${most} ties.`
    : `Records are left out of every answer, by a rule that looks at the ties only, until no record that is used is tied to more than ${most} others that are.`;

/** Number of ties of a relation, as the table lists them. */
export const countTies = (engine: Snapshot, relation: string): Promise<number> =>
  countStructure(engine, { sql: `SELECT c0 FROM ${relationView(relation)}`, values: [] });

/** Ties from an edge table: friends, kin, contacts. Both ends must be names in the unit column. */
async function tiesGraph(
  dependence: TiesDependence,
  { policy, records, engine, room = unlimitedMemory }: GraphSource,
): Promise<FactorGraph> {
  if (policy.protect.unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'Ties name records, but no column says how the records are named.',
      'Add unit: COLUMN under protect:.',
    );
  const view = relationView(dependence.relation);
  const extra = dependence.oddsColumn === undefined ? '' : ', odds';
  // A symmetric relation lists every tie both ways round, with one strength.
  const once = policy.relations.get(dependence.relation)?.symmetric ? ' WHERE c0 < c1' : '';
  const statement = { sql: `SELECT c0, c1${extra} FROM ${view}${once}`, values: [] };
  const most = await countStructure(engine, statement);
  room.require(records.bytes + 24 * most + graphBytes(records.count, 2 * most));
  const left = new Uint32Array(most);
  const right = new Uint32Array(most);
  const odds = dependence.oddsColumn === undefined ? strength(dependence.oddsRatio) : new Float64Array(most);
  let size = 0;
  for await (const block of readBlocks(engine, statement)) {
    const ends = [left, right].map((list, c) => {
      const into = list.subarray(size, size + block.rows);
      records.namedAll(new NameColumn(block, c), block.rows, into);
      return into;
    });
    if (ends.some((list) => list.includes(noName)))
      throw new Fault(
        'DATA_MALFORMED',
        `The ties of relation "${dependence.relation}" name records that are not in the data.`,
        'Every end of a tie must be a value of the unit column; remove the others from the table.',
      );
    // A tie of a record with itself is none: `fromPairs` leaves it out.
    const [a, b] = [ends[0]!, ends[1]!];
    if (typeof odds !== 'number')
      for (let r = 0; r < block.rows; r++) odds[size + r] = a[r] === b[r] ? 0 : readOdds(block.columns[2]![r], dependence);
    size += block.rows;
  }
  return fromPairs(
    records.count,
    left.subarray(0, size),
    right.subarray(0, size),
    typeof odds === 'number' ? odds : odds.subarray(0, size),
  );
}

/** The engine reads the strengths as doubles, at most one rounding away from what was written: take the next larger one. */
function readOdds(cell: unknown, dependence: TiesDependence): number {
  const ratio = Number(cell);
  if (!(ratio >= 1))
    throw new Fault(
      'DATA_MALFORMED',
      `The odds ratios of relation "${dependence.relation}" must be numbers of at least 1.`,
      'Write 1 for strangers and inf for copies.',
    );
  return strength(Number.isInteger(ratio) ? ratio : nextUp(ratio));
}
