import { bestStructure } from '../../../analysis/learn/network/best-structure.js';
import { type CodedTable, splitColumns } from '../../../analysis/learn/network/coded.js';
import { pairTables } from '../../../analysis/learn/network/contingency.js';
import { learnChunks } from '../../../analysis/learn/network/learn-chunks.js';
import { releaseError } from '../../../analysis/survey/error.js';
import { Fault } from '../../../base/errors.js';
import {
  dependentSensitivity,
  type TabularChunk,
  type TabularNoise,
  type TabularReadingName,
  tabularNoise,
  tabularReadings,
} from '../../papers/correlated-columns/tabular.js';
import { auditSubSurveys, type Calibrate, subSurveys } from './audit.js';

/** Parents per column in the networks of Algorithm 1; 1 and 3 give the same within a few percent. */
export const mostParents = 2;

export async function learnTabular(table: CodedTable, k: number): Promise<readonly TabularChunk[]> {
  const columns = splitColumns(table.names.length, k);
  const structures = await learnChunks(table, columns, { maxParents: mostParents });
  return structures.map((s, i) => ({ columns: columns[i]!, parents: s.parents }));
}

/** Algorithm 1 on a small survey of one chunk, for exact audits: costs 2/scale with scale = DS/epsilon. */
export const tabularCalibrate =
  (reading: TabularReadingName): Calibrate =>
  (table, epsilon) => {
    const chunk = { columns: table.names.map((_, c) => c), parents: bestStructure(table, mostParents).parents };
    const sensitivity = dependentSensitivity(pairTables(table), chunk, tabularReadings[reading]);
    return table.names.map(() => (2 * epsilon) / sensitivity);
  };

/**
 * Noise that Algorithm 1 of Maughan and Near would add to a survey, and its
 * exact audit. Computed from the rows without payment: for the steward only.
 */
export interface PublishedFigure {
  readonly name: string;
  readonly certified: false;
  readonly reading: TabularReadingName;
  readonly chunks: number;
  /** Chunks with a sensitivity below one; columns that would get no noise at all. */
  readonly small: number;
  readonly bareColumns: number;
  /** Expected L2 error, and its ratio to that of Laplace noise 2n/epsilon; null for infinite noise. */
  readonly l2: number | null;
  readonly ratio: number | null;
  /** Reason for which it would not be released. */
  readonly refused: string;
  readonly audit: {
    readonly surveys: number;
    /** In how many an attacker gains more than epsilon. */
    readonly broken: number;
    /** Median and largest loss / epsilon; null is infinite; absent where no sub-survey is small enough to audit. */
    readonly median?: number | null;
    readonly worst?: number | null;
    /** The largest is a lower bound. */
    readonly atLeast?: true;
  };
}

export interface PublishedSurveyOptions {
  readonly chunk?: number;
  readonly readings?: readonly TabularReadingName[];
  readonly surveys?: number;
}

export async function judgePublished(
  table: CodedTable,
  epsilon: number,
  options: PublishedSurveyOptions = {},
): Promise<readonly PublishedFigure[]> {
  const k = options.chunk ?? 10;
  const given = answered(table);
  const chunks = await learnTabular(given, k);
  const pairs = pairTables(given);
  const small = subSurveys(given, options.surveys ?? 60);
  const readings = options.readings ?? (['conditional', 'zeros-ignored', 'joint', 'max-row', 'clipped'] as const);
  const baseline = l2Of(
    table,
    table.levels.map(() => (2 * table.levels.length) / epsilon),
  );
  return readings.map((reading): PublishedFigure => {
    const noise = asPrinted(() => tabularNoise(pairs, { chunks, chunkSize: k, epsilon }, { reading, asPublished: true }));
    const kept = asPrinted(() => tabularNoise(pairs, { chunks, chunkSize: k, epsilon }, { reading }));
    const l2 = 'refused' in noise ? null : l2Of(table, noise.scales);
    const audits = auditSubSurveys(small, epsilon, tabularCalibrate(reading)).toSorted((a, b) => a.loss - b.loss);
    const losses = audits.map((a) => a.loss / epsilon);
    return {
      name: `Tabular-DDP, ${reading}`,
      certified: false,
      reading,
      chunks: chunks.length,
      small: chunks.filter((chunk) => dependentSensitivity(pairs, chunk, tabularReadings[reading]) < 1).length,
      bareColumns: 'refused' in noise ? 0 : noise.scales.filter((scale) => scale === 0).length,
      l2,
      ratio: l2 === null ? null : l2 / baseline,
      refused:
        'refused' in kept
          ? kept.refused
          : 'It has no proof: the paper (Maughan and Near) counts neither the answer itself nor what its network leaves out.',
      audit: {
        surveys: losses.length,
        broken: losses.filter((loss) => loss > 1 + 1e-9).length,
        ...(losses.length > 0 && { median: finite(losses[losses.length >> 1]!), worst: finite(losses.at(-1)!) }),
        ...(audits.at(-1)?.atLeast && { atLeast: true }),
      },
    };
  });
}

/** Only the answers somebody gave: the others are impossible when these rows are taken as the truth. */
const answered = (table: CodedTable): CodedTable => {
  const columns = table.columns.map((codes, c) => {
    const place = new Int32Array(table.levels[c]!).fill(-1);
    let levels = 0;
    const kept = Uint16Array.from(codes, (code) => {
      if (place[code]! < 0) place[code] = levels++;
      return place[code]!;
    });
    return { kept, levels };
  });
  return { ...table, levels: columns.map((c) => c.levels), columns: columns.map((c) => c.kept) };
};

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
const l2Of = (table: CodedTable, scales: readonly number[]): number =>
  releaseError(scales.map((scale, c) => ({ distribution: { kind: 'laplace', scale }, cells: table.levels[c]! }))).l2;

function asPrinted(noise: () => TabularNoise): TabularNoise | { readonly refused: string } {
  try {
    return noise();
  } catch (error) {
    if (error instanceof Fault && error.code === 'NOT_PRIVATE') return { refused: error.message };
    throw error;
  }
}
