import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNow } from '../../../test/now.js';
import {
  allGraphs,
  analyse,
  bit,
  counted,
  counter,
  directed,
  type GraphWorld,
  graphFrom,
  ladderWidths,
  loadTuples,
  nodes,
  personSteps,
  residualIn,
  rewired,
  slotsOf,
  toggled,
  undirected,
  withoutHubs,
} from '../../../test/small-graphs.js';
import { compare, divide, multiply, rational, zero } from '../../base/exact/rational.js';
import { pure } from '../../privacy/mechanism/budget-share.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import { everyRecord, type RecordClass, tuplesIn } from '../../privacy/mechanism/record-class.js';
import { cumulate, tieDegreeSensitivity } from './degrees/distribution.js';
import { degreeCounts } from './degrees/projection.js';
import { exactAnswer } from './exact-answer.js';
import { readResidualLadder } from './pattern-ladder.js';
import { maxPerPerson } from './per-person.js';
import type { PatternAnalysis } from './query/analyse.js';
import { type PatternSecret, personSecret, tupleSecret } from './secret.js';
import { offersFor, type PatternMechanism } from './strategies/strategies.js';
import { personLadder, truncatedCount } from './strategies/truncated-noise.js';

/** Exhaustive check of the sensitivity to a person or a tuple on every small graph with self-ties, against the planned noise. */
const onPairs = [
  '3-stars', '4-cycles', 'edges', '2-paths', 'q(x, y) :- R(x, y)', 'q(x) :- R(x, y)', 'triangles', 'q() :- R(x, y), R(y, z), R(z, x)',
  "q(y) :- R('0', x), R(x, y)", "q(x, y) :- R('0', x), R('1', y), x != y", 'q() :- R(x, y), R(z, w)',
]; // biome-ignore format: a list
const withLoops = ['q(x) :- R(x, x)', 'q(x, y) :- R(x, x), R(x, y)', 'q(x, y) :- R(x, x), R(y, y)', "q() :- R('0', '0'), R('0', x)", 'q(x, y) :- R(x, y), R(y, x), R(x, x), x != y']; // biome-ignore format: one line
const cases: readonly (readonly [kind: string, text: string, world: GraphWorld])[] = [
  ...onPairs.map((text) => ['a symmetric relation', text, undirected] as const),
  ...[...onPairs.slice(2), ...withLoops].map((text) => ['a directed relation', text, directed] as const),
  ...['q(x, y) :- R(x, y)', 'triangles', 'q() :- R(x, y), R(y, z)'].map(
    (text) => ['a directed relation read both ways', `%symmetric R\n${analyse(directed, text).text}`, directed] as const,
  ),
];

/** Largest change of a statistic of a graph. */
function farthest(world: GraphWorld, figure: readonly number[], neighbours: typeof toggled): number {
  let most = 0;
  for (let g = 0; g < figure.length; g++)
    for (const h of neighbours(world, g)) most = Math.max(most, Math.abs(figure[g]! - figure[h]!));
  return most;
}
function brokenLadders(
  world: GraphWorld,
  counts: readonly number[],
  widths: readonly number[][],
  neighbours: typeof toggled,
): number {
  let broken = 0;
  for (let g = 0; g < counts.length; g++)
    for (const h of neighbours(world, g)) {
      if (Math.abs(counts[g]! - counts[h]!) > widths[g]![0]!) broken++;
      if (personSteps.some((t) => widths[h]![t]! > widths[g]![t + 1]!)) broken++;
    }
  return broken;
}

/** Mechanism a strategy would draw from, at epsilon 1. */
const drawnBy = (a: PatternAnalysis, hidden: PatternSecret, name: PatternMechanism, degree = 1): Mechanism =>
  offersFor({ analysis: a, hidden, budgetShare: pure(rational(1)), degree }).find((o) => o.candidate.mechanism === name)!.drawn!
    .mechanisms[0]!;
/** Sign of the reserved cost of a class less the privacy loss of a record that moves the answer by `moved`. */
function left({ distribution, cost }: Mechanism, record: RecordClass, moved: number): number {
  const loss =
    distribution.kind === 'laplace' ? divide(rational(moved), distribution.scale) : distribution.kind === 'ladder' ? multiply(rational(2 * moved), distribution.decay) : undefined; // biome-ignore format: one line
  return compare(cost.perRecord.get(record) ?? zero, loss!);
}

