import { describe, expect, it } from 'vitest';
import { backstrom, type FriendshipModel } from '../../../analysis/learn/odds/friendship-model.js';
import { equation18 } from './dpm.js';
import { type CellGrid, FriendCoefficients, friendDpm, friendOddsRatio } from './friend-model.js';

/** The definition, cell by cell. */
function naive({ side, step }: CellGrid, { b, c }: FriendshipModel, scale: number): number {
  const cells = Array.from({ length: side * side }, (_, k) => [Math.floor(k / side), k % side] as const);
  const distance = (u: readonly [number, number], v: readonly [number, number]) =>
    (Math.abs(u[0] - v[0]) + Math.abs(u[1] - v[1])) * step;
  const far = cells.map((v) => Math.max(...cells.map((w) => distance(v, w))));
  const diameter = Math.max(...far);
  const logs = cells.map((u) => {
    const weights = cells.map((v) => (distance(u, v) + b) ** -c);
    const mass = weights.reduce((s, w) => s + w, 0);
    return Math.log(weights.reduce((s, w, k) => s + (w / mass) * Math.exp(far[k]! / scale), 0));
  });
  return (Math.max(...logs) * scale) / diameter;
}

describe('the friend model', () => {
  it('the model gives the coefficient of the definition, for odd and even grids', () => {
    for (const [side, step, scale] of [
      [2, 1, 1],
      [5, 0.5, 3],
      [6, 2, 0.7],
      [20, 1, 10],
    ] as const)
      for (const tieDecay of [backstrom, { b: 1, c: 2 }]) {
        const grid = { side, step };
        expect(new FriendCoefficients(grid).at(scale, [tieDecay])[0]).toBeCloseTo(naive(grid, tieDecay, scale), 10);
      }
  });

  it('the model is Eq. 18 of the perturbation mechanism on a line of two places', () => {
    const tieDecay = { b: 0.5, c: 1 };
    // On a 2 x 2 grid distances are 0,1,1,2 and every cell's farthest point is 2 away, so rho is one, as for every binary record.
    expect(new FriendCoefficients({ side: 2, step: 1 }).at(4, [tieDecay])[0]).toBeCloseTo(1, 12);
    expect(equation18([Float64Array.of(0.7, 0.3)], [0, 1], 4)).toBeCloseTo(1, 12);
  });

  it('the model never exceeds group noise on a star and needs less on a wide grid', () => {
    const friends = Array.from({ length: 9 }, (_, k) => ({ from: 0, to: k + 1, ...backstrom }));
    const { scale } = friendDpm({ grid: { side: 20, step: 1 }, friendships: friends, people: 10 }, 2, 1);
    expect(scale).toBeLessThan(20);
    expect(scale).toBeGreaterThan(2 * (1 + 9 / 2));
  });

  it('the model is stable at scales where the exponentials would overflow', () => {
    expect(new FriendCoefficients({ side: 20, step: 1 }).at(1e-3, [backstrom])[0]).toBeLessThanOrEqual(1);
  });

  it('the ties of the model have the odds ratio of its worst four places', () => {
    const grid = { side: 3, step: 2 };
    const tieDecay = { b: 0.5, c: 1.3 };
    const cells = Array.from({ length: 9 }, (_, k) => [2 * Math.floor(k / 3), 2 * (k % 3)] as const);
    const f = (u: number, v: number) =>
      (Math.abs(cells[u]![0] - cells[v]![0]) + Math.abs(cells[u]![1] - cells[v]![1]) + tieDecay.b) ** -tieDecay.c;
    let worst = 0;
    for (let a = 0; a < 9; a++)
      for (let b = 0; b < 9; b++)
        for (let u = 0; u < 9; u++)
          for (let v = 0; v < 9; v++) worst = Math.max(worst, (f(a, u) * f(b, v)) / (f(a, v) * f(b, u)));
    expect(friendOddsRatio(grid, tieDecay)).toBeCloseTo(worst, 6);
  });
});
