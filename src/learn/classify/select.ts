import type { Engine } from '../../engine/engine.js';
import { Fault } from '../../errors.js';
import { sqrtDown } from '../../exact/outward.js';
import { divide, fromNumber, multiply, type Rational, rational, toNumberDown, toText } from '../../exact/rational.js';
import { everyRecord, type Profile, pureProfile, zcdpProfile } from '../../mechanism/profile.js';
import { chooseExponential } from '../../noise/exponential.js';
import type { Policy } from '../../policy/policy.js';
import type { PlannedMeasure } from '../../release/plan.js';
import { scoreGrid } from '../network/private-tree.js';
import { readCells } from './cells.js';
import type { Feature, FeatureMap } from './features.js';
import type { Means } from './trainer.js';

/** A paid step before learning: which features to keep. */
export interface Selection {
  readonly profile: Profile;
  readonly measures: readonly PlannedMeasure[];
  readonly choose: (engine: Engine) => Promise<readonly Feature[]>;
}

export interface SelectionTerms {
  readonly keep: number;
  /** Share of the budget for the choice. */
  readonly share: number;
  readonly records: number;
  readonly each: number;
}

/**
 * Features that say much about the label and little about each other, picked one at a time by the exponential mechanism: fewer and less
 * correlated columns, so less for one record to move. Guarantee in select.proof.md.
 */
export function selectionStep(policy: Policy, map: FeatureMap, means: Means, terms: SelectionTerms): Selection {
  const { keep, records } = terms;
  if (keep > map.features.length)
    throw new Fault(
      'QUERY_INVALID',
      'More features are to be kept than there are.',
      'Keep fewer, or list more features to choose from.',
    );
  if (terms.each !== 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Features can be selected only when a record is one row.',
      'Leave out "select", or declare maxRows: 1.',
    );
  const share = fromNumber(terms.share);
  const { unit, reach } = scoreGrid(records);
  const sharpness = Array.from({ length: keep }, (_, step) =>
    sharpnessOf(means, divide(share, rational(keep)), rational(step === 0 ? reach : 2n * reach + 1n)),
  );
  return {
    profile:
      means.noise === 'laplace'
        ? pureProfile([[everyRecord, multiply(means.epsilon, share)]])
        : zcdpProfile([[everyRecord, multiply(means.rho, share)]]),
    measures: [{ name: 'choice of features', cells: keep, noise: { kind: 'selection', sharpness: toText(sharpness.at(-1)!) } }],
    choose: async (engine) => {
      const tables = await pairCounts(engine, policy, map);
      const score = (i: number, j: number) => distance(tables, i, j, BigInt(records)) / unit;
      return pick(map.features.length, sharpness, score).map((f) => map.features[f]!);
    },
  };
}

/** A choice at this sharpness costs 2 sharpness reach in epsilon, and (sharpness reach)^2 / 2 in rho. */
function sharpnessOf(means: Means, part: Rational, reach: Rational): Rational {
  if (means.noise === 'laplace') return divide(multiply(means.epsilon, part), multiply(rational(2), reach));
  const root = fromNumber(sqrtDown(toNumberDown(multiply(rational(2), multiply(means.rho, part)))));
  return divide(root, reach);
}

/** `score(f, 0)` is about the label, `score(f, g + 1)` about another feature. */
export function pick(features: number, sharpness: readonly Rational[], score: (i: number, j: number) => bigint): number[] {
  const left = Array.from({ length: features }, (_, f) => f);
  const kept: number[] = [];
  for (const rate of sharpness) {
    const scores = left.map((f) => {
      const shared = kept.reduce((s, g) => s + score(f + 1, g + 1), 0n);
      return score(f + 1, 0) - (kept.length > 0 ? shared / BigInt(kept.length) : 0n);
    });
    kept.push(...left.splice(chooseExponential({ scores }, rate), 1));
  }
  return kept.sort((a, b) => a - b);
}

/** Counts of every pair of columns; column 0 is the label. */
interface PairCounts {
  readonly levels: readonly number[];
  readonly tables: readonly (readonly Float64Array[])[];
}

async function pairCounts(engine: Engine, policy: Policy, map: FeatureMap): Promise<PairCounts> {
  const level = [
    (x: number) => (x < 0 ? 2 : map.label.positive.has(x) ? 1 : 0),
    ...map.features.map((f) => (x: number) => f.level(x)),
  ];
  const levels = [3, ...map.features.map((f) => f.levels)];
  const tables = levels.map((a, i) => levels.slice(0, i).map((b) => new Float64Array(a * b)));
  const codes = new Int32Array(levels.length);
  for await (const part of readCells(engine, policy, [map.label.column, ...map.features.map((f) => f.column)])) {
    const { rows, columns } = part.open();
    for (let r = 0; r < rows; r++) {
      for (let i = 0; i < codes.length; i++) {
        codes[i] = level[i]!(columns[i]![r]!);
        for (let j = 0; j < i; j++) tables[i]![j]![codes[i]! * levels[j]! + codes[j]!]! += 1;
      }
    }
  }
  return { levels, tables };
}

/** sum over cells of |n N_ab - N_a N_b|. */
function distance({ levels, tables }: PairCounts, i: number, j: number, n: bigint): bigint {
  const [a, b] = i > j ? [i, j] : [j, i];
  const table = tables[a]![b]!;
  const width = levels[b]!;
  const across = new Array<bigint>(levels[a]!).fill(0n);
  const down = new Array<bigint>(width).fill(0n);
  table.forEach((count, k) => {
    across[Math.floor(k / width)]! += BigInt(count);
    down[k % width]! += BigInt(count);
  });
  return table.reduce<bigint>((sum, count, k) => {
    const apart = n * BigInt(count) - across[Math.floor(k / width)]! * down[k % width]!;
    return sum + (apart < 0n ? -apart : apart);
  }, 0n);
}
