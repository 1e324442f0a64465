import { describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../../../base/exact/rational.js';
import { fromPairs } from '../../../privacy/dependence/graph/factor-graph.js';
import { largestBase } from '../../../privacy/dependence/largest-base.js';
import { type Attacker, circlePrior, friendPrior, independentPrior, knownPeople, seededRandom, tiePrior } from './attacker.js';
import { infer } from './infer.js';
import { bootstrapMean, summarise } from './measures.js';
import { locationPatterns, type Population } from './patterns.js';
import { scorerFor } from './score.js';
import { buildSpace, cellAt, haversine } from './space.js';
import type { CentroidsTarget, TotalsTarget } from './target.js';
import { copyTie, declaredTie, distanceTie, type TieModel } from './tie-model.js';

const space = buildSpace([{ name: 'NY', lat: 40.7128, lon: -74.006 }], 25, 3);

/** People at random cells, tied in a star around person 0 plus a few independent ones. */
function town(people: number, leaves: number, seed: number): Population {
  const draw = seededRandom(seed);
  const user = Array.from({ length: people }, (_, i) => i);
  const cell = user.map(() => Math.floor(draw() * space.cells));
  return locationPatterns(
    { user, place: cell, lat: cell.map((c) => space.lat[c]!), lon: cell.map((c) => space.lon[c]!) },
    Array.from({ length: leaves }, (_, k) => [0, k + 1] as const),
    space,
    1,
  );
}

const histogram = (population: Population, counts: Float64Array, countScale: number): TotalsTarget => ({
  kind: 'totals',
  name: 'cells',
  ranks: [0],
  rounds: () => [
    {
      parts: space.cells,
      partOfCell: Uint16Array.from({ length: space.cells }, (_, c) => c),
      partOfPerson: population.cell,
      counts,
      countScale,
    },
  ],
});
const countsOf = (population: Population): Float64Array => {
  const counts = new Float64Array(space.cells);
  for (const c of population.cell) counts[c]!++;
  return counts;
};

/** The release at the noise that the declared ties (odds ratio, direct reach) ask for. */
function certifiedScale(population: Population, epsilon: string, oddsRatio: number): number {
  const [left, right]: [number[], number[]] = [[], []];
  for (let i = 0; i < population.people; i++)
    for (let f = population.friendStart[i]!; f < population.friendStart[i + 1]!; f++)
      if (population.friends[f]! > i) {
        left.push(i);
        right.push(population.friends[f]!);
      }
  const graph = fromPairs(population.people, Uint32Array.from(left), Uint32Array.from(right), Math.log(oddsRatio));
  return 2 / toNumber(largestBase(graph, parseRational(epsilon), 'uninformed', { reach: 'direct' }));
}

/** Outputs at which an attacker gains most: every cell pushed far up or far down. */
function corners(population: Population): Float64Array[] {
  const far = 100 * population.people;
  const draw = seededRandom(99);
  const one = Array.from({ length: space.cells }, (_, c) => countsOf(population).map((n, k) => n + (k === c ? far : -far)));
  const mixed = Array.from({ length: 20 }, () => countsOf(population).map((n) => n + (draw() < 0.5 ? far : -far)));
  return [...one, ...mixed];
}

describe('location patterns', () => {
  it('patterns rank places by visits, then by the earliest first visit, then by place id, and repeat short lists', () => {
    const place = [7, 7, 3, 3, 9, 5, 5];
    const found = locationPatterns(
      {
        user: place.map(() => 4),
        place,
        lat: place.map((p) => 40.7 + p / 1000),
        lon: place.map(() => -74),
        time: [50, 60, 10, 70, 1, 10, 80],
      },
      [],
      space,
      6,
    );
    const order = [3, 5, 7, 9, 3, 5];
    expect([...found.lat].map((l) => Math.round((l - 40.7) * 1000))).toEqual(order);
  });

  it('ties that name people without visits are refused', () => {
    expect(() => locationPatterns({ user: [1], place: [1], lat: [40.7], lon: [-74] }, [[1, 2]], space, 2)).toThrowError(
      /not in the data/,
    );
  });

  it('every cell centre lies in its own cell', () => {
    for (let c = 0; c < space.cells; c++) expect(cellAt(space, space.lat[c]!, space.lon[c]!)).toBe(c);
  });
});

describe('an attacker who knows everybody else', () => {
  it("the attacker's posterior is that of Bayes’ rule", () => {
    const population = town(12, 4, 5);
    const published = countsOf(population).map((n, c) => n + ((c * 7) % 5) - 2);
    const scale = 1.7;
    const found = infer(population, histogram(population, published, scale), { name: 'a', prior: independentPrior });
    for (let i = 0; i < population.people; i++) {
      const rest = countsOf(population);
      rest[population.cell[i]!]!--;
      const prior = rest.map((n) => n / (population.people - 1));
      const weights = prior.map(
        (p, x) => p * Math.exp(-rest.reduce((s, n, c) => s + Math.abs(published[c]! - n - (c === x ? 1 : 0)), 0) / scale),
      );
      const total = weights.reduce((s, w) => s + w, 0);
      const entropy = (list: Float64Array) => list.reduce((s, p) => (p > 0 ? s - p * Math.log2(p) : s), 0);
      expect(found.posteriorBits[i]).toBeCloseTo(entropy(weights.map((w) => w / total)), 10);
      expect(found.priorBits[i]).toBeCloseTo(entropy(prior), 10);
      const best = weights.indexOf(Math.max(...weights));
      expect(found.errorKm[i]).toBeCloseTo(
        haversine(population.lat[i]!, population.lon[i]!, space.lat[best]!, space.lon[best]!),
        9,
      );
    }
  });

  it("the attacker's gain is limited to the privacy cost, whatever the prior", () => {
    const population = town(14, 6, 3);
    const scale = 4;
    for (const prior of [independentPrior, friendPrior(space), circlePrior(space), tiePrior(copyTie(space))])
      for (const published of corners(population)) {
        const found = infer(population, histogram(population, published, scale), { name: prior.name, prior });
        expect(Math.max(...found.shift)).toBeLessThanOrEqual(2 / scale + 1e-9);
      }
  });

  it('the attacker sees centroids move by one record’s share only', () => {
    const population = town(20, 3, 8);
    const parts = 2;
    const partOfPerson = Uint16Array.from(population.cell, (c) => c % 2);
    const target: CentroidsTarget = {
      kind: 'centroids',
      name: 'centroids',
      ranks: [0],
      parts,
      partOfPerson,
      scale: 0.5,
      partOfCell: () => Uint16Array.from({ length: space.cells }, (_, c) => c % 2),
      means: () => Float64Array.of(0.3, 0.4, 0.9, 0.1),
    };
    const found = infer(population, target, { name: 'a', prior: independentPrior });
    // One of at least six people moves a mean by at most 1/6 per coordinate.
    expect(Math.max(...found.shift)).toBeGreaterThan(0);
    expect(Math.max(...found.shift)).toBeLessThan(2 * 2 * (1 / 6 / 0.5));
  });
});

/** The exact likelihood of an output for every place of person 0, friends unknown, all states of all friends enumerated. */
function exactLikelihood(
  population: Population,
  friendTie: TieModel,
  known: Uint8Array,
  published: Float64Array,
  scale: number,
): number[] {
  const unknown = Array.from({ length: population.people - 1 }, (_, k) => k + 1).filter((j) => !known[j]);
  const rest = new Float64Array(space.cells);
  for (let j = 1; j < population.people; j++) if (known[j]) rest[population.cell[j]!]!++;
  const others = rest.reduce((s, n) => s + n, 0);
  const share = rest.map((n) => n / others);
  return Array.from({ length: space.cells }, (_, x) => {
    const row = share.map((p, y) => p * friendTie.weight[x * space.cells + y]!);
    const mass = row.reduce((s, w) => s + w, 0);
    const walk = (k: number, counts: Float64Array): number => {
      if (k === unknown.length)
        return Math.exp(
          -counts.reduce((s, n, c) => s + Math.abs(published[c]! - n) - Math.abs(published[c]! - rest[c]!), 0) / scale,
        );
      // Friends follow the tie, others are as common as anybody.
      const friendTie = unknown[k]! <= 4 ? row.map((w) => w / mass) : share;
      return friendTie.reduce((sum, p, y) => {
        if (p === 0) return sum;
        counts[y]!++;
        const inner = p * walk(k + 1, counts);
        counts[y]!--;
        return sum + inner;
      }, 0);
    };
    const counts = rest.slice();
    counts[x]!++;
    return walk(0, counts);
  });
}

describe('an attacker who knows some of the others', () => {
  const population = town(16, 4, 21);
  const known = Uint8Array.from({ length: 16 }, (_, i) => (i === 0 || (i >= 2 && i <= 4) ? 0 : 1));
  const oddsRatio = 3;
  const friendTie = declaredTie(space, oddsRatio);

  it('the fast likelihood is close to exact enumeration of the unknown friends', () => {
    const scale = certifiedScale(population, '0.9', oddsRatio);
    const published = countsOf(population).map((n, c) => n + (c % 3) * scale - scale);
    const exact = exactLikelihood(population, friendTie, known, published, scale);
    const target = histogram(population, published, scale);
    const fast = logRatios(population, target, { name: 'in', prior: independentPrior, tie: friendTie, known }, 0);
    const cells = [...fast.keys()];
    const base = Math.log(exact[cells[0]!]!) - fast.get(cells[0]!)!;
    for (const c of cells) expect(Math.log(exact[c]!) - fast.get(c)! - base).toBeCloseTo(0, 1);
    const spread = (list: number[]) => Math.max(...list) - Math.min(...list);
    expect(spread(cells.map((c) => fast.get(c)!)) / spread(cells.map((c) => Math.log(exact[c]!)))).toBeGreaterThan(0.8);
  });

  it('an attacker inside the declared class gains at most epsilon, exactly, for every corner output', () => {
    const scale = certifiedScale(population, '0.9', oddsRatio);
    for (const published of corners(population)) {
      const exact = exactLikelihood(population, friendTie, known, published, scale).map(Math.log);
      expect(Math.max(...exact) - Math.min(...exact)).toBeLessThanOrEqual(0.9 + 1e-9);
    }
  });

  it('by the fast likelihood, too, the gain is at most epsilon for every person, known set and prior', () => {
    const scale = certifiedScale(population, '0.9', oddsRatio);
    for (const count of [4, 8, 12])
      for (const prior of [independentPrior, tiePrior(friendTie), friendPrior(space)])
        for (const published of corners(population)) {
          const attacker = { name: 'in', prior, tie: friendTie, known: knownPeople(population, count, count) };
          const found = infer(population, histogram(population, published, scale), attacker);
          expect(Math.max(...found.shift)).toBeLessThanOrEqual(0.9 + 1e-9);
        }
  });

  it('an attacker outside the class gains more than epsilon, and more than one inside', () => {
    const scale = certifiedScale(population, '0.9', oddsRatio);
    const gain = (tie: TieModel) =>
      Math.max(
        ...corners(population).map((published) => {
          const exact = exactLikelihood(population, tie, known, published, scale).filter((p) => p > 0);
          return Math.log(Math.max(...exact) / Math.min(...exact));
        }),
      );
    expect(gain(friendTie)).toBeLessThanOrEqual(0.9);
    expect(gain(copyTie(space))).toBeGreaterThan(0.9);
    expect(distanceTie(space).logOdds).toBeGreaterThan(Math.log(oddsRatio));
  });
});

/** log-likelihood per supported cell as infer sees it, up to a constant. */
function logRatios(population: Population, target: TotalsTarget, attacker: Attacker, person: number): Map<number, number> {
  const scorer = scorerFor(target, population, attacker.known);
  scorer.turnTo(0);
  const seen = new Float64Array(space.cells);
  let total = 0;
  for (let i = 0; i < population.people; i++)
    if (i !== person && attacker.known![i]) {
      seen[population.cell[i]!]!++;
      total++;
    }
  const support = Uint16Array.from([...seen.keys()].filter((c) => seen[c]! > 0));
  const share = seen.map((n) => n / total);
  const scores = new Float64Array(space.cells);
  scorer.score(
    { person, counted: false, unknown: population.people - 1 - total, share, support, supported: support.length },
    scores,
  );
  const friends = [...population.friends.subarray(population.friendStart[person]!, population.friendStart[person + 1]!)];
  const strangers = friends.filter((f) => !attacker.known![f]).length;
  return new Map(
    [...support].map((x) => {
      const row = [...support].map((y) => share[y]! * attacker.tie!.weight[x * space.cells + y]!);
      const mass = row.reduce((s, w) => s + w, 0);
      const mean = row.reduce((s, w, k) => s + w * Math.exp(scores[support[k]!]!), 0);
      return [x, scores[x]! + strangers * Math.log(mean / mass)];
    }),
  );
}

describe('the report of an attack', () => {
  it('the gain is split into information from the ties and from the release', () => {
    const population = town(40, 8, 2);
    const found = infer(population, histogram(population, countsOf(population), 0.3), { name: 'a', prior: friendPrior(space) });
    const { priorGain, releaseGain, totalGain } = summarise(found);
    expect(priorGain.mean + releaseGain.mean).toBeCloseTo(totalGain.mean, 12);
    expect(releaseGain.mean).toBeGreaterThan(0.1);
    expect(totalGain.low).toBeLessThanOrEqual(totalGain.mean);
    expect(totalGain.high).toBeGreaterThanOrEqual(totalGain.mean);
  });

  it('bootstrap intervals have about their nominal coverage of the mean', () => {
    const draw = seededRandom(4);
    let covered = 0;
    for (let k = 0; k < 200; k++) {
      const { low, high } = bootstrapMean(
        Float64Array.from({ length: 60 }, () => draw()),
        k,
        200,
      );
      if (low <= 0.5 && 0.5 <= high) covered++;
    }
    expect(covered).toBeGreaterThan(175);
    expect(covered).toBeLessThan(200);
  });

  it('progress is reported to the end', () => {
    const population = town(130, 3, 6);
    const seen: number[] = [];
    infer(population, histogram(population, countsOf(population), 1), { name: 'a', prior: independentPrior }, (d, t) =>
      seen.push(d / t),
    );
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.at(-1)).toBe(1);
  });
});
