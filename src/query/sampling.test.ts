import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { category, samplePolicy } from '../../test/sample-policy.js';
import { openWorkshop, policyYaml, type Workshop } from '../../test/workshop.js';
import { open } from '../app/api/fugu.js';
import { rational } from '../base/exact/rational.js';
import { laplaceSampler } from '../privacy/noise/discrete-laplace.js';
import { bindBatch } from './bind.js';
import type { AnswerTable } from './bound.js';
import { numbersToNoise } from './count/noisy-cells.js';
import { parseBatch } from './parse.js';
import { samplingOf } from './sampling.js';

const withSampling = (table: AnswerTable, policy: Parameters<typeof samplingOf>[1]): AnswerTable =>
  samplingOf(table.query, policy)(table);

const policy = samplePolicy([category('vote', ['red', 'blue', 'green'])]);
const tableOf = (counts: readonly bigint[], query: object = { kind: 'histogram', column: 'vote' }) =>
  bindBatch(parseBatch([query]), policy).finish([{ noise: { kind: 'laplace', scale: 8 }, values: counts }])[0]!;

const designed = (effect: number, protect: object = {}) => ({ design: { effect }, protect: { ...policy.protect, ...protect } });

/** Clusters, half leaning one way and half the other: the design effect is 1 + (size - 1) lean^2 / (p (1 - p)) for red. */
const [clusters, size, red, lean] = [40, 20, 0.3, 0.12];
const effect = 1 + ((size - 1) * lean ** 2) / (red * (1 - red));

let state = 7;
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
function sample(): bigint[] {
  const counts = [0n, 0n, 0n, 0n];
  for (let c = 0; c < clusters; c++) {
    const here = red + (random() < 0.5 ? lean : -lean);
    for (let i = 0; i < size; i++) counts[random() < here ? 0 : 1]!++;
  }
  return counts;
}

/** Share of draws of sample and noise in which the interval holds the population share. */
function covered(interval: (table: ReturnType<typeof tableOf>) => { readonly low: number; readonly high: number }): number {
  const draw = laplaceSampler(rational(8));
  const tries = 1500;
  let held = 0;
  for (let k = 0; k < tries; k++) {
    const { low, high } = interval(tableOf(sample().map((n) => n + draw())));
    if (low <= red && red <= high) held++;
  }
  return held / tries;
}

