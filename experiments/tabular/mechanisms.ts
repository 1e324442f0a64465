import type { CodedTable } from '../../src/analysis/learn/network/coded.js';
import { pairTables } from '../../src/analysis/learn/network/contingency.js';
import type { Calibrate } from '../../src/evaluate/attack/survey/audit.js';
import { learnTabular, tabularCalibrate } from '../../src/evaluate/attack/survey/published.js';
import {
  dependentSensitivity,
  type TabularChunk,
  type TabularReadingName,
  tabularReadings,
} from '../../src/evaluate/papers/correlated-columns/tabular.js';
import {
  commonAnswers,
  largestPairwiseBase,
  type PairwiseSpread,
  pairwiseSpread,
} from '../../src/privacy/dependence/pairwise/leakage.js';
import type { PairTables } from '../../src/privacy/dependence/pairwise/pair-tables.js';
import { largestRho } from './rho.js';

/** One survey with all values that are computed once. */
export interface Prepared {
  readonly year: string;
  readonly table: CodedTable;
  /** Levels below 5 % pooled. */
  readonly pooled: CodedTable;
  readonly pairs: PairTables;
  readonly spread: PairwiseSpread;
  readonly chunks: ReadonlyMap<number, readonly TabularChunk[]>;
}

const delta = 1e-6;

export async function prepare(year: string, table: CodedTable, pool: CodedTable, sizes: readonly number[]): Promise<Prepared> {
  const chunks = new Map<number, readonly TabularChunk[]>();
  for (const k of sizes) chunks.set(k, await learnTabular(table, k));
  const pairs = pairTables(table);
  const spread = pairwiseSpread([pairs], { confidence: 0.95, secrets: commonAnswers(pairs, () => 0.05) });
  return { year, table, pooled: pool, pairs, spread, chunks };
}

/** Noise of one mechanism on one survey: scale per column (Laplace b or Gaussian sigma). */
export interface Drawn {
  readonly kind: 'laplace' | 'gaussian';
  readonly levels: readonly number[];
  readonly scales: readonly number[];
}

export interface Mechanism {
  readonly name: string;
  readonly certified: boolean;
  /** True where answers below 5 % form one secret together: the audit then pools levels. */
  readonly grouped: boolean;
  readonly draw: (survey: Prepared, epsilon: number, k: number) => Drawn;
  /** The same mechanism on a small survey, for exact audits; absent for (epsilon, delta) noise. */
  readonly small?: Calibrate;
}

/**
 * Minimises the sum of cells x sigma^2 subject to sum 1/sigma^2 = rho (replacing a row changes two cells of each table):
 * sigma^2 ~ cells^(-1/2).
 */
export function gaussianSplit(levels: readonly number[], rho: number): readonly number[] {
  const total = levels.reduce((sum, cells) => sum + Math.sqrt(cells), 0);
  return levels.map((cells) => Math.sqrt(total / (rho * Math.sqrt(cells))));
}

const equal = (levels: readonly number[], scale: number): Drawn => ({ kind: 'laplace', levels, scales: levels.map(() => scale) });

const algorithm =
  (reading: TabularReadingName) =>
  (survey: Prepared, epsilon: number, k: number): Drawn => {
    const scales = new Array<number>(survey.table.levels.length).fill(0);
    const n = scales.length;
    for (const chunk of survey.chunks.get(k)!) {
      const ds = dependentSensitivity(survey.pairs, chunk, tabularReadings[reading]);
      for (const c of chunk.columns) scales[c] = (n * ds) / (Math.min(k, n) * epsilon);
    }
    return { kind: 'laplace', levels: survey.table.levels, scales };
  };

const published = (name: string, reading: TabularReadingName): Mechanism => ({
  name,
  certified: false,
  grouped: false,
  draw: algorithm(reading),
  small: tabularCalibrate(reading),
});

export const mechanisms: readonly Mechanism[] = [
  {
    name: 'Laplace n/epsilon (paper baseline)',
    certified: false,
    grouped: false,
    draw: ({ table }, epsilon) => equal(table.levels, table.levels.length / epsilon),
    small: (table, epsilon) => table.names.map(() => (2 * epsilon) / table.names.length),
  },
  {
    name: 'Laplace 2n/epsilon',
    certified: true,
    grouped: false,
    draw: ({ table }, epsilon) => equal(table.levels, (2 * table.levels.length) / epsilon),
    small: (table, epsilon) => table.names.map(() => epsilon / table.names.length),
  },
  published('Algorithm 1, zeros ignored', 'zeros-ignored'),
  published('Algorithm 1, joint ratios', 'joint'),
  published('Algorithm 1, add one', 'add-one'),
  published('Algorithm 1, largest row', 'max-row'),
  published('Algorithm 1, clipped', 'clipped'),
  {
    name: 'Gaussian, whole row, delta 1e-6',
    certified: true,
    grouped: false,
    draw: ({ table }, epsilon) => ({
      kind: 'gaussian',
      levels: table.levels,
      scales: gaussianSplit(table.levels, largestRho(epsilon, delta)),
    }),
  },
  {
    name: 'Pairwise bound, 95 % radius',
    certified: true,
    grouped: true,
    draw: ({ table, spread }, epsilon) => equal(table.levels, 2 / largestPairwiseBase(spread, epsilon)),
    small: (table, epsilon) => {
      const base = largestPairwiseBase(pairwiseSpread([pairTables(table)]), epsilon);
      return table.names.map(() => base);
    },
  },
];
