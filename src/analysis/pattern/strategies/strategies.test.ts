import { describe, expect, it } from 'vitest';
import {
  analyse,
  counted,
  graphFrom,
  residualIn,
  rewired,
  toggled,
  undirected,
  withoutHubs,
} from '../../../../test/small-graphs.js';
import { divide, equal, multiply, type Rational, rational, toNumber } from '../../../base/exact/rational.js';
import { pure } from '../../../privacy/mechanism/budget-share.js';
import type { NoiseDistribution } from '../../../privacy/mechanism/distribution.js';
import { oneStep } from '../../../privacy/mechanism/local-mechanism.js';
import { type Mechanism, totalCostOf } from '../../../privacy/mechanism/mechanism.js';
import { chargedCost } from '../../../privacy/mechanism/mechanism-cost.js';
import { everyRecord, type RecordClass, tuplesIn } from '../../../privacy/mechanism/record-class.js';
import { sensitivityOn } from '../../../privacy/mechanism/sensitivity.js';
import { smoothDistribution, smoothScale } from '../../../privacy/mechanism/smooth-sensitivity.js';
import { shapeLadder } from '../pattern-ladder.js';
import { maxPerPerson } from '../per-person.js';
import { analysePatternText, type PatternAnalysis, schemaFromText } from '../query/analyse.js';
import type { SensitivityLadder } from '../query/ladders.js';
import { subgraphShape } from '../query/shape.js';
import { ownerSecret, type PatternSecret, personSecret, tupleSecret } from '../secret.js';
import { raceLevels } from './race-to-the-top.js';
import { offersFor, type PatternMechanism } from './strategies.js';
import { personLadder } from './truncated-noise.js';

const epsilon = rational(3, 4);
const degree = 2;
const people = undirected.n;

/** Input of a strategy's noise in one graph: the count, and the ladder of data-dependent noise. */
interface Reading {
  readonly count: number;
  readonly ladder?: SensitivityLadder;
}
type Reader = (a: PatternAnalysis, count: (tuples: number) => number) => (tuples: number) => Reading;
const alongShape: Reader = (a, count) => (t) => ({
  count: count(t),
  ladder: shapeLadder(graphFrom(undirected, t), subgraphShape(a.pattern)!, people),
});
const alongResidual: Reader = (a, count) => {
  const residual = residualIn(a, people);
  return (t) => ({ count: count(t), ladder: residual(t) });
};
/** Every strategy whose privacy loss can be compared with its cost on graphs; the others have their own tests below. */
const readers: Readonly<Record<Exclude<PatternMechanism, 'elastic' | 'algorithm-2.1' | 'r2t'>, Reader>> = {
  laplace: (_a, count) => (t) => ({ count: count(t) }),
  ladder: alongShape,
  smooth: alongShape,
  'residual-ladder': alongResidual,
  'residual-smooth': alongResidual,
  'truncation-ladder': (a, count) => (t) => ({
    count: count(withoutHubs(people, t, degree)),
    ladder: personLadder(graphFrom(undirected, t), maxPerPerson(a, degree), degree, people),
  }),
};

/** Log probability (or density) of every output, from the distribution alone. */
function logOf(distribution: NoiseDistribution, { count, ladder }: Reading): (output: number) => number {
  if (distribution.kind === 'laplace') return (o) => -Math.abs(o - count) / toNumber(distribution.scale);
  if (distribution.kind === 'smooth') {
    const scale = toNumber(smoothScale(distribution, ladder!, 64).low);
    return (o) => -Math.log(scale) - Math.log1p(((o - count) / scale) ** 4);
  }
  if (distribution.kind !== 'ladder') throw new RangeError(`no law is written down for ${distribution.kind}`);
  const decay = toNumber(distribution.decay);
  const width = (u: number) => Math.max(1, Number(ladder!.width(u)));
  let total = 1;
  for (let u = 1; u < 80 / decay; u++) total += 2 * width(u - 1) * Math.exp(-decay * u);
  const log = Math.log(total);
  return (o) => {
    let [rung, reach] = [0, 0];
    for (; reach < Math.abs(o - count); rung++) reach += width(rung);
    return -decay * rung - log;
  };
}
const outputs = Array.from({ length: 121 }, (_, i) => i - 60);