describe('shares with sampling error', () => {
  it('the interval of a share holds the population share 95 times in 100 under a correctly declared design effect', () => {
    const share = covered((table) => withSampling(table, designed(effect)).rows[0]!.share!.withSampling!);
    expect(share).toBeGreaterThan(0.935);
    expect(share).toBeLessThan(0.995);
  });

  it('shares have the same sampling error when counted by answer and as a distribution', () => {
    const exact = (query: object) => {
      const bound = bindBatch(parseBatch([query]), policy);
      const [measure] = bound.measures;
      const counts = [30n, 50n, 20n];
      const values = measure!.mechanism === 'ordered' ? numbersToNoise(measure!, counts) : [...counts, 0n];
      return withSampling(bound.finish([{ noise: { kind: 'none' }, values }])[0]!, designed(2))
        .rows.slice(0, 3)
        .map(({ share }) => share!.withSampling!);
    };
    const [each, upTo] = [exact({ kind: 'histogram', column: 'vote' }), exact({ kind: 'cdf', column: 'vote' })];
    expect(upTo[0]!.low).toBeCloseTo(each[0]!.low, 9);
    expect(upTo[0]!.high).toBeCloseTo(each[0]!.high, 9);
    // All but the last, of 80, as wide as those of 20.
    expect(upTo[1]!.high - upTo[1]!.low).toBeCloseTo(each[2]!.high - each[2]!.low, 9);
  });

  it('intervals without the design effect, or from the noise alone, do not hold the population share', () => {
    expect(covered((table) => withSampling(table, designed(1)).rows[0]!.share!.withSampling!)).toBeLessThan(0.92);
    expect(covered((table) => table.rows[0]!.share!)).toBeLessThan(0.85);
  });

  it('intervals with sampling error stay within 0 and 1, contain the noise interval, and are absent for weights or without a design', () => {
    const plain = tableOf([0n, 2n, 500n, 3n]);
    for (const { share } of withSampling(plain, designed(2)).rows.slice(0, 3)) {
      expect(share!.withSampling!.low).toBeGreaterThanOrEqual(0);
      expect(share!.withSampling!.high).toBeLessThanOrEqual(1);
      expect(share!.withSampling!.low).toBeLessThanOrEqual(share!.low);
      expect(share!.withSampling!.high).toBeGreaterThanOrEqual(share!.high);
    }
    expect(withSampling(plain, policy)).toBe(plain);
    const weighted = { ...plain, query: { ...plain.query, weight: 'w' } as typeof plain.query };
    expect(withSampling(weighted, designed(2))).toBe(weighted);
  });

  it('weighted shares have the sampling error of the people that the declared mean and effect imply', () => {
    const weighted = (counts: readonly bigint[]) => {
      const table = tableOf(counts);
      return { ...table, query: { ...table.query, weight: 'w' } as typeof table.query };
    };
    const quiet = (table: ReturnType<typeof tableOf>, design: object) =>
      withSampling(table, { design: { effect: 1, ...design }, protect: policy.protect }).rows[0]!.share!.withSampling!;
    const plain = tableOf([200n, 200n, 100n, 0n]);
    const unweighted = quiet(weighted([200n, 200n, 100n, 0n]), { weights: { column: 'w', mean: 0.5, effect: 2 } });
    expect(unweighted).toEqual(quiet(plain, {}));
    expect(quiet(plain, { population: 500 }).high).toBeCloseTo(plain.rows[0]!.share!.high, 4);
    expect(quiet(plain, { population: 600 }).high).toBeLessThan(quiet(plain, {}).high);
  });

  it('shares have no sampling error where one person may have several rows, since the number of people is not published', () => {
    const plain = tableOf([120n, 80n, 40n, 3n]);
    expect(withSampling(plain, designed(1, { secret: 'person', maxRows: 4 }))).toBe(plain);
    expect(withSampling(plain, designed(1, { secret: 'person', maxRows: 1 })).rows[0]!.share!.withSampling).toBeDefined();
    // Sampling error if rows were taken for people: four rows of every person.
    const draw = laplaceSampler(rational(8));
    let held = 0;
    for (let k = 0; k < 600; k++) {
      let answering = 0n;
      for (let person = 0; person < 300; person++) if (random() < red) answering += 4n;
      const table = tableOf([answering + draw(), 1200n - answering + draw(), draw(), draw()]);
      const { low, high } = withSampling(table, designed(1)).rows[0]!.share!.withSampling!;
      if (low <= red && red <= high) held++;
    }
    expect(held / 600).toBeLessThan(0.9);
  });
});

describe('cluster designs', () => {
  const two = samplePolicy([category('vote', ['red', 'blue']), category('sex', ['m', 'f']), category('town', ['a', 'b'])]);
  const clustered = (mixed: readonly string[]) => ({ ...two, design: { effect: 3, clusters: { effect: 2, mixed } } });
  const simple = (effect: number) => ({ ...two, design: { effect } });
  const quiet = { noise: { kind: 'laplace', scale: 0.01 }, values: [300n, 100n, 120n, 80n] } as const;
  const testRows = (between: string, policy: typeof two) =>
    bindBatch(parseBatch({ kind: 'compare', column: 'vote', values: ['red'], between }), policy)
      .finish([quiet])[0]!
      .rows.map((row) => row.withSampling?.standardError ?? row.value);

  it('clusters affect a group by its share of them, and do not affect the difference between groups that they mix', () => {
    const [m, f, difference, chance] = testRows('sex', clustered(['sex']));
    // Two in three are in the first group: the clusters' effect of 2 becomes 1 + 2/3.
    expect(m).toBeCloseTo(testRows('sex', simple(1.5 * (1 + 2 / 3)))[0]!, 4);
    expect(f).toBeCloseTo(testRows('sex', simple(1.5 * (1 + 1 / 3)))[1]!, 4);
    expect([difference, chance]).toEqual(testRows('sex', simple(1.5)).slice(2));
    // A group that is not declared as mixed may be made of whole clusters.
    expect(testRows('town', clustered(['sex']))).toEqual(testRows('town', simple(3)));
  });

  it('clusters affect percentages within groups and tests of independence in the same way', () => {
    const shares = (by: string, policy: typeof two) => {
      const values = [300n, 100n, 0n, 120n, 80n, 0n, 0n, 0n, 0n];
      const [table] = bindBatch(parseBatch({ kind: 'crosstab', columns: [by, 'vote'] }), policy).finish([
        { noise: { kind: 'laplace', scale: 0.01 }, values },
      ]);
      return withSampling(table!, policy).rows.map(({ share }) => share?.withSampling);
    };
    expect(shares('sex', clustered(['sex']))[0]!.high).toBeCloseTo(shares('sex', simple(1.5 * (1 + 2 / 3)))[0]!.high, 6);
    expect(shares('town', clustered(['sex']))).toEqual(shares('town', simple(3)));
    const test = (policy: typeof two) =>
      bindBatch(parseBatch({ kind: 'independence', columns: ['sex', 'vote'] }), policy).finish([quiet])[0]!.rows;
    expect(test(clustered(['vote']))).toEqual(test(simple(1.5)));
    expect(test(clustered(['town']))).toEqual(test(simple(3)));
  });
});

