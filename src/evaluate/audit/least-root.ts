/**
 * Root of a decreasing function: upper end of a bracket of relative width `tolerance` with excess(result) <= 0, given such
 * a point `high` (if infinite, there is no root). Regula falsi on log(x), with bisection when the bracket stops shrinking.
 */
export function leastRoot(excess: (x: number) => number, high: number, tolerance = 1e-11): number {
  if (!Number.isFinite(high)) return high;
  let right = { x: high, y: excess(high) };
  let left = { x: high / 2, y: 0 };
  for (left.y = excess(left.x); left.y <= 0; left = { x: left.x / 2, y: excess(left.x / 2) }) {
    right = left;
    if (left.x < high * 1e-15) return right.x;
  }
  for (let round = 0; right.x > left.x * (1 + tolerance) && round < 200; round++) {
    const before = Math.log(right.x / left.x);
    const share = round % 4 === 3 || !Number.isFinite(left.y) ? 0.5 : left.y / (left.y - right.y);
    // A step that lands on one end would never move the other: aim a hair to the side that is far away.
    const aim = before * share + (share < 0.5 ? 1 : -1) * Math.min(before / 4, tolerance / 3);
    const x = left.x * Math.exp(Math.min(before * (1 - 1e-3), Math.max(before * 1e-3, aim)));
    if (!(x > left.x && x < right.x)) break;
    const y = excess(x);
    if (y <= 0) right = { x, y };
    else left = { x, y };
    const after = Math.log(right.x / left.x);
    if (after > before / 2) {
      const middle = Math.sqrt(left.x * right.x);
      const at = { x: middle, y: excess(middle) };
      if (at.y <= 0) right = at;
      else left = at;
    }
  }
  return right.x;
}
