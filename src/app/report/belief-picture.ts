import { percentText } from '../../release/accountant/belief-words.js';
import { colour, type Drawing, element, half, line, linear, smallest, textElement } from './svg.js';

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

export interface BeliefRange {
  readonly prior: number;
  readonly atLeast: number;
  readonly atMost: number;
}

/** For each prior, how far the releases can move it: a dot, and the range to both sides. */
export function beliefRanges(rows: readonly BeliefRange[], width: number): Drawing {
  const rowHeight = 28;
  const small = width < half;
  const left = small ? 48 : 64;
  const right = width - (small ? 104 : 112);
  const x = linear([0, 1], [left, right], 4);
  const bottom = rows.length * rowHeight + 4;
  const grid = (small ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).flatMap((t) => [
    line(x(t), 0, x(t), bottom, { stroke: colour.rule }),
    textElement(x(t), bottom + 15, `${t * 100} %`, { 'text-anchor': 'middle', 'font-size': smallest, fill: colour.muted }),
  ]);
  const drawn = rows.map(({ prior, atLeast, atMost }, k) => {
    const y = k * rowHeight + rowHeight / 2 + 2;
    return [
      textElement(left - 12, y + 4, percentText(prior), { 'text-anchor': 'end', class: 'figure' }),
      line(x(atLeast), y, x(prior), y, { stroke: colour.bar, 'stroke-width': 7, 'stroke-opacity': 0.45 }),
      line(x(prior), y, x(atMost), y, { stroke: colour.accent, 'stroke-width': 7, 'stroke-opacity': 0.75 }),
      element('circle', { cx: x(prior), cy: y, r: 4.5, fill: colour.paper, stroke: colour.ink, 'stroke-width': 1.8 }),
      textElement(width, y + 4, `${percentText(atLeast, 'down')} – ${percentText(atMost, 'up')}`, {
        'text-anchor': 'end',
        fill: colour.muted,
        class: 'figure',
      }),
    ].join('');
  });
  return {
    width,
    height: bottom + 20,
    label: `Belief before and possible belief after: ${rows.map((r) => `${percentText(r.prior)} to between ${percentText(r.atLeast, 'down')} and ${percentText(r.atMost, 'up')}`).join('; ')}`,
    body: [...grid, ...drawn].join(''),
  };
}
