import { describe, expect, it } from 'vitest';
import { schemaFromText } from './analyse.js';
import { type BoundPattern, bindPattern } from './bind.js';
import {
  choose,
  cliqueLadder,
  diamondLadder,
  residualLadder,
  type SensitivityLadder,
  starLadder,
  triangleLadder,
  truncationLadder,
} from './ladders.js';
import { parsePattern } from './parse.js';
import { residualParts, residualTerms } from './residual.js';
import { answerBounds } from './sensitivity.js';
import { shortcut } from './shortcut.js';

/** Every simple undirected graph on five nodes as ten bits. */
const n = 5;
const slots: [number, number][] = [];
for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) slots.push([i, j]);
const graphs = 1 << slots.length;
const slotOf = new Map(slots.map(([i, j], s) => [`${i},${j}`, s]));
const joined = (g: number, i: number, j: number): boolean => (g & (1 << slotOf.get(i < j ? `${i},${j}` : `${j},${i}`)!)) !== 0;
const nodes = [...Array(n).keys()];
const near = (g: number, i: number) => nodes.filter((j) => j !== i && joined(g, i, j));
const common = (g: number, i: number, j: number) => nodes.filter((u) => u !== i && u !== j && joined(g, i, u) && joined(g, j, u));
const subsets = function* (items: readonly number[], k: number): Generator<number[]> {
  if (k === 0) yield [];
  else for (const [at, x] of items.entries()) for (const rest of subsets(items.slice(at + 1), k - 1)) yield [x, ...rest];
};
const cliques = (g: number, items: readonly number[], k: number) =>
  [...subsets(items, k)].filter((s) => [...subsets(s, 2)].every(([a, b]) => joined(g, a!, b!))).length;

interface Known {
  readonly name: string;
  readonly count: (g: number) => number;
  readonly ladder: (g: number) => SensitivityLadder;
}
const most = (g: number, f: (i: number, j: number) => number) => Math.max(...slots.map(([i, j]) => f(i, j)), 0 * g);
const clique = (k: number): Known => ({
  name: `${k}-cliques`,
  count: (g) => cliques(g, nodes, k),
  ladder: (g) =>
    cliqueLadder(
      k,
      BigInt(most(g, (i, j) => cliques(g, common(g, i, j), k - 2))),
      most(g, (i, j) => common(g, i, j).length),
      n,
    ),
});
const star = (k: number): Known => ({
  name: `${k}-stars`,
  count: (g) => nodes.reduce((sum, i) => sum + Number(choose(BigInt(near(g, i).length), k)), 0),
  ladder: (g) =>
    starLadder(
      k,
      slots.map(([i, j]) => {
        const x = Number(joined(g, i, j));
        return [near(g, i).length - x, near(g, j).length - x].sort((a, b) => b - a) as [number, number];
      }),
      n,
    ),
});
const known: readonly Known[] = [
  {
    name: 'triangles',
    count: (g) => cliques(g, nodes, 3),
    ladder: (g) =>
      triangleLadder(
        slots
          .map(([i, j]) => {
            const a = common(g, i, j).length;
            return { common: a, single: near(g, i).length + near(g, j).length - 2 * a - 2 * Number(joined(g, i, j)) };
          })
          .filter((p) => p.common > 0),
        n,
      ),
  },
  star(2),
  star(3),
  clique(3),
  clique(4),
  clique(5),
  {
    name: 'diamonds',
    count: (g) =>
      slots.reduce((sum, [i, j]) => sum + (joined(g, i, j) ? Number(choose(BigInt(common(g, i, j).length), 2)) : 0), 0),
    ladder: (g) =>
      diamondLadder(
        BigInt(
          most(g, (i, j) => {
            const x = Number(joined(g, i, j));
            const shared = common(g, i, j);
            const fans = shared.reduce((s, u) => s + common(g, i, u).length + common(g, j, u).length - 2 * x, 0);
            return Number(choose(BigInt(shared.length), 2)) + fans;
          }),
        ),
        most(g, (i, j) => common(g, i, j).length),
        n,
      ),
  },
];

