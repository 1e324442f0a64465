import { fromNumber } from '../../base/exact/rational.js';
import type { BeliefChange } from '../../evaluate/attack/policy/beliefs.js';
import { posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';
import type { BeliefRow } from '../../release/accountant/belief.js';
import { percentText } from '../../release/accountant/belief-words.js';
import { type ChartRow, rowChart } from './chart-frame.js';
import { colour, type Drawing, element, line } from './svg.js';

/**
 * A hundred people, those rightly suspected filled in. Larger crowds are drawn as a hundred dots of equal share; fractions are
 * rounded up, as in `percent`.
 */
export function crowd(right: number, of: number, label: string): Drawing {
  const cell = 15;
  const filled = Math.ceil((right / of) * 100 - 1e-9);
  const dots = Array.from({ length: 100 }, (_, k) => {
    const cx = (k % 10) * cell + cell / 2;
    const cy = Math.floor(k / 10) * cell + cell / 2;
    return k < filled
      ? element('circle', { cx, cy, r: 5.4, fill: colour.accent })
      : element('circle', { cx, cy, r: 4.7, fill: 'none', stroke: colour.muted, 'stroke-opacity': 0.55, 'stroke-width': 1.2 });
  });
  return { width: 10 * cell, height: 10 * cell, label, body: dots.join('') };
}

/** For each prior, how far the releases can move it: a dot, and the range to both sides. */
export function beliefRanges(priors: readonly BeliefRow[], width: number): Drawing {
  const ends = ({ atLeast, atMost }: BeliefRow) => [percentText(atLeast, 'down'), percentText(atMost, 'up')];
  const rows = priors.map((row): ChartRow => {
    const { prior, atLeast, atMost } = row;
    return {
      label: percentText(prior),
      error: ends(row).join(' – '),
      draw: (x, y) =>
        [
          line([x(atLeast), y], [x(prior), y], { stroke: colour.bar, 'stroke-width': 7, 'stroke-opacity': 0.45 }),
          line([x(prior), y], [x(atMost), y], { stroke: colour.accent, 'stroke-width': 7, 'stroke-opacity': 0.75 }),
          priorDot(x(prior), y),
        ].join(''),
    };
  });
  const label = `Belief before and possible belief after: ${priors.map((row) => `${percentText(row.prior)} to between ${ends(row).join(' and ')}`).join('; ')}`;
  return beliefRows(rows, label, width);
}

/** Posteriors of one record's values: prior and posterior on one axis, and the band that a promise of epsilon permits. */
export function beliefChart(
  { values, actual, epsilon, belief }: { values: readonly string[]; actual: string; epsilon: number; belief: Moved },
  width: number,
): Drawing {
  const limit = fromNumber(epsilon);
  const [before, after] = [belief.prior, belief.posterior].map((list) => list.map((p) => percentText(p))) as [string[], string[]];
  const rows = values.map((value, k): ChartRow => {
    const [prior, posterior] = [belief.prior[k]!, belief.posterior[k]!];
    const open = prior > 0 && prior < 1;
    const low = open ? posteriorAtLeast(fromNumber(prior), limit) : prior;
    const high = open ? posteriorAtMost(fromNumber(prior), limit) : prior;
    const fill = posterior > high + 1e-9 || posterior < low - 1e-9 ? colour.accent : colour.bar;
    return {
      label: value,
      strong: value === actual,
      error: `${before[k]} → ${after[k]}`,
      draw: (x, y) =>
        [
          line([x(low), y], [x(high), y], { stroke: colour.soft, 'stroke-width': 9 }),
          line([x(prior), y], [x(posterior), y], { stroke: fill, 'stroke-width': 2 }),
          priorDot(x(prior), y),
          element('circle', { cx: x(posterior), cy: y, r: 4.6, fill }),
        ].join(''),
    };
  });
  return beliefRows(rows, values.map((v, k) => `${v}: ${before[k]} before, ${after[k]} after`).join('; '), width);
}
type Moved = Pick<BeliefChange, 'prior' | 'posterior'>;

const priorDot = (cx: number, cy: number): string =>
  element('circle', { cx, cy, r: 4.4, fill: colour.paper, stroke: colour.ink, 'stroke-width': 1.7 });
const beliefRows = (rows: readonly ChartRow[], label: string, width: number): Drawing =>
  rowChart({ rows, label, width, domain: [0, 1], tickLabel: (t) => `${t * 100} %` });
