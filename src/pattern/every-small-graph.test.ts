import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngine } from '../engine/open.js';
import type { Relation } from '../policy/policy.js';
import { residualOf } from './counted-ladder.js';
import { residualLadderOf } from './data-ladder.js';
import { cumulate, tieEffect } from './degrees/distribution.js';
import { degreeCounts } from './degrees/projection.js';
import { exactAnswer } from './exact-answer.js';
import { buildGraph } from './graph/csr.js';
import { perPerson } from './per-person.js';
import { analysePattern, type PatternAnalysis } from './query/analyse.js';
import type { Ladder } from './query/ladders.js';
import { type ResidualPart, residualParts, residualTerms } from './query/residual.js';
import { personLadder, truncated } from './truncated.js';

/**
 * What a person or a tuple can move, tried on every small graph with ties to oneself, against what noise is made for. A graph is what a file says; `load` is
 * what the engine makes of it (held to it below).
 */
interface World {
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
const directed: World = {
  n: 3,
  slots: [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => [i, j] as const)),
  relation: relation(false, 3),
};
const undirected: World = {
  n: 4,
  slots: [0, 1, 2, 3].flatMap((i) => [0, 1, 2, 3].slice(i).map((j) => [i, j] as const)),
  relation: relation(true, 4),
};
const graphsOf = ({ slots }: World): number => 1 << slots.length;
const slotsOf = ({ slots }: World, g: number) => slots.filter((_, s) => g & (1 << s));

/** A set of tuples: bit i n + j says that i is tied to j. */
const bit = (n: number, i: number, j: number): number => 1 << (i * n + j);

/** The tuples of a relation as goals see them; `loops`: also where it is symmetric. */
function load(
  { n, relation: { symmetric } }: World,
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
const nodes = (n: number) => Array.from({ length: n }, (_, v) => v);
const others = (n: number, tuples: number, v: number): number =>
  nodes(n).filter((w) => w !== v && tuples & (bit(n, v, w) | bit(n, w, v))).length;
const withoutHubs = (n: number, tuples: number, degree: number): number =>
  nodes(n)
    .filter((v) => others(n, tuples, v) > degree)
    .reduce((left, v) => nodes(n).reduce((rest, w) => rest & ~bit(n, v, w) & ~bit(n, w, v), left), tuples);

interface Assignment {
  readonly key: string;
  readonly needs: number;
}
/** The pattern's own definition: every assignment of the symbols of its goals, the tuples it needs, and what it is on `by`. */
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
function counter(a: PatternAnalysis, n: number): (tuples: number) => number {
  const all = assignments(a, n, [...a.pattern.goals.keys()], a.pattern.head);
  return (tuples) => new Set(met(all, tuples).map(({ key }) => key)).size / Number(a.divisor);
}

/** Everything that may take the place of one person's ties, theirs to themselves too. */
function* rewired({ n, slots }: World, g: number): Generator<number> {
  for (let v = 0; v < n; v++) {
    const mine = slots.reduce((mask, [i, j], s) => (i === v || j === v ? mask | (1 << s) : mask), 0);
    for (let sub = mine; ; sub = (sub - 1) & mine) {
      yield (g & ~mine) | sub;
      if (sub === 0) break;
    }
  }
}
function* toggled({ slots }: World, g: number): Generator<number> {
  for (let s = 0; s < slots.length; s++) yield g ^ (1 << s);
}
/** The farthest that a figure of a graph moves. */
function farthest(world: World, figure: readonly number[], neighbours: typeof toggled): number {
  let most = 0;
  for (let g = 0; g < figure.length; g++)
    for (const h of neighbours(world, g)) most = Math.max(most, Math.abs(figure[g]! - figure[h]!));
  return most;
}
const steps = [0, 1, 2, 3];
function brokenLadders(world: World, counts: readonly number[], widths: readonly number[][], neighbours: typeof toggled): number {
  let broken = 0;
  for (let g = 0; g < counts.length; g++)
    for (const h of neighbours(world, g)) {
      if (Math.abs(counts[g]! - counts[h]!) > widths[g]![0]!) broken++;
      if (steps.some((t) => widths[h]![t]! > widths[g]![t + 1]!)) broken++;
    }
  return broken;
}

const analyse = (world: World, text: string): PatternAnalysis =>
  analysePattern(text, { relations: new Map([['R', world.relation]]) });
const onPairs = [
  '3-stars', '4-cycles', 'edges', '2-paths', 'q(x, y) :- R(x, y)', 'q(x) :- R(x, y)', 'triangles', 'q() :- R(x, y), R(y, z), R(z, x)',
  "q(y) :- R('0', x), R(x, y)", "q(x, y) :- R('0', x), R('1', y), x != y", 'q() :- R(x, y), R(z, w)',
]; // biome-ignore format: a list
const withLoops = ['q(x) :- R(x, x)', 'q(x, y) :- R(x, x), R(x, y)', 'q(x, y) :- R(x, x), R(y, y)', "q() :- R('0', '0'), R('0', x)", 'q(x, y) :- R(x, y), R(y, x), R(x, x), x != y']; // biome-ignore format: one line
const cases: readonly (readonly [kind: string, text: string, world: World])[] = [
  ...onPairs.map((text) => ['a symmetric relation', text, undirected] as const),
  ...[...onPairs.slice(2), ...withLoops].map((text) => ['a directed relation', text, directed] as const),
  ...['q(x, y) :- R(x, y)', 'triangles', 'q() :- R(x, y), R(y, z)'].map(
    (text) => ['a directed relation read both ways', `%symmetric R\n${analyse(directed, text).text}`, directed] as const,
  ),
];

/** A pattern, and what is stored of every graph with its count. */
function counted(world: World, text: string, loops = false) {
  const a = analyse(world, text);
  const closed = a.pattern.closed.length > 0;
  const tuples = Array.from({ length: graphsOf(world) }, (_, g) => load(world, slotsOf(world, g), closed, loops));
  const count = counter(a, world.n);
  return { a, tuples, count, counts: tuples.map(count) };
}
/** The residual ladder of a pattern in any set of tuples; where everything is fixed there is one way, as in data-ladder.ts. */
function residualIn(a: PatternAnalysis, n: number): (tuples: number) => Ladder {
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
    return residualOf(a, terms);
  };
}
const widthsOf = ({ width }: Ladder) => [...steps, steps.length].map((t) => Number(width(t)));