describe('a declared design', () => {
  let shop: Workshop;
  afterEach(() => shop.remove());

  it('a design appears in tables, files and reports with its assumptions, and is never read from the data', async () => {
    shop = openWorkshop(policyYaml({ extra: 'design: { effect: 1.5 }\n' }), 600);
    const { registerReleaseCommand } = await import('../app/cli/release.js');
    const { runCommand } = await import('../../test/command.js');
    const out = join(shop.folder, 'out');
    const text = await runCommand(
      registerReleaseCommand,
      'release',
      shop.policyFile,
      '--query',
      '{"kind":"histogram","column":"party"}',
      '--out',
      out,
    );
    expect(text).toMatch(/percent, with sampling error/);
    expect(readFileSync(join(out, 'party.csv'), 'utf8')).toMatch(/percent_low_with_sampling,percent_high_with_sampling/);
    expect(readFileSync(join(out, 'report.html'), 'utf8')).toMatch(
      /noise and sampling together, for a declared design effect of 1\.5/,
    );
    await using fugu = await open(shop.policyFile);
    const { tables } = await fugu.release({ kind: 'histogram', column: 'party' });
    const { low, high, withSampling: wide } = tables[0]!.rows[0]!.share!;
    expect(wide!.high - wide!.low).toBeGreaterThan(high - low);
  });

  it('all fields of a design are parsed', async () => {
    const { parsePolicy } = await import('../data/terms/read.js');
    const text = policyYaml({ extra: 'design: { clusters: { size: 21, alike: 0.05 }, effect: 1.5, population: 90000 }\n' });
    expect((await parsePolicy(text, '/nowhere/policy.yaml')).design).toEqual({ effect: 3, population: 90000 });
    const mixed = policyYaml({ extra: 'design: { clusters: { size: 21, alike: 0.05, mixed: [party] }, effect: 1.5 }\n' });
    expect((await parsePolicy(mixed, '/nowhere/policy.yaml')).design).toEqual({
      effect: 3,
      clusters: { effect: 2, mixed: ['party'] },
    });
    shop = openWorkshop(policyYaml(), 30);
  });

  it('a design with an impossible number is refused', async () => {
    for (const wrong of [
      '{ effect: 0 }',
      '{ effect: many }',
      '{ deff: 1.4 }',
      '1.4',
      '{ population: 0.5 }',
      '{ clusters: { size: 20 } }',
      '{ clusters: { size: 20, alike: 2 } }',
      '{ clusters: { size: 20, alike: 0.1, mixed: [] } }',
      '{ clusters: { size: 20, alike: 0.1, mixed: [nowhere] } }',
      '{ weights: { column: party, mean: 1, effect: 1.2 } }',
      '{ strata: { column: nowhere, sizes: { a: 10 } } }',
      '{ strata: { column: party, sizes: { dem: 10 } } }',
    ]) {
      shop = openWorkshop(policyYaml({ extra: `design: ${wrong}\n` }), 30);
      await expect(open(shop.policyFile)).rejects.toMatchObject({ code: 'POLICY_INVALID' });
      shop.remove();
    }
  });
});

describe('a survey with weights', () => {
  it('a survey with weights counts every column by the weight', async () => {
    const { surveyBatch } = await import('../analysis/survey/query.js');
    const { queries } = surveyBatch(policy, new Set(), { weight: 'w' });
    expect(queries).toEqual([{ kind: 'histogram', column: 'vote', weight: 'w' }]);
  });
});
