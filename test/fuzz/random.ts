/** A small seeded generator: the same seed gives the same cases on every machine. */
export interface SeededRandom {
  /** A number from 0 to below 1. */
  unit(): number;
  /** A whole number from 0 to n - 1. */
  below(n: number): number;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
}

export function seededFuzz(seed: number): SeededRandom {
  let state = seed >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(unit() * n);
  return { unit, below, pick: (list) => list[below(list.length)]!, chance: (share) => unit() < share };
}
