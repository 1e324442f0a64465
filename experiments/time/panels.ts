import { logUp } from '../../src/base/exact/outward.js';
import { toNumber } from '../../src/base/exact/rational.js';
import { attractiveBound } from '../../src/privacy/dependence/alike/attractive-bound.js';
import { fromFactors } from '../../src/privacy/dependence/graph/factor-graph.js';
import { largestBelow } from '../../src/privacy/dependence/largest-below.js';
import { leakageBounds } from '../../src/privacy/dependence/leakage.js';

export interface Panel {
  readonly people: number;
  readonly weeks: number;
  /** Odds ratio of one person from week to week, and of two of a home in one week. */
  readonly week: number;
  readonly home: number;
}

/** Ratio of epsilon to the budget of each answer, by three bounds. */
export interface PanelNoise extends Panel {
  readonly group: number;
  /** Ties of any sign, as in version 0.1. */
  readonly either: number;
  /** Positive ties only. */
  readonly alike: number;
}

export const panels: readonly Panel[] = [
  { people: 4, weeks: 1, week: 1, home: 4 },
  { people: 5, weeks: 1, week: 1, home: 2 },
  { people: 3, weeks: 12, week: 9, home: 2 },
  { people: 2, weeks: 52, week: 9, home: 4 },
  { people: 3, weeks: 52, week: 9, home: 4 },
  { people: 3, weeks: 52, week: 4, home: 9 },
  { people: 4, weeks: 52, week: 4, home: 4 },
];

export function panelNoise(panel: Panel, epsilon = 1): PanelNoise {
  const { people, weeks, week, home } = panel;
  const records = people * weeks;
  const at = (person: number, t: number) => person * weeks + t;
  const ties: { members: number[]; logOdds: number }[] = [];
  for (let p = 0; p < people; p++)
    for (let t = 0; t < weeks; t++) {
      if (t + 1 < weeks && week > 1) ties.push({ members: [at(p, t), at(p, t + 1)], logOdds: logUp(week) });
      for (let q = p + 1; q < people; q++) ties.push({ members: [at(p, t), at(q, t)], logOdds: logUp(home) });
    }
  const graph = fromFactors(records, ties);
  const each = (base: number) => new Float64Array(records).fill(base);
  const either = (base: number) => leakageBounds(graph, each(base), 'informed').worst.leakage;
  return {
    ...panel,
    group: records,
    either: epsilon / toNumber(largestBelow(either, epsilon, epsilon, 1e-6)),
    alike: Math.max(...attractiveBound(graph, each(1))),
  };
}