/** Largest privacy loss of any output of this distribution over all graphs that differ in one record. */
function worstLoss(
  distribution: NoiseDistribution,
  name: keyof typeof readers,
  text: string,
  neighbours: typeof toggled,
): number {
  const { a, tuples, count } = counted(undirected, text);
  const read = readers[name](a, count);
  const known = new Map<number, readonly number[]>();
  const logs = (t: number): readonly number[] => {
    const found = known.get(t) ?? outputs.map(logOf(distribution, read(t)));
    known.set(t, found);
    return found;
  };
  const seen = new Set<string>();
  let worst = 0;
  for (let g = 0; g < tuples.length; g++)
    for (const h of neighbours(undirected, g)) {
      const [s, t] = [tuples[g]!, tuples[h]!];
      if (s >= t || seen.has(`${s},${t}`)) continue;
      seen.add(`${s},${t}`);
      const [p, q] = [logs(s), logs(t)];
      for (let o = 0; o < p.length; o++) worst = Math.max(worst, Math.abs(p[o]! - q[o]!));
    }
  return worst;
}

const offersOf = (a: PatternAnalysis, hidden: PatternSecret) =>
  offersFor({ analysis: a, hidden, budgetShare: pure(epsilon), degree }).flatMap(({ candidate, drawn }) =>
    drawn ? [{ name: candidate.mechanism, candidate, mechanisms: drawn.mechanisms }] : [],
  );
const R = tuplesIn('R');
const costOf = (mechanisms: readonly Mechanism[], record: RecordClass): Rational =>
  totalCostOf(mechanisms).perRecord.get(record)!;

describe('the strategies for a pattern', () => {
  it.each(['triangles', '2-paths', 'edges'])('the privacy loss is at most the reserved cost when one tie changes: %s', (text) => {
    const a = analyse(undirected, text);
    const offers = offersOf(a, tupleSecret(a));
    expect(offers.length).toBeGreaterThan(2);
    for (const { name, mechanisms } of offers) {
      expect(equal(costOf(mechanisms, R), epsilon), name).toBe(true);
      const loss = worstLoss(mechanisms[0]!.distribution, name as keyof typeof readers, text, toggled);
      expect(loss, name).toBeLessThanOrEqual(toNumber(epsilon) + 1e-9);
      expect(loss, name).toBeGreaterThan(0);
    }
  });

  it.each(['triangles', 'edges'])(
    'the privacy loss is at most the reserved cost when all ties of a person change: %s',
    (text) => {
      const a = analyse(undirected, text);
      const offers = offersOf(a, personSecret(a));
      expect(offers.map((o) => o.name)).toEqual(['laplace', 'truncation-ladder']);
      for (const { name, mechanisms } of offers) {
        expect(equal(costOf(mechanisms, everyRecord), epsilon), name).toBe(true);
        const loss = worstLoss(mechanisms[0]!.distribution, name as keyof typeof readers, text, rewired);
        expect(loss, name).toBeLessThanOrEqual(toNumber(epsilon) + 1e-9);
        expect(loss, name).toBeGreaterThan(0);
      }
    },
  );

  it('a ladder that decays too fast exceeds the reserved cost (planted fault)', () => {
    const twin: NoiseDistribution = { kind: 'ladder', decay: epsilon };
    expect(worstLoss(twin, 'ladder', '2-paths', toggled)).toBeGreaterThan(toNumber(epsilon));
  });

  it('the noise for a person has the sensitivity of a person, not of a tie', () => {
    const a = analyse(undirected, 'edges');
    const [tie, person] = [tupleSecret(a), personSecret(a)].map((hidden) => offersOf(a, hidden)[0]!.mechanisms[0]!);
    expect(tie!.distribution).toEqual({ kind: 'laplace', scale: divide(rational(1), epsilon) });
    expect(person!.distribution).toEqual({ kind: 'laplace', scale: divide(rational(people - 1), epsilon) });
    expect([...person!.cost.perRecord.keys()]).toEqual(['*']);
    // Noise for a tie cannot be built at a person's price.
    const moved = BigInt(people - 1);
    const sensitivity = sensitivityOn([everyRecord], { l1: moved, l2squared: moved * moved });
    expect(() => chargedCost(tie!.distribution, sensitivity, pure(epsilon))).toThrow(RangeError);
    expect(() => chargedCost(person!.distribution, sensitivity, pure(epsilon))).not.toThrow();
  });

  it('the expected error is that of the noise that would be drawn', () => {
    const a = analysePatternText('triangles', schemaFromText('triangles', 500, { symmetric: true }));
    for (const { name, candidate, mechanisms } of offersOf(a, tupleSecret(a))) {
      const { distribution } = mechanisms[0]!;
      if (distribution.kind === 'laplace') expect(candidate.scale, name).toBe(toNumber(distribution.scale));
      // Two common neighbours at most: the first rung of the shape's own ladder.
      if (name === 'ladder' && distribution.kind === 'ladder')
        expect(candidate.scale).toBeCloseTo(2 / toNumber(distribution.decay), 12);
      if (distribution.kind === 'smooth') expect(candidate.scale, name).toBeGreaterThanOrEqual(2 * toNumber(distribution.scale));
    }
  });

  it('an answer that nobody can move is paid for and gets noise', () => {
    const a = analysePatternText('triangles', schemaFromText('triangles', 2, { symmetric: true }));
    expect(a.bounds.globalSensitivity).toBe(0n);
    for (const { name, mechanisms } of offersOf(a, tupleSecret(a)))
      expect(equal(costOf(mechanisms, R), epsilon), name).toBe(true);
  });
});