const steps = 8;
/** Violations of the two ladder conditions over all neighbours. */
function violations(
  counts: readonly number[],
  widths: readonly (readonly number[])[],
  neighbours: (g: number) => Iterable<number>,
): number {
  let wrong = 0;
  for (let g = 0; g < counts.length; g++)
    for (const h of neighbours(g)) {
      if (Math.abs(counts[g]! - counts[h]!) > widths[g]![0]!) wrong++;
      for (let t = 0; t + 1 < steps; t++) if (widths[h]![t]! > widths[g]![t + 1]!) wrong++;
    }
  return wrong;
}
const tabulate = (size: number, ladder: (g: number) => SensitivityLadder) =>
  Array.from({ length: size }, (_, g) => {
    const l = ladder(g);
    return Array.from({ length: steps }, (_, t) => Number(l.width(t)));
  });
function* toggles(g: number, bits: number): Generator<number> {
  for (let b = 0; b < bits; b++) yield g ^ (1 << b);
}

/** log of the ladder mechanism's probabilities of every integer within `reach` of zero. */
function logDistribution(centre: number, widths: readonly number[], epsilon: number, reach: number): Float64Array {
  const logProbabilities = new Float64Array(2 * reach + 1);
  const width = (t: number) => Math.max(1, widths[Math.min(t, steps - 1)]!);
  const rungs: number[] = [0];
  for (let u = 1; rungs.length <= 2 * reach; u++) for (let i = 0; i < width(u - 1); i++) rungs.push(u);
  let z = 1;
  for (let u = 1; u < 400; u++) z += 2 * width(u - 1) * Math.exp((-epsilon * u) / 2);
  for (let y = -reach; y <= reach; y++) logProbabilities[y + reach] = (-epsilon * rungs[Math.abs(y - centre)]!) / 2 - Math.log(z);
  return logProbabilities;
}

describe('the ladders, over all graphs on five nodes', () => {
  it.each(known.map((k) => [k.name, k] as const))('the ladder of %s holds without exception', (_name, { count, ladder }) => {
    const counts = Array.from({ length: graphs }, (_, g) => count(g));
    const widths = tabulate(graphs, ladder);
    expect(Math.max(...counts)).toBeGreaterThan(0);
    expect(violations(counts, widths, (g) => toggles(g, slots.length))).toBe(0);
  });

  it('the ladder of triangles gives a mechanism whose worst log ratio at epsilon 1 is below 1', () => {
    const { count, ladder } = known[0]!;
    const widths = tabulate(graphs, ladder);
    const distributions = widths.map((w, g) => logDistribution(count(g), w, 1, 40));
    let worst = 0;
    for (let g = 0; g < graphs; g++)
      for (const h of toggles(g, slots.length))
        for (let y = 0; y < 81; y++) worst = Math.max(worst, distributions[g]![y]! - distributions[h]![y]!);
    expect(worst).toBeLessThanOrEqual(1);
    expect(worst).toBeGreaterThan(0.5);
  });

  it('the check fails when a rung is left out', () => {
    const { count, ladder } = known[0]!;
    const counts = Array.from({ length: graphs }, (_, g) => count(g));
    const widths = tabulate(graphs, ladder).map((w) => w.map((x, t) => (t === 0 ? x : w[t - 1]!)));
    expect(violations(counts, widths, (g) => toggles(g, slots.length))).toBeGreaterThan(0);
  });

  it("the ladders are smooth bounds: S(G) <= e^beta S(G')", () => {
    const beta = 1 / 6;
    for (const { ladder } of known) {
      const widths = tabulate(graphs, ladder);
      const smooth = widths.map((w) => Math.max(...w.map((x, t) => x * Math.exp(-beta * t))));
      for (let g = 0; g < graphs; g += 3)
        for (const h of toggles(g, slots.length)) expect(smooth[h]! <= smooth[g]! * Math.exp(beta) * (1 + 1e-12)).toBe(true);
    }
  });

  it('the ladders of persons hold when all ties of one person change, for triangles and 2-stars', () => {
    const ties = nodes.map((v) => slots.reduce((mask, [i, j], s) => (i === v || j === v ? mask | (1 << s) : mask), 0));
    const rewired = function* (g: number): Generator<number> {
      for (const mask of ties)
        for (let sub = mask; ; sub = (sub - 1) & mask) {
          yield (g & ~mask) | sub;
          if (sub === 0) break;
        }
    };
    for (const degree of [1, 2, 3])
      for (const { count, perPerson } of [
        { count: known[0]!.count, perPerson: choose(BigInt(degree), 2) },
        { count: known[1]!.count, perPerson: choose(BigInt(degree), 2) + BigInt(degree) * choose(BigInt(degree - 1), 1) },
      ]) {
        const kept = (g: number) => {
          const gone = nodes.filter((v) => near(g, v).length > degree);
          return gone.reduce((left, v) => left & ~ties[v]!, g);
        };
        const counts = Array.from({ length: graphs }, (_, g) => count(kept(g)));
        const widths = tabulate(graphs, (g) => {
          const degrees = nodes.map((v) => near(g, v).length);
          return truncationLadder(perPerson, (t) => degrees.filter((d) => d >= degree - t && d <= degree + 1 + t).length, n);
        });
        expect(violations(counts, widths, rewired)).toBe(0);
      }
  });
});

