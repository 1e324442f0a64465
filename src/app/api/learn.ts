import * as z from 'zod';
import { largestChunk } from '../../analysis/learn/network/best-structure.js';
import type { CodedTable } from '../../analysis/learn/network/coded.js';
import { learnUnpaidNetwork } from '../../analysis/learn/network/learn-columns.js';
import { learnSpreadUnpaid } from '../../analysis/learn/network/learn-spread.js';
import { toNumber } from '../../base/exact/rational.js';
import { writeWhole } from '../../base/files/write-file.js';
import { basename } from '../../base/platform/paths.js';
import { attackHeldOut } from '../../evaluate/attack/survey/survey.js';
import { writeBif } from '../../privacy/dependence/model/bif.js';
import type { Network } from '../../privacy/dependence/model/network.js';
import { writeNetworkJson } from '../../privacy/dependence/model/network-json.js';
import { largestPairwiseBase, type PairwiseSpread } from '../../privacy/dependence/pairwise/leakage.js';
import { type AttackFigure, type SpreadTables, writeSpread } from '../../privacy/dependence/pairwise/spread-file.js';
import { type FileName, fileNamed, integerBetween, parseOptions, progressShape, withFaults } from './input.js';
import { defineRequest, field } from './request.js';
import { withStewardData } from './steward-read.js';

const upToChunk = (flag: string) =>
  [`${flag} must be a whole number from 1 to ${largestChunk}.`, 'For example --chunk 10.'] as const;

export const networkOptions = defineRequest('NetworkOptions', {
  out: field(z.string().min(1).optional(), 'Output file: .json, or .bif.'),
  chunk: field(integerBetween(1, largestChunk).optional(), 'Exact networks of at most this many columns instead of one forest.', {
    value: 'k',
    help: `unpaid: exact networks of at most k columns (up to ${largestChunk}) instead of one forest`,
    refusal: upToChunk('--chunk'),
  }),
  maxParents: field(integerBetween(1, largestChunk).optional(), 'With chunk: largest number of parents of a column.', {
    value: 'm',
    help: 'with --chunk: at most m parents each',
    refusal: upToChunk('--max-parents'),
  }),
  public: field(
    z.boolean().default(false),
    'Declares that the rows are public already (an earlier wave): the network is marked so.',
    { help: 'the rows are public already (an earlier wave): mark the file so' },
  ),
  progress: progressShape.optional(),
});
export type NetworkOptions = z.input<typeof networkOptions>;

/**
 * Dependence between the answers of one person, read from the protected rows WITHOUT payment: marked, and as private as the data.
 * For a network that may be published, release the question { network: true }.
 *
 * @example
 * const network = await learnNetwork('policy.yaml', { public: true });
 * console.log(network.variables.length);
 */
export async function learnNetwork(policy: FileName, given?: NetworkOptions): Promise<Network> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const { out, public: known, ...chosen } = parseOptions(networkOptions, given);
    const network = await withStewardData('learn network', file, (engine, read) =>
      learnUnpaidNetwork(engine, read, {
        origin: known ? { learned: 'public', from: basename(read.data.source) } : { learned: 'unpaid' },
        ...chosen,
      }),
    );
    if (out !== undefined) writeNetwork(out, network);
    return network;
  });
}

/** Writes the network to a file that a policy can declare: .bif, or JSON. */
export const writeNetwork = (file: string, network: Network): void =>
  writeWhole(file, /\.bif$/i.test(file) ? writeBif(network) : writeNetworkJson(network), { hint: 'Choose another --out.' });

export const spreadOptions = defineRequest('SpreadOptions', {
  out: field(z.string().min(1).optional(), 'Output file, as JSON.'),
  confidence: field(z.number().gt(0).lt(1).default(0.95), 'Probability over the sample.', {
    value: 'c',
    help: 'with --pairwise: probability over the sample',
    showsDefault: true,
    refusal: ['--confidence must lie between 0 and 1.', 'Write 0.95.'],
  }),
  pool: field(z.number().min(0).lt(0.5).default(0.05), 'Answers rarer than this are merged into one secret.', {
    value: 'share',
    help: 'with --pairwise, unpaid: answers rarer than this are one secret together',
    showsDefault: true,
    refusal: ['--pool must be a share from 0 to below 0.5.', 'Write 0.05.'],
  }),
  public: field(z.boolean().default(false), 'Declares that the rows are public already.'),
  progress: progressShape.optional(),
});
export type SpreadOptions = z.input<typeof spreadOptions>;

/** Input of the pairwise bound, and its benefit at the policy's epsilon. */
export interface LearnedSpread extends SpreadTables {
  readonly origin: { readonly kind: 'unpaid' } | { readonly kind: 'public'; readonly from: string };
  readonly confidence: number;
  /** Epsilon of the policy's whole budget. */
  readonly epsilon: number;
  /** Noise of a histogram of every column, divided by the noise under composition. */
  readonly noiseOverComposition: number;
  /** Success of the strongest attack found on these rows, as shares of epsilon. */
  readonly attack?: AttackFigure;
}

/**
 * Input of the pairwise bound, read from the protected rows WITHOUT payment: marked, and as private as the data. For one that may
 * be published, release the question { spread: ... }.
 *
 * @example
 * const { noiseOverComposition } = await learnSpread('policy.yaml', { public: true });
 */
export async function learnSpread(policy: FileName, given?: SpreadOptions): Promise<LearnedSpread> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const { out, public: known, confidence, pool, progress } = parseOptions(spreadOptions, given);
    return withStewardData('learn spread', file, async (engine, read) => {
      const epsilon = toNumber(read.budget.epsilon);
      const judge = (rows: CodedTable, costs: readonly number[]) => {
        const found = attackHeldOut(rows, costs, { pairs: 24, ...(progress && { progress }) });
        return { inSample: found.inSample.loss, heldOut: found.heldOut };
      };
      const { attack, ...tables } = await learnSpreadUnpaid(engine, read, { confidence, pool, epsilon, judge });
      const origin = known ? ({ kind: 'public', from: basename(read.data.source) } as const) : ({ kind: 'unpaid' } as const);
      const document = { ...tables, origin, ...(attack && { attack }) };
      if (out !== undefined) writeLearnedSpread(out, document);
      return { ...document, epsilon, confidence, noiseOverComposition: noiseRatio(tables.spread, epsilon) };
    });
  });
}

/** Writes the spread to a file that a policy can declare. */
export const writeLearnedSpread = (file: string, spread: Parameters<typeof writeSpread>[0]): void =>
  writeWhole(file, writeSpread(spread), { hint: 'Choose another --out.' });

/** Noise of a histogram of every column at this epsilon, divided by the noise under composition. */
export const noiseRatio = (spread: PairwiseSpread, epsilon: number): number =>
  epsilon / spread.columns / largestPairwiseBase(spread, epsilon);
