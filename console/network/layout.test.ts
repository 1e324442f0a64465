import { expect, it } from 'vitest';
import { layout } from './layout.ts';

const nodes = Array.from({ length: 40 }, (_, id) => ({ id, degree: 1 }));
const edges = Array.from({ length: 20 }, (_, k) => ({ a: 2 * k, b: 2 * k + 1, kind: 'ties', oddsRatio: 4 }));

it('the layout of one network is always the same, and tied records are close to each other', () => {
  const placed = layout(nodes, edges);
  expect(placed).toEqual(layout(nodes, edges));
  const distance = (i: number, j: number) => Math.hypot(placed[i]!.x - placed[j]!.x, placed[i]!.y - placed[j]!.y);
  const tied = edges.map(({ a, b }) => distance(a, b));
  const strangers = edges.map(({ a }, k) => distance(a, edges[(k + 7) % 20]!.b));
  const mean = (list: readonly number[]) => list.reduce((s, x) => s + x, 0) / list.length;
  expect(mean(tied)).toBeLessThan(mean(strangers) / 2);
  expect(placed.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
});

it('the layout leaves out ties to records that are not shown', () => {
  expect(layout([{ id: 0, degree: 1 }], [{ a: 0, b: 9, kind: 'ties', oddsRatio: 'inf' }])).toHaveLength(1);
});
