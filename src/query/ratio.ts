import { combinedHalfWidth, type Part } from './noise-law.js';

/** Points at which the noise is worked out; between them its half width is interpolated. */
const points = 65;

/**
 * Interval of an unknown r that solves f(r) a + g(r) b = 0 for two noisy numbers a and b (f and g linear in r): a mean r = a/b has f = 1, g = -r; a share r = a/(a+b)
 * has f = 1 - r, g = -r. For each r the noise of the left side is known, so r is possible when the left side is within its half width: the possible r have the
 * stated coverage (Fieller's argument). Clipped to the public range.
 */
export function ratioInterval(
  noises: readonly [readonly Part[], readonly Part[]],
  weights: (r: number) => readonly [number, number],
  within: readonly [number, number],
  alpha: number,
): (a: number, b: number) => readonly [number, number] {
  const step = (within[1] - within[0]) / (points - 1);
  const at = Array.from({ length: points }, (_, i) => {
    const r = within[0] + i * step;
    const [f, g] = weights(r);
    const times = (parts: readonly Part[], by: number) => parts.map((part) => ({ ...part, factor: part.factor * by }));
    return { r, f, g, half: combinedHalfWidth([...times(noises[0], f), ...times(noises[1], g)], alpha) };
  });
  return (a, b) => {
    const possible: number[] = [];
    at.forEach((here, i) => {
      const left = here.f * a + here.g * b;
      const over = Math.abs(left) - here.half;
      if (over <= 0) possible.push(here.r);
      const next = at[i + 1];
      if (!next) return;
      const nextLeft = next.f * a + next.g * b;
      const nextOver = Math.abs(nextLeft) - next.half;
      if (over > 0 !== nextOver > 0) possible.push(here.r + (step * over) / (over - nextOver));
      else if (over > 0 && left > 0 !== nextLeft > 0) {
        // The solution lies between two points that are both too far from it.
        const slope = Math.abs(nextLeft - left) / step;
        const root = here.r + (step * left) / (left - nextLeft);
        const half = Math.max(here.half, next.half) / slope;
        possible.push(root - half, root + half);
      }
    });
    if (possible.length === 0) return within;
    const clip = (r: number) => Math.min(within[1], Math.max(within[0], r));
    return [clip(Math.min(...possible)), clip(Math.max(...possible))];
  };
}