describe('noise that costs more than its reserved cost', () => {
  const steps = sensitivityOn([R], oneStep);
  const book = (distribution: NoiseDistribution) => () => chargedCost(distribution, steps, pure(epsilon));
  const { scale, beta } = smoothDistribution(epsilon);

  it('smooth noise with beta epsilon / 3 cannot be built', () => {
    expect(book({ kind: 'smooth', scale, beta })).not.toThrow();
    expect(book({ kind: 'smooth', scale, beta: divide(epsilon, rational(3)) })).toThrow(RangeError);
    expect(book({ kind: 'smooth', scale: multiply(scale, rational(99, 100)), beta })).toThrow(RangeError);
  });

  it('a ladder that decays by epsilon cannot be built', () => {
    expect(book({ kind: 'ladder', decay: divide(epsilon, rational(2)) })).not.toThrow();
    expect(book({ kind: 'ladder', decay: epsilon })).toThrow(RangeError);
  });

  it("a paper's noise cannot be built at the price of proven noise", () => {
    expect(book({ kind: 'published' })).toThrow(RangeError);
  });
});

describe('the race to the top', () => {
  const text = 'q(x, p) :- R(x, p)';
  const a = analysePatternText(text, schemaFromText(text, 20));
  const hidden = ownerSecret(a, a.pattern.goals[0]!.symbols[0]!);

  it('the last level cuts no contribution, and all levels are paid for together', () => {
    const levels = raceLevels('race', hidden, pure(epsilon));
    expect(hidden.moves).toBe(20n);
    expect(levels.map((l) => l.tau)).toEqual([2n, 4n, 8n, 16n, 32n]);
    const [offer] = offersOf(a, hidden);
    expect(offer).toMatchObject({ name: 'r2t' });
    expect(offer!.mechanisms).toHaveLength(5);
    expect(equal(costOf(offer!.mechanisms, everyRecord), epsilon)).toBe(true);
  });

  it('the privacy loss is at most the reserved cost, for any change of one person', () => {
    const levels = raceLevels('race', hidden, pure(epsilon));
    let worst = 0;
    for (let from = 0; from <= 20; from++)
      for (let to = 0; to <= 20; to++) {
        const loss = levels.reduce((sum, { tau, noise: { distribution } }) => {
          const cut = (c: number) => Math.min(c, Number(tau));
          return (
            sum + (distribution.kind === 'laplace' ? Math.abs(cut(from) - cut(to)) / toNumber(distribution.scale) : Number.NaN)
          );
        }, 0);
        worst = Math.max(worst, loss);
      }
    expect(worst).toBeLessThanOrEqual(toNumber(epsilon) + 1e-12);
    expect(worst).toBeGreaterThan(0.9 * toNumber(epsilon));
  });
});

describe('Algorithm 2.1', () => {
  const planned = (text: string, m: number, gamma: Rational) => {
    const a = analysePatternText(text, schemaFromText(text, m));
    return offersFor({ analysis: a, hidden: tupleSecret(a), budgetShare: pure(epsilon), degree, gamma }).find(
      ({ candidate }) => candidate.mechanism === 'algorithm-2.1',
    )!;
  };

  it('the cost of Algorithm 2.1 is that it was used, not an epsilon, and its plain branch costs like plain noise', () => {
    const paper = planned('2-paths', 100_000, rational(1, 100)).drawn!.mechanisms;
    expect(paper.map(({ distribution }) => distribution.kind)).toEqual(['published']);
    expect([...totalCostOf(paper).perRecord.keys()]).toEqual(['once:adversarial privacy']);
    const plain = planned('triangles', 10_000, rational(1, 100)).drawn!.mechanisms;
    expect(plain.map(({ distribution }) => distribution.kind)).toEqual(['laplace']);
    expect(equal(costOf(plain, R), epsilon)).toBe(true);
  });
});
