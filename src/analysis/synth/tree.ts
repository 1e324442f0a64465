import { rational } from '../../base/exact/rational.js';
import { additiveMechanism } from '../../privacy/mechanism/additive.js';
import { type BudgetShare, splitShare } from '../../privacy/mechanism/budget-share.js';
import { exponentialMechanism } from '../../privacy/mechanism/exponential-mechanism.js';
import type { Payment } from '../../privacy/mechanism/payment.js';
import { fitModel as modelOf, type NoisyMarginal } from '../graphical/fit.js';
import { type CodedTable, countMarginal } from '../learn/network/coded.js';
import { distancePenalty } from './distance.js';
import {
  choiceSensitivity,
  countSensitivity,
  estimatedTotal,
  measureMarginal,
  type SynthMethod,
  type SynthSetting,
} from './method.js';

const third = rational(1, 3);

/**
 * Single columns, then a tree of pairs: each edge is chosen among pairs between components by distance from independence, and
 * measured (MST, after McKenna et al. 2021). Guarantee in synth.proof.md.
 */
export function treeMethod(setting: SynthSetting, budgetShare: BudgetShare): SynthMethod {
  const { sizes } = setting;
  const edges = sizes.length - 1;
  const sensitivity = countSensitivity(setting);
  const [widest = 1, next = 1] = [...sizes].sort((a, b) => b - a);
  const own = splitShare(budgetShare, edges > 0 ? third : rational(1));
  const singles = additiveMechanism({ name: 'tables of one column', cells: widest, times: sizes.length, sensitivity }, own);
  const joins =
    edges > 0
      ? {
          choice: exponentialMechanism(
            { name: 'pairs of the tree', cells: edges, sensitivity: choiceSensitivity(setting, edges) },
            splitShare(budgetShare, third),
          ),
          pairs: additiveMechanism(
            { name: 'tables of the pairs', cells: widest * next, times: edges, sensitivity },
            splitShare(budgetShare, third),
          ),
        }
      : undefined;

  const run = (
    rows: CodedTable,
    payment: Payment,
    progress?: (done: number, total: number) => void,
  ): readonly NoisyMarginal[] => {
    const measured: NoisyMarginal[] = sizes.map((_, c) => measureMarginal(rows, [c], singles, payment));
    if (!joins) return measured;
    const independentModel = modelOf({
      sizes,
      measured,
      total: estimatedTotal(setting, measured),
      impossible: setting.impossible,
    });
    const pairs = sizes.flatMap((_, a) => sizes.slice(0, a).map((_, b) => [b, a] as const));
    const penalties = pairs.map((pair) => distancePenalty(countMarginal(rows, pair), independentModel.table(pair), largest, 0));
    const part = sizes.map((_, c) => c);
    for (let edge = 0; edge < edges; edge++) {
      const open = pairs.flatMap(([a, b], k) => (part[a] === part[b] ? [] : [k]));
      const [a, b] =
        pairs[
          open[
            joins.choice.choose(
              payment,
              open.map((k) => penalties[k]!),
            )
          ]!
        ]!;
      const [from, to] = [part[b]!, part[a]!];
      for (const [c, own] of part.entries()) if (own === from) part[c] = to;
      measured.push(measureMarginal(rows, [a, b], joins.pairs, payment));
      progress?.(edge + 1, edges);
    }
    return measured;
  };
  return {
    why: 'A third of the budget measures every column by itself, a third chooses a tree of pairs that are far from independent, a third measures these pairs.',
    mechanisms: [singles, ...(joins ? [joins.choice, joins.pairs] : [])],
    cells: edges > 0 ? widest * next * edges : widest,
    run,
  };
}
/** All pairs have the same weight. */
const largest = 32;
