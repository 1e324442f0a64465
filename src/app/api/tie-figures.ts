import { Fault } from '../../base/errors.js';
import { isDeepStrictEqual } from '../../base/platform/values.js';
import { tieKindOf } from '../../data/ties/kinds.js';
import { structureColumns } from '../../data/ties/record-ties.js';
import { readRecords } from '../../data/ties/records.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Dependence, Policy } from '../../policy/policy.js';
import { combine, type FactorGraph, untied } from '../../privacy/dependence/graph/factor-graph.js';
import { leakageCalculator as tiesOf } from '../../privacy/dependence/leakage.js';
import { withStewardData } from './steward-read.js';

/** Largest number of records whose ties are drawn or listed one by one. */
const mostRecords = 200_000;

interface DeclaredGraph {
  readonly index: number;
  readonly kind: string;
  readonly graph: FactorGraph;
}

/** Graph of each declared tie between records. The declaration assumes that an attacker knows it; still for the steward only. */
async function graphsOf(policy: Policy): Promise<{ readonly records: number; readonly declared: readonly DeclaredGraph[] }> {
  if (policy.protect.secret === 'edge') throw unsupported('The secret of this policy is a tie itself.');
  return withStewardData('ties drawn', policy.file, async (engine) => {
    const records = await readRecords(policy, engine, structureColumns(policy.dependence));
    if (records.count > mostRecords) throw unsupported(`There are more than ${mostRecords} records.`);
    const declared: DeclaredGraph[] = [];
    for (const [index, d] of policy.dependence.entries()) {
      const between = tieKindOf(d).records;
      const actual: Dependence | undefined = between && (between.actual ? between.actual(d) : d);
      if (!between || !actual) continue;
      declared.push({ index, kind: d.kind, graph: await between.graph(actual, { policy, records, engine }) });
    }
    return { records: records.count, declared };
  });
}

/** True if the number of records, or their ties, are for the steward only: exact figures about them are as private as the rows. */
export function hidesTies(policy: Policy): boolean {
  if (isAddRemove(policy) || [...policy.relations.values()].some((relation) => relation.private)) return true;
  return policy.dependence.some((d) => {
    const actual = tieKindOf(d).records?.actual;
    return actual !== undefined && !isDeepStrictEqual(actual(d), d);
  });
}

const unsupported = (why: string): Fault =>
  new Fault('QUERY_UNSUPPORTED', `${why} There is nothing to draw.`, 'GET /v1/policies/{policy}/check says what is declared.');

export interface LeakageByKind {
  readonly adversary: Policy['protect']['adversary'];
  /** Records by number of ties, and the worst leakage among them when every record spends a base. */
  readonly kinds: readonly {
    readonly name: string;
    readonly records: number;
    readonly leakage: readonly { readonly base: number; readonly leak: number }[];
  }[];
  /** Leakage of the largest group under group privacy, for the same bases. */
  readonly group: readonly { readonly base: number; readonly leak: number }[];
  readonly how: string;
}

const bases = [0.01, 0.05, 0.1, 0.2, 0.5, 1];
const classes: readonly (readonly [most: number, name: string])[] = [
  [0, 'no ties'],
  [1, '1 tie'],
  [3, '2 to 3 ties'],
  [7, '4 to 7 ties'],
  [15, '8 to 15 ties'],
  [31, '16 to 31 ties'],
  [Number.POSITIVE_INFINITY, '32 ties and more'],
];

/** Leakage of records, by their number of ties. Spends nothing. */
export async function leakageByKind(policy: Policy): Promise<LeakageByKind> {
  const { adversary } = policy.protect;
  const { records, declared } = await graphsOf(policy);
  const graph = declared.length > 0 ? combine(declared.map((d) => d.graph)) : untied(records);
  const subject = tiesOf(graph, adversary);
  const degree = degreesOf(graph);
  const answers = bases.map((base) => ({ base, found: subject.leakage(base) }));
  const kindOfRecord = Array.from({ length: records }, (_, r) => classes.findIndex(([most]) => degree[r]! <= most));
  return {
    adversary,
    kinds: classes.flatMap(([, name], k) => {
      const members = kindOfRecord.flatMap((kind, r) => (kind === k ? [r] : []));
      if (members.length === 0) return [];
      const worst = (perRecord: Float64Array) => members.reduce((most, r) => Math.max(most, perRecord[r]!), 0);
      return [
        { name, records: members.length, leakage: answers.map(({ base, found }) => ({ base, leak: worst(found.perRecord) })) },
      ];
    }),
    group: answers.map(({ base, found }) => ({ base, leak: found.group })),
    how: answers[0]!.found.method,
  };
}

/** Number of other members of all ties of each record, group by group. */
function degreesOf({ records, factors, start, member }: FactorGraph): Uint32Array {
  const degree = new Uint32Array(records);
  for (let f = 0; f < factors; f++)
    for (let p = start[f]!; p < start[f + 1]!; p++)
      if (member[p]! < records) degree[member[p]!]! += start[f + 1]! - start[f]! - 1;
  return degree;
}