describe('over every small graph, ties to oneself included,', () => {
  it.each(cases)('in %s, %j moves by no more than one tuple and one person may', (_kind, text, world) => {
    const { a, tuples, count, counts } = counted(world, text);
    const most = farthest(world, counts, toggled);
    expect(most).toBeLessThanOrEqual(Number(a.bounds.globalSensitivity));
    expect(most).toBeGreaterThan(0);
    expect(farthest(world, counts, rewired)).toBeLessThanOrEqual(Number(perPerson(a, world.n - 1)));
    for (const degree of [1, 2]) {
      const widths = tuples.map((t) => {
        const pairs = nodes(world.n).flatMap((i) =>
          nodes(world.n).flatMap((j) => (t & bit(world.n, i, j) ? [[i, j] as const] : [])),
        );
        const graph = buildGraph(world.n, Uint32Array.from(pairs, ([i]) => i), Uint32Array.from(pairs, ([, j]) => j)); // biome-ignore format: one line
        return widthsOf(personLadder(graph, perPerson(a, degree), degree, world.n));
      });
      const kept = tuples.map((t) => count(withoutHubs(world.n, t, degree)));
      expect(brokenLadders(world, kept, widths, rewired)).toBe(0);
    }
  });

  it.each([...onPairs.slice(2, 5), ...withLoops])('the residual ladder of %j holds in a directed relation', (text) => {
    const { a, counts, tuples } = counted(directed, text);
    const residual = residualIn(a, directed.n);
    expect(brokenLadders(directed, counts, tuples.map((t) => widthsOf(residual(t))), toggled)).toBe(0); // biome-ignore format: one line
  });

  it.each([directed, undirected])('degrees move by no more than one tie may', (world) => {
    const { n } = world;
    const effect = tieEffect(world.relation.symmetric);
    const degrees = counted(world, 'edges').tuples.map((t) => {
      const own = nodes(n).map((v) => nodes(n).filter((w) => w !== v && t & bit(n, v, w)).length);
      return degreeCounts(own, n, n - 1);
    });
    const apart = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, d) => sum + Math.abs(x - b[d]!), 0);
    let [histogram, cumulative] = [0, 0];
    for (let g = 0; g < degrees.length; g++)
      for (const h of toggled(world, g)) {
        histogram = Math.max(histogram, apart(degrees[g]!, degrees[h]!));
        cumulative = Math.max(cumulative, apart(cumulate(degrees[g]!), cumulate(degrees[h]!)));
      }
    expect({ histogram, cumulative }).toEqual({ histogram: effect.histogram, cumulative: effect.cumulative });
  });

  it('a symmetric relation that kept ties to oneself would move farther: the planted twin', () => {
    const { a, counts } = counted(undirected, 'q(x, y) :- R(x, y)', true);
    expect(farthest(undirected, counts, rewired)).toBe(Number(perPerson(a, undirected.n - 1)) + 1);
  });

  it('a symmetric pattern that asks for ties to oneself is refused, and nothing is spent', () => {
    for (const text of [...withLoops, '%symmetric R\nq(x) :- R(x, x)'])
      expect(() => analyse(text.startsWith('%') ? directed : undirected, text)).toThrow(/Nobody is tied to themselves/);
  });
});

describe('the engine', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fugu-small-'));
    writeFileSync(join(folder, 'people.csv'), 'id\n0\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([directed, undirected])('counts what the definition counts, by kernel and by SQL', async (world) => {
    for (const g of [graphsOf(world) - 1, 0b101101111]) {
      const table = join(folder, 'ties.csv');
      // A tie to oneself is one in whatever spelling.
      writeFileSync(table, `a,b\n${slotsOf(world, g).map(([i, j]) => `${i},"${i === j ? `${j}.0\t` : j}"\n`).join('')}`); // biome-ignore format: one line
      const { symmetric } = world.relation;
      const engine = await openEngine({
        source: join(folder, 'people.csv'),
        relations: [{ name: 'R', table, columns: ['a', 'b'], symmetric }],
      });
      for (const [, text] of cases.filter(([, , w]) => w === world)) {
        const a = analyse(world, text);
        const tuples = load(world, slotsOf(world, g), a.pattern.closed.length > 0);
        const count = counter(a, world.n);
        expect((await exactAnswer(engine, a)).open(), text).toBe(BigInt(count(tuples)));
        expect((await truncated(engine, a, 1)).open().count, text).toBe(BigInt(count(withoutHubs(world.n, tuples, 1))));
        expect(widthsOf((await residualLadderOf(engine, a)).open()), text).toEqual(widthsOf(residualIn(a, world.n)(tuples)));
      }
      await engine.close();
    }
  });
});
