import { describe, expect, it } from 'vitest';
import { boxCloud, growBoxes, type HalvingLevel, halvingOrder } from './halving.js';
import type { Points } from './points.js';

const exactly = (exact: readonly bigint[]) => [...exact];
const level = (partSize: number, more: Partial<HalvingLevel> = {}): HalvingLevel => ({
  cells: 1e6,
  partSize,
  spread: 0,
  noise: () => exactly,
  ...more,
});
/** Most rows in one corner, a few everywhere. */
const last = [100, 100, 1];
const rows: Points = {
  dimensions: 3,
  count: 1000,
  coordinates: Int32Array.from(
    Array.from({ length: 1000 }, (_, i) =>
      i % 10 === 0 ? [2 * ((i * 37) % 101) - 100, 2 * ((i * 53) % 101) - 100, 1] : [-98 + 2 * (i % 3), 90 - 2 * (i % 2), -1],
    ).flat(),
  ),
};

describe('boxes by recursive halving', () => {
  it('every row is in one box, and the boxes cover the whole domain', () => {
    const boxes = growBoxes(rows, halvingOrder(last), [level(2), level(2), level(2)], 1000);
    expect(boxes.reduce((s, { mass }) => s + mass, 0)).toBeCloseTo(1000, 9);
    const inside = (i: number, b: number) =>
      last.every((l, c) => {
        const place = (rows.coordinates[i * 3 + c]! + l) / 2;
        return Math.floor((place * 2 ** boxes[b]!.depth[c]!) / (l + 1)) === boxes[b]!.part[c];
      });
    const found = boxes.map(() => 0);
    for (let i = 0; i < rows.count; i++) {
      const holders = boxes.flatMap((_, b) => (inside(i, b) ? [b] : []));
      expect(holders).toHaveLength(1);
      found[holders[0]!]!++;
    }
    boxes.forEach(({ mass }, b) => {
      expect(mass).toBeCloseTo(found[b]!, 9);
    });
    // As points they are at their rows' positions, within half a width.
    const cloud = boxCloud(boxes, last);
    for (let b = 0; b < boxes.length; b++)
      for (let c = 0; c < 3; c++)
        expect(Math.abs(cloud.points[b * 3 + c]!) + cloud.halves[b * 3 + c]!).toBeLessThanOrEqual(1 + 1 / last[c]!);
  });

  it('boxes are small in dense regions and large in sparse ones', () => {
    const boxes = growBoxes(rows, halvingOrder(last), [level(10), level(10), level(10)], 1000);
    const heavy = boxes.filter(({ mass }) => mass > 100);
    const light = boxes.filter(({ mass }) => mass < 10);
    expect(Math.min(...heavy.map(({ halvings }) => halvings))).toBeGreaterThan(
      Math.max(...light.map(({ halvings }) => halvings)),
    );
  });

  it('boxes are never halved below one step of the grid: a column of two values is cut once', () => {
    const { coordinate, depth } = halvingOrder(last);
    expect(coordinate.filter((c) => c === 2)).toHaveLength(1);
    expect(coordinate.filter((c) => c === 0)).toHaveLength(7);
    expect(Math.max(...depth)).toBe(6);
  });

  it('halving uses the public number of rows, unless the noisy counts prove that fewer have all coordinates', () => {
    const total = (spread: number) =>
      growBoxes(rows, halvingOrder(last), [level(2, { spread })], 4000).reduce((s, { mass }) => s + mass, 0);
    expect(total(1)).toBeCloseTo(1000, 6);
    expect(total(1000)).toBeCloseTo(4000, 6);
  });

  it('halving is refused when it would make more boxes than noise was paid for', () => {
    expect(() => growBoxes(rows, halvingOrder(last), [level(2, { cells: 10 })], 1000)).toThrow('more boxes than were foreseen');
  });
});
