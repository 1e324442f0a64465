import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { publicData } from '../experiments/data.js';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import { quiltOnChain } from '../src/evaluate/papers/pufferfish/markov-quilt.js';
import { chainAmplifier } from '../src/privacy/dependence/chain/chain-amplifier.js';
import { informedTransitions, uninformedTransitions } from '../src/privacy/dependence/chain/chain-transitions.js';
import { stationaryDistribution } from '../src/privacy/dependence/chain/stationary.js';
import { logOddsRatio } from '../src/privacy/dependence/model/odds.js';
import { slicingOf } from '../src/privacy/mechanism/record-class.js';

type Matrix = readonly (readonly number[])[];
const folder = publicData('sequences/', 'mvad.parquet');
const file = (name: string) => `'${fileURLToPath(new URL(`${name}.parquet`, folder))}'`;

/** Pairs of states that follow one another, and how many steps a sequence has. */
const sources: Record<string, () => { readonly sql: string; readonly length: number }> = {
  har: () => ({
    sql: `SELECT activity AS a, lead(activity) OVER (PARTITION BY subject ORDER BY t) AS b FROM ${file('har_activity_chain')}`,
    length: 400,
  }),
  power: () => ({
    sql: `SELECT floor(least(Global_active_power / 20, 9)) AS a, floor(least(lead(Global_active_power) OVER (ORDER BY datetime) / 20, 9)) AS b FROM ${file('household_power_hourly')}`,
    length: 34_589,
  }),
  mvad: () => ({
    sql: `SELECT state AS a, lead(state) OVER (PARTITION BY id ORDER BY strptime(month, '%b.%y')) AS b
      FROM (UNPIVOT (SELECT id, COLUMNS('^[A-Z][a-z][a-z][.]9') FROM ${file('mvad')}) ON COLUMNS('[.]9') INTO NAME month VALUE state)`,
    length: 70,
  }),
};

/** Transition frequencies, with half a case for transitions that never occur. */
async function matrixOf(sql: string): Promise<Matrix> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const found = await connection.runAndReadAll(
    `SELECT a::VARCHAR, b::VARCHAR, count(*)::INTEGER FROM (${sql}) WHERE a IS NOT NULL AND b IS NOT NULL GROUP BY ALL ORDER BY ALL`,
  );
  const rows = found.getRowsJson() as [string, string, number][];
  const states = [...new Set(rows.map(([a]) => a).concat(rows.map(([, b]) => b)))].sort();
  return states.map((a) => {
    const counts = states.map((b) => (rows.find(([x, y]) => x === a && y === b)?.[2] ?? 0) + 0.5);
    const total = counts.reduce((x, y) => x + y, 0);
    return counts.map((x) => x / total);
  });
}

/** Quilts that hold whatever is known: at best (a + b - 1) / (epsilon - H(P^a) - H(P^b)), H the log odds ratio of a power. */
function robustQuilt(m: Matrix, length: number, epsilon: number): number {
  const times = (a: Matrix, b: Matrix) => a.map((row) => b.map((_, j) => row.reduce((sum, x, k) => sum + x * b[k]![j]!, 0)));
  const odds: number[] = [];
  for (let power = m; odds.length < Math.min(length, 200); power = times(power, m))
    odds.push(logOddsRatio(Float64Array.from(power.flat()), [m.length, m.length], 0));
  let best = length / epsilon;
  odds.forEach((left, a) => {
    odds.forEach((right, b) => {
      if (left + right < epsilon) best = Math.min(best, (a + b + 1) / (epsilon - left - right));
    });
  });
  return best;
}

function scales(m: Matrix, length: number, epsilon: string) {
  const under = (distribution: ReturnType<typeof informedTransitions>) =>
    1 /
    toNumber(
      chainAmplifier({
        name: '',
        first: 1,
        last: length,
        order: slicingOf('t', ''),
        transitions: [distribution],
        logOdds: 1,
        gaps: false,
        window: 1,
        assumptions: [],
        method: '',
        alone: true,
      }).largestBase(parseRational(epsilon)),
    );
  return {
    informed: under(informedTransitions([m])),
    uninformed: under(uninformedTransitions(m, { stationary: stationaryDistribution(m)! })),
    group: length / Number(epsilon),
    robust: robustQuilt(m, length, Number(epsilon)),
    quilt: quiltOnChain({ transition: m, initial: 'stationary', length }, Number(epsilon)).scale,
  };
}

describe('the noise of real chains', () => {
  const all = Object.entries(sources).flatMap(([name, of]) => ['0.2', '1', '5'].map((epsilon) => [name, epsilon, of] as const));
  it.skipIf(!folder).each(all)(
    'the noise of %s at epsilon %s is below group privacy and Markov Quilt',
    async (name, epsilon, of) => {
      const { sql, length } = of();
      const found = scales(await matrixOf(sql), length, epsilon);
      if (process.env.FUGU_TIMES) console.log(name, epsilon, JSON.stringify(found));
      expect(found.uninformed).toBeLessThanOrEqual(Math.min(found.group, found.quilt) * (1 + 1e-9));
      // Also below the quilt that promises nothing where steps are known.
      expect(found.informed).toBeLessThanOrEqual(Math.min(found.group, found.quilt, found.robust) * (1 + 1e-9));
    },
  );

  // Activities and hours as such chains are: states that last, and some that are left at once.
  const made: readonly (readonly [string, Matrix])[] = [
    [
      'states that last',
      [
        [0.95, 0.04, 0.01],
        [0.03, 0.96, 0.01],
        [0.02, 0.02, 0.96],
      ],
    ],
    [
      'a rare state',
      [
        [0.9, 0.09, 0.01],
        [0.2, 0.79, 0.01],
        [0.5, 0.49, 0.01],
      ],
    ],
    [
      'quick changes',
      [
        [0.4, 0.6],
        [0.5, 0.5],
      ],
    ],
  ];
  it.each(made.flatMap(([name, m]) => ['0.2', '1', '5'].map((epsilon) => [name, epsilon, m] as const)))(
    'the noise of %s at epsilon %s is below group privacy and Markov Quilt',
    (_, epsilon, m) => {
      const found = scales(m, 300, epsilon);
      expect(found.uninformed).toBeLessThanOrEqual(Math.min(found.group, found.quilt) * (1 + 1e-9));
      expect(found.informed).toBeLessThanOrEqual(Math.min(found.group, found.robust) * (1 + 1e-9));
    },
  );
});
