import { describe, expect, it } from 'vitest';
import { fromNumber, parseRational, toNumber } from '../../base/exact/rational.js';
import { modelGraph } from '../../data/ties/factors.js';
import { informedBound } from '../../privacy/dependence/informed/informed.js';
import { enumerate } from '../../privacy/dependence/model/joint.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { beliefBudget } from '../../release/accountant/belief.js';
import { modelPosterior } from './posterior.js';

/** Repeatable and fast: the cases must be many, not secret. */
let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};
const pick = (n: number) => Math.floor(random() * n);

/** Two to four bits, pairwise tables between some of them; strong, weak and contrary ties, now and then a zero. */
function randomModel(): Model {
  const n = 2 + pick(3);
  const factors: { records: number[]; table: Float64Array }[] = [];
  for (let i = 0; i < n; i++) factors.push({ records: [i], table: Float64Array.of(random() + 0.02, random() + 0.02) });
  for (let i = 0; i < n; i++)
    for (let j = i + 1; j < n; j++)
      if (random() < 0.7)
        factors.push({
          records: [i, j],
          table: Float64Array.from({ length: 4 }, () => (random() < 0.03 ? 0 : Math.exp(4 * random() - 2))),
        });
  return { ids: Array.from({ length: n }, (_, i) => `r${i}`), values: Array.from({ length: n }, () => [0, 1]), factors };
}

/** The largest common base epsilon under which the calculus keeps every record's leakage within the budget. */
function baseFor(model: Model, epsilon: number): number {
  const n = model.ids.length;
  const graph = modelGraph(model, 'random', n, (id) => model.ids.indexOf(id));
  let [low, high] = [0, epsilon];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (Math.max(...informedBound(graph, new Float64Array(n).fill(middle)).leaks) <= epsilon) low = middle;
    else high = middle;
  }
  return low;
}

describe('a belief budget, spent through the calculus', () => {
  it('no attacker exceeds the budget, upward or downward, on random models with random knowledge, priors and outputs', () => {
    let worst = Number.NEGATIVE_INFINITY;
    let cases = 0;
    while (cases < 100_000) {
      const model = randomModel();
      const joint = tryEnumerate(model);
      if (!joint) continue;
      const low = 0.01 + 0.9 * random();
      const high = low + (0.99 - low) * (0.05 + 0.9 * random());
      const epsilon = toNumber(beliefBudget(fromNumber(low), fromNumber(high)).epsilon);
      const scale = 1 / baseFor(model, epsilon);
      const n = model.ids.length;
      for (let known = 0; known < 2 ** n; known++) {
        const target = pick(n);
        if ((known >> target) & 1) continue;
        for (let draw = 0; draw < 8; draw++) {
          const values = Array.from({ length: n }, () => pick(2));
          const output = (random() < 0.3 ? (random() < 0.5 ? -1 : n + 1) : random() * n) as number;
          for (const { prior, after } of beliefs(joint, target, known, values, output, scale)) {
            cases++;
            if (prior <= low) worst = Math.max(worst, after - high);
            if (prior >= high) worst = Math.max(worst, low - after);
          }
        }
      }
    }
    expect(cases).toBeGreaterThanOrEqual(100_000);
    expect(worst).toBeLessThan(1e-9);
    // And not by a wide margin either: the bound is nearly reached somewhere.
    expect(worst).toBeGreaterThan(-0.02);
  });

  it('the budget would be exceeded if the ties were ignored', () => {
    const twins: Model = {
      ids: ['a', 'b'],
      values: [
        [0, 1],
        [0, 1],
      ],
      factors: [{ records: [0, 1], table: Float64Array.of(0.8 * 0.99, 0.8 * 0.01, 0.2 * 0.01, 0.2 * 0.99) }],
    };
    const { epsilon, posterior } = beliefBudget(parseRational('0.21'), parseRational('0.5'));
    const ask = (scale: number) =>
      modelPosterior(twins, { about: 'a', query: 'sum', answer: [9], noise: { kind: 'laplace', scale } }).withTies[1]!;
    expect(ask(1 / toNumber(epsilon)).prior).toBeLessThan(0.21);
    expect(ask(1 / toNumber(epsilon)).posterior).toBeGreaterThan(toNumber(posterior) + 0.2);
    expect(ask(1 / baseFor(twins, toNumber(epsilon))).posterior).toBeLessThanOrEqual(toNumber(posterior));
  });

  it('the bound is tight: copies of one record reach the posterior to 1e-6', () => {
    const copies: Model = {
      ids: ['a', 'b'],
      values: [
        [0, 1],
        [0, 1],
      ],
      factors: [{ records: [0, 1], table: Float64Array.of(0.8, 0, 0, 0.2) }],
    };
    const { epsilon } = beliefBudget(parseRational('0.2'), parseRational('0.5'));
    const { withTies } = modelPosterior(copies, {
      about: 'a',
      query: 'sum',
      answer: [5],
      noise: { kind: 'laplace', scale: 1 / baseFor(copies, toNumber(epsilon)) },
    });
    expect(Math.abs(withTies[1]!.posterior - 0.5)).toBeLessThan(1e-6);
  });
});

function tryEnumerate(model: Model): ReturnType<typeof enumerate> | undefined {
  try {
    return enumerate(model);
  } catch {
    return undefined;
  }
}

/** Bayes on the sum, written out again here so that the test does not lean on the code it tests. */
function* beliefs(
  joint: ReturnType<typeof enumerate>,
  target: number,
  known: number,
  values: readonly number[],
  output: number,
  scale: number,
) {
  const n = joint.ids.length;
  const before = [0, 0];
  const after = [0, 0];
  for (let state = 0; state < 2 ** n; state++) {
    const bits = Array.from({ length: n }, (_, j) => (state >> (n - 1 - j)) & 1);
    if (bits.some((b, j) => (known >> j) & 1 && b !== values[j])) continue;
    const p = joint.probabilities[state]!;
    before[bits[target]!]! += p;
    after[bits[target]!]! += p * Math.exp(-Math.abs(output - bits.reduce((s, b) => s + b, 0)) / scale);
  }
  const total = before[0]! + before[1]!;
  if (!(total > 0)) return;
  for (const v of [0, 1]) yield { prior: before[v]! / total, after: after[v]! / (after[0]! + after[1]!) };
}
