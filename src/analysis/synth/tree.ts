import { rational } from '../../base/exact/rational.js';
import { additive } from '../../privacy/mechanism/additive.js';
import { type Allotment, partOf } from '../../privacy/mechanism/allotment.js';
import type { Paid } from '../../privacy/mechanism/paid.js';
import { selection } from '../../privacy/mechanism/select.js';
import { type Measured, fit as modelOf } from '../graphical/fit.js';
import type { CodedTable } from '../learn/network/coded.js';
import { countsOf } from './counts.js';
import { penaltyOf } from './distance.js';
import { choicesMoved, countsMoved, type Method, measure, type Setting, totalOf } from './method.js';

const third = rational(1, 3);

/**
 * Single columns, then a tree of pairs: each edge is chosen among pairs between components by distance from independence, and
 * measured (MST, after McKenna et al. 2021). Guarantee in synth.proof.md.
 */
export function asTree(setting: Setting, allotment: Allotment): Method {
  const { sizes } = setting;
  const edges = sizes.length - 1;
  const effects = countsMoved(setting);
  const [widest = 1, next = 1] = [...sizes].sort((a, b) => b - a);
  const own = partOf(allotment, edges > 0 ? third : rational(1));
  const singles = additive({ name: 'tables of one column', cells: widest, times: sizes.length, effects }, own);
  const joins =
    edges > 0
      ? {
          choice: selection(
            { name: 'pairs of the tree', cells: edges, effects: choicesMoved(setting, edges) },
            partOf(allotment, third),
          ),
          pairs: additive({ name: 'tables of the pairs', cells: widest * next, times: edges, effects }, partOf(allotment, third)),
        }
      : undefined;

  const run = (rows: CodedTable, paid: Paid, progress?: (done: number, total: number) => void): readonly Measured[] => {
    const measured: Measured[] = sizes.map((_, c) => measure(rows, [c], singles, paid));
    if (!joins) return measured;
    const apart = modelOf({ sizes, measured, total: totalOf(setting, measured), impossible: setting.impossible });
    const pairs = sizes.flatMap((_, a) => sizes.slice(0, a).map((_, b) => [b, a] as const));
    const penalties = pairs.map((pair) => penaltyOf(countsOf(rows, pair), apart.table(pair), largest, 0));
    const part = sizes.map((_, c) => c);
    for (let edge = 0; edge < edges; edge++) {
      const open = pairs.flatMap(([a, b], k) => (part[a] === part[b] ? [] : [k]));
      const [a, b] =
        pairs[
          open[
            joins.choice.choose(
              paid,
              open.map((k) => penalties[k]!),
            )
          ]!
        ]!;
      const [from, to] = [part[b]!, part[a]!];
      for (const [c, own] of part.entries()) if (own === from) part[c] = to;
      measured.push(measure(rows, [a, b], joins.pairs, paid));
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