export interface TieSample {
  readonly records: number;
  readonly ties: number;
  readonly shown: {
    /** Numbers made up for the drawing. A hidden variable that several records share (a household's leaning) is a node of its own. */
    readonly nodes: readonly { readonly id: number; readonly degree: number; readonly kind?: 'shared' }[];
    readonly edges: readonly {
      readonly a: number;
      readonly b: number;
      readonly kind: string;
      readonly index: number;
      readonly oddsRatio: number;
    }[];
  };
  readonly kinds: readonly { readonly kind: string; readonly index: number; readonly ties: number }[];
}

/** Groups larger than this are drawn as a star. */
const mostOfGroup = 8;

/** Part of the network for a drawing: the record with most ties and its surroundings, then records spread over all. Holds no names. */
export async function tieSample(policy: Policy, most: number): Promise<TieSample> {
  const { records, declared } = await graphsOf(policy);
  const all = declared.length > 0 ? combine(declared.map((d) => d.graph)) : untied(records);
  const degree = degreesOf(all);
  const chosen = sampled(all, degree, Math.min(most, records));
  const idOf = new Map([...chosen].map((record, id) => [record, id]));
  const shared: number[] = [];
  const edges = declared.flatMap((d) => {
    // Hidden nodes of one tie are independent of those of another.
    const ids = new Map(idOf);
    for (const node of sharedNodes(d.graph, idOf)) {
      ids.set(node, chosen.size + shared.length);
      shared.push(node);
    }
    return edgesAmong(d, ids);
  });
  return {
    records,
    ties: all.factors,
    shown: {
      nodes: [
        ...[...chosen].map((record, id) => ({ id, degree: degree[record]! })),
        ...shared.map((_, k) => ({ id: chosen.size + k, degree: 0, kind: 'shared' as const })),
      ],
      edges,
    },
    kinds: declared.map(({ kind, index, graph }) => ({ kind, index, ties: graph.factors })),
  };
}

function sampled(
  { records, nodes, nodeStart, incidence, factorOf, start, member }: FactorGraph,
  degree: Uint32Array,
  most: number,
): Set<number> {
  const chosen = new Set<number>();
  const around = (record: number) => {
    const queue = [record];
    for (let at = 0; at < queue.length && chosen.size < most; at++) {
      const u = queue[at]!;
      if (u < records) {
        if (chosen.has(u)) continue;
        chosen.add(u);
      }
      for (let k = nodeStart[u]!; k < nodeStart[u + 1]!; k++) {
        const f = factorOf[incidence[k]!]!;
        for (let p = start[f]!; p < start[f + 1]!; p++)
          if (member[p]! < nodes && !chosen.has(member[p]!) && queue.length < 4 * most) queue.push(member[p]!);
      }
    }
  };
  const hub = degree.reduce((best, d, r) => (d > degree[best]! ? r : best), 0);
  if (records > 0) around(hub);
  const step = Math.max(1, Math.floor(records / most));
  for (let offset = 0; offset < step && chosen.size < most; offset++)
    for (let r = offset; r < records && chosen.size < most; r += step) around(r);
  return chosen;
}

/** Hidden nodes with at least two drawn records. */
function sharedNodes({ records, factors, start, member }: FactorGraph, idOf: ReadonlyMap<number, number>): readonly number[] {
  const drawn = new Map<number, number>();
  for (let f = 0; f < factors; f++) {
    const members = Array.from(member.subarray(start[f]!, start[f + 1]!));
    const known = members.filter((node) => idOf.has(node)).length;
    for (const node of members) if (node >= records) drawn.set(node, (drawn.get(node) ?? 0) + known);
  }
  return [...drawn].filter(([, known]) => known >= 2).map(([node]) => node);
}

function edgesAmong({ kind, index, graph }: DeclaredGraph, idOf: ReadonlyMap<number, number>): TieSample['shown']['edges'] {
  const { factors, start, member, logOdds } = graph;
  const edges: { a: number; b: number; kind: string; index: number; oddsRatio: number }[] = [];
  for (let f = 0; f < factors; f++) {
    const ids: number[] = [];
    for (let p = start[f]!; p < start[f + 1]!; p++) {
      const id = idOf.get(member[p]!);
      if (id !== undefined) ids.push(id);
    }
    if (ids.length < 2) continue;
    // Rounded to the declared number: exp(log 10) is not exactly 10.
    const oddsRatio = Number(Math.exp(logOdds[start[f]!]!).toPrecision(12));
    const centres = ids.length > mostOfGroup ? 1 : ids.length;
    for (let i = 0; i < centres; i++)
      for (let j = i + 1; j < ids.length; j++) edges.push({ a: ids[i]!, b: ids[j]!, kind, index, oddsRatio });
  }
  return edges;
}
