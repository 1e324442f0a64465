import { buildGraph, type Graph } from '../src/analysis/pattern/graph/csr.js';
import { residualLadderFrom } from '../src/analysis/pattern/pattern-ladder.js';
import { analysePatternText, type PatternAnalysis } from '../src/analysis/pattern/query/analyse.js';
import type { SensitivityLadder } from '../src/analysis/pattern/query/ladders.js';
import { type ResidualPart, residualParts, residualTerms } from '../src/analysis/pattern/query/residual.js';
import type { Relation } from '../src/policy/policy.js';

/**
 * Every small graph with self-loops, and the count of a pattern by its definition alone. A graph is the content of a file;
 * `load` is the engine's view of it (every-small-graph.test.ts checks it).
 */
export interface GraphWorld {
  readonly n: number;
  readonly slots: readonly (readonly [number, number])[];
  readonly relation: Relation;
}
const relation = (symmetric: boolean, domain: number): Relation => ({
  name: 'R',
  table: 'ties.csv',
  columns: ['a', 'b'],
  domain,
  symmetric,
  private: true,
});
export const directed: GraphWorld = {
  n: 3,
  slots: [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => [i, j] as const)),
  relation: relation(false, 3),
};
export const undirected: GraphWorld = {
  n: 4,
  slots: [0, 1, 2, 3].flatMap((i) => [0, 1, 2, 3].slice(i).map((j) => [i, j] as const)),
  relation: relation(true, 4),
};
export const allGraphs = ({ slots }: GraphWorld): number => 1 << slots.length;
export const slotsOf = ({ slots }: GraphWorld, g: number) => slots.filter((_, s) => g & (1 << s));

/** A set of tuples: bit i n + j means that i is tied to j. */
export const bit = (n: number, i: number, j: number): number => 1 << (i * n + j);

/** The tuples of a relation as goals see them; `loops`: also where it is symmetric. */
export function loadTuples(
  { n, relation: { symmetric } }: GraphWorld,
  pairs: readonly (readonly [number, number])[],
  closed: boolean,
  loops = false,
): number {
  let tuples = 0;
  for (const [i, j] of pairs) {
    if (i === j && (symmetric || closed) && !loops) continue;
    tuples |= bit(n, i, j);
    if (symmetric || closed) tuples |= bit(n, j, i);
  }
  return tuples;
}
export const nodes = (n: number) => Array.from({ length: n }, (_, v) => v);
const others = (n: number, tuples: number, v: number): number =>
  nodes(n).filter((w) => w !== v && tuples & (bit(n, v, w) | bit(n, w, v))).length;
export const withoutHubs = (n: number, tuples: number, degree: number): number =>
  nodes(n)
    .filter((v) => others(n, tuples, v) > degree)
    .reduce((left, v) => nodes(n).reduce((rest, w) => rest & ~bit(n, v, w) & ~bit(n, w, v), left), tuples);

interface Assignment {
  readonly key: string;
  readonly needs: number;
}
/** Definition of the pattern: every assignment of the symbols of its goals, the tuples it needs, and its value in `by`. */
function assignments({ pattern: q }: PatternAnalysis, n: number, part: readonly number[], by: readonly number[]): Assignment[] {
  const goals = part.map((g) => q.goals[g]!.symbols);
  const symbols = [...new Set(goals.flat())].filter((s) => s >= q.constants.length);
  const found: Assignment[] = [];
  const walk = (at: ReadonlyMap<number, number>): void => {
    const next = symbols[at.size];
    if (next !== undefined) {
      for (let v = 0; v < n; v++) walk(new Map(at).set(next, v));
      return;
    }
    const value = (s: number) => (s < q.constants.length ? Number(q.constants[s]) : at.get(s)!);
    const here = (s: number) => s < q.constants.length || at.has(s);
    if (q.unequal.some(([a, b]) => here(a) && here(b) && value(a) === value(b))) return;
    const needs = goals.reduce((mask, [a, b]) => mask | bit(n, value(a!), value(b!)), 0);
    found.push({ key: by.map(value).join(), needs });
  };
  walk(new Map());
  return found;
}
const met = (list: readonly Assignment[], tuples: number) => list.filter(({ needs }) => (tuples & needs) === needs);
/** Distinct bindings of the head. */
export function counter(a: PatternAnalysis, n: number): (tuples: number) => number {
  const all = assignments(a, n, [...a.pattern.goals.keys()], a.pattern.head);
  return (tuples) => new Set(met(all, tuples).map(({ key }) => key)).size / Number(a.divisor);
}

/** Everything that may take the place of one person's ties, theirs to themselves too. */
export function* rewired({ n, slots }: GraphWorld, g: number): Generator<number> {
  for (let v = 0; v < n; v++) {
    const mine = slots.reduce((mask, [i, j], s) => (i === v || j === v ? mask | (1 << s) : mask), 0);
    for (let sub = mine; ; sub = (sub - 1) & mine) {
      yield (g & ~mine) | sub;
      if (sub === 0) break;
    }
  }
}
export function* toggled({ slots }: GraphWorld, g: number): Generator<number> {
  for (let s = 0; s < slots.length; s++) yield g ^ (1 << s);
}
export const personSteps = [0, 1, 2, 3];
export const analyse = (world: GraphWorld, text: string): PatternAnalysis =>
  analysePatternText(text, { relations: new Map([['R', world.relation]]) });
/** A pattern, and the stored count of every graph. */
export function counted(world: GraphWorld, text: string, loops = false) {
  const a = analyse(world, text);
  const closed = a.pattern.closed.length > 0;
  const tuples = Array.from({ length: allGraphs(world) }, (_, g) => loadTuples(world, slotsOf(world, g), closed, loops));
  const count = counter(a, world.n);
  return { a, tuples, count, counts: tuples.map(count) };
}
/** The residual ladder of a pattern in any set of tuples; where everything is fixed there is one way, as in pattern-ladder.ts. */
export function residualIn(a: PatternAnalysis, n: number): (tuples: number) => SensitivityLadder {
  const parts = residualParts(a.pattern);
  const lists = new Map(parts.map((p) => [p, assignments(a, n, p.part, p.boundary)]));
  const free = ({ part, boundary }: ResidualPart) =>
    new Set(part.flatMap((g) => a.pattern.goals[g]!.symbols).filter((s) => s >= a.pattern.constants.length)).size >
    boundary.length;
  return (tuples) => {
    const terms = residualTerms(parts, (part) => {
      if (!free(part)) return 1n;
      const groups = new Map<string, number>();
      for (const { key } of met(lists.get(part)!, tuples)) groups.set(key, (groups.get(key) ?? 0) + 1);
      return BigInt(Math.max(0, ...groups.values()));
    });
    return residualLadderFrom(a, terms);
  };
}
export const ladderWidths = ({ width }: SensitivityLadder) => [...personSteps, personSteps.length].map((t) => Number(width(t)));

/** A set of tuples as the product reads it. */
export function graphFrom({ n }: GraphWorld, tuples: number): Graph {
  const pairs = nodes(n).flatMap((i) => nodes(n).flatMap((j) => (tuples & bit(n, i, j) ? [[i, j] as const] : [])));
  return buildGraph(n, Uint32Array.from(pairs, ([i]) => i), Uint32Array.from(pairs, ([, j]) => j)); // biome-ignore format: one line
}