describe('the residual ladder, over all directed graphs on four nodes', () => {
  const m = 4;
  const tuples: string[] = [];
  for (let i = 0; i < m; i++) for (let j = 0; j < m; j++) if (i !== j) tuples.push(`${i},${j}`);
  const bit = (a: number, b: number) => 1 << tuples.indexOf(`${a},${b}`);

  /** Every assignment of the symbols of `part`: the tuples it needs, and its key on `by`. Loops cannot occur here. */
  function needs(q: BoundPattern, part: readonly number[], by: readonly number[]): { key: number; mask: number }[] {
    const symbols = [...new Set(part.flatMap((g) => q.goals[g]!.symbols))];
    const found: { key: number; mask: number }[] = [];
    const assign = (at: Map<number, number>): void => {
      if (at.size < symbols.length) {
        for (let v = 0; v < m; v++) assign(new Map(at).set(symbols[at.size]!, v));
        return;
      }
      if (q.unequal.some(([a, b]) => at.has(a) && at.get(a) === at.get(b))) return;
      let mask = 0;
      for (const g of part) {
        const [a, b] = q.goals[g]!.symbols.map((s) => at.get(s)!) as [number, number];
        if (a === b) return;
        mask |= bit(a, b);
      }
      found.push({ key: by.reduce((k, s) => k * m + at.get(s)!, 0), mask });
    };
    assign(new Map());
    return found;
  }
  const largest = (list: { key: number; mask: number }[], g: number) => {
    const counts = new Uint16Array(m ** 4);
    let top = 0;
    for (const { key, mask } of list) if ((g & mask) === mask) top = Math.max(top, ++counts[key]!);
    return BigInt(top);
  };

  it.each([
    'triangles',
    '2-paths',
    '4-cycles',
    '3-stars',
    'q() :- R(x,y), R(y,z), R(z,x)',
    'q() :- R(x,y), R(z,w)',
    'q(z) :- R(x,y), R(y,z)',
  ])('the residual ladder of %s holds without exception', (name) => {
    const text = shortcut(name, 'R')?.text ?? name;
    const q = bindPattern(parsePattern(text), schemaFromText(text, m));
    const parts = residualParts(q);
    const lists = new Map(parts.map((p) => [p, needs(q, p.part, p.boundary)]));
    const all = needs(q, [...q.goals.keys()], q.head);
    const counts = Array.from(
      { length: 1 << tuples.length },
      (_, g) =>
        new Set(all.filter(({ mask }) => (g & mask) === mask).map((x) => (q.head.length === q.variables.length ? x : x.key)))
          .size,
    );
    const { globalSensitivity } = answerBounds(q);
    const widths = tabulate(counts.length, (g) => {
      const terms = residualTerms(parts, (p) => largest(lists.get(p)!, g));
      return residualLadder(terms.get(0)!, 1, 1n, globalSensitivity);
    });
    expect(violations(counts, widths, (g) => toggles(g, tuples.length))).toBe(0);
  });

  it('the residual ladder of an undirected pattern counts both directions of an edge', () => {
    const q = bindPattern(parsePattern(shortcut('triangles', 'R')!.text), schemaFromText('triangles', n, { symmetric: true }));
    const parts = residualParts(q);
    const counts = Array.from({ length: graphs }, (_, g) => cliques(g, nodes, 3));
    const widths = tabulate(graphs, (g) => {
      // Two goals left: common neighbours; one goal between fixed ends: one; none: one.
      const top = most(g, (i, j) => common(g, i, j).length);
      const terms = residualTerms(parts, (p) => (p.part.length === 2 ? BigInt(top) : g === 0 ? 0n : 1n));
      return residualLadder(terms.get(0)!, 2, 6n, answerBounds(q).globalSensitivity / 6n);
    });
    expect(violations(counts, widths, (g) => toggles(g, slots.length))).toBe(0);
  });
});