describe('every small graph, self-ties included', () => {
  it.each(cases)('one tuple or one person moves the answer by no more than its sensitivity in %s: %j', (_kind, text, world) => {
    const { a, tuples, count, counts } = counted(world, text);
    const most = farthest(world, counts, toggled);
    expect(most).toBeLessThanOrEqual(Number(a.bounds.globalSensitivity));
    expect(most).toBeGreaterThan(0);
    expect(left(drawnBy(a, tupleSecret(a), 'laplace'), tuplesIn('R'), most)).toBeGreaterThanOrEqual(0);
    const rewiring = farthest(world, counts, rewired);
    expect(rewiring).toBeLessThanOrEqual(Number(maxPerPerson(a, world.n - 1)));
    expect(left(drawnBy(a, personSecret(a), 'laplace'), everyRecord, rewiring)).toBeGreaterThanOrEqual(0);
    for (const degree of [1, 2]) {
      const widths = tuples.map((t) => ladderWidths(personLadder(graphFrom(world, t), maxPerPerson(a, degree), degree, world.n)));
      const kept = tuples.map((t) => count(withoutHubs(world.n, t, degree)));
      expect(brokenLadders(world, kept, widths, rewired)).toBe(0);
      // A person is one step of an intact ladder.
      expect(left(drawnBy(a, personSecret(a), 'truncation-ladder', degree), everyRecord, 1)).toBe(0);
    }
  });

  it.each(cases)('the residual ladder bounds the answer in %s: %j', (_kind, text, world) => {
    const { a, counts, tuples } = counted(world, text);
    const residual = residualIn(a, world.n);
    expect(brokenLadders(world, counts, tuples.map((t) => ladderWidths(residual(t))), toggled)).toBe(0); // biome-ignore format: one line
    expect(left(drawnBy(a, tupleSecret(a), 'residual-ladder'), tuplesIn('R'), 1)).toBe(0);
  });

  it.each([directed, undirected])('one tie moves the degrees by no more than their sensitivity', (world) => {
    const { n } = world;
    const sensitivity = tieDegreeSensitivity(world.relation.symmetric);
    const degrees = counted(world, 'edges').tuples.map((t) => {
      const own = nodes(n).map((v) => nodes(n).filter((w) => w !== v && t & bit(n, v, w)).length);
      return degreeCounts(own, n, n - 1);
    });
    const difference = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, d) => sum + Math.abs(x - b[d]!), 0);
    let [histogram, cumulative] = [0, 0];
    for (let g = 0; g < degrees.length; g++)
      for (const h of toggled(world, g)) {
        histogram = Math.max(histogram, difference(degrees[g]!, degrees[h]!));
        cumulative = Math.max(cumulative, difference(cumulate(degrees[g]!), cumulate(degrees[h]!)));
      }
    expect({ histogram, cumulative }).toEqual({
      histogram: Number(sensitivity.histogram.l1),
      cumulative: Number(sensitivity.cumulative.l1),
    });
  });

  it('the sensitivity is exceeded by a symmetric relation that keeps self-ties (planted fault)', () => {
    const { a, counts } = counted(undirected, 'q(x, y) :- R(x, y)', true);
    expect(farthest(undirected, counts, rewired)).toBe(Number(maxPerPerson(a, undirected.n - 1)) + 1);
  });

  it('a symmetric pattern with self-ties is refused, at no cost', () => {
    for (const text of [...withLoops, '%symmetric R\nq(x) :- R(x, x)'])
      expect(() => analyse(text.startsWith('%') ? directed : undirected, text)).toThrow(/Nobody is tied to themselves/);
  });
});

describe('the counting engine', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fugu-small-'));
    writeFileSync(join(folder, 'people.csv'), 'id\n0\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([directed, undirected])('counts of the engine equal the definition, by kernel and by SQL', async (world) => {
    for (const g of [allGraphs(world) - 1, 0b101101111]) {
      const table = join(folder, 'ties.csv');
      // A self-tie is one in any spelling.
      writeFileSync(table, `a,b\n${slotsOf(world, g).map(([i, j]) => `${i},"${i === j ? `${j}.0\t` : j}"\n`).join('')}`); // biome-ignore format: one line
      const { symmetric } = world.relation;
      const engine = await openNow({
        source: join(folder, 'people.csv'),
        relations: [{ name: 'R', table, columns: ['a', 'b'], symmetric }],
      });
      for (const [, text] of cases.filter(([, , w]) => w === world)) {
        const a = analyse(world, text);
        const tuples = loadTuples(world, slotsOf(world, g), a.pattern.closed.length > 0);
        const count = counter(a, world.n);
        expect((await exactAnswer(engine, a)).open(), text).toBe(BigInt(count(tuples)));
        expect((await truncatedCount(engine, a, 1)).open().count, text).toBe(BigInt(count(withoutHubs(world.n, tuples, 1))));
        expect(ladderWidths((await readResidualLadder(engine, a)).open()), text).toEqual(
          ladderWidths(residualIn(a, world.n)(tuples)),
        );
      }
      await engine.close();
    }
  });
});
