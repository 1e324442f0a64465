import { townSize } from './people.js';
import type { Data } from './world.js';

/** Number of times that each row of the population is in the sample. */
export type Times = Int32Array;

/** Sampling scheme and the population it draws from. */
export interface Sample {
  /** Number of times that each row is in the population from which `n` people are drawn. */
  readonly whole: (people: Data, n: number) => Times;
  readonly draw: (people: Data, n: number, random: () => number) => Times;
}

const sizeOf = (people: Data): number => people.age!.length;
const once = (people: Data): Times => new Int32Array(sizeOf(people)).fill(1);

/** Independent draws with replacement, each row equally likely. */
const alike: Sample = {
  whole: once,
  draw: (people, n, random) => {
    const [size, times] = [sizeOf(people), new Int32Array(sizeOf(people))];
    for (let k = 0; k < n; k++) times[Math.floor(random() * size)]!++;
    return times;
  },
};

/** Women are sampled half as often as men. */
const weights: Sample = {
  whole: once,
  draw: (people, n, random) => {
    const [size, times] = [sizeOf(people), new Int32Array(sizeOf(people))];
    for (let k = 0; k < n; ) {
      const i = Math.floor(random() * size);
      if (people.sex![i] === 'f' && random() < 0.5) continue;
      times[i]!++;
      k++;
    }
    return times;
  },
};

/** The same number from each region. */
const strata: Sample = {
  whole: once,
  draw: (people, n, random) => {
    const [size, times] = [sizeOf(people), new Int32Array(sizeOf(people))];
    const third = Math.floor(n / 3);
    const left = new Map<unknown, number>([
      ['north', third],
      ['south', third],
      ['west', n - 2 * third],
    ]);
    for (let k = 0; k < n; ) {
      const i = Math.floor(random() * size);
      const more = left.get(people.region![i])!;
      if (more === 0) continue;
      left.set(people.region![i], more - 1);
      times[i]!++;
      k++;
    }
    return times;
  },
};

/** Whole towns. */
const towns: Sample = {
  whole: once,
  draw: (people, n, random) => {
    const [size, times] = [sizeOf(people), new Int32Array(sizeOf(people))];
    for (let k = 0; k < n / townSize; k++) {
      const first = townSize * Math.floor((random() * size) / townSize);
      for (let i = first; i < first + townSize; i++) times[i]!++;
    }
    return times;
  },
};

/** Size of the population from which `n` people are drawn without replacement: about twice as many. */
export function populationFor(people: Data, n: number): number {
  const size = sizeOf(people);
  return 2 * n <= size ? 2 * n : size * Math.max(1, Math.round((2 * n) / size - 0.4));
}
const halves: Sample = {
  whole: (people, n) => {
    const [size, all] = [sizeOf(people), populationFor(people, n)];
    return Int32Array.from({ length: size }, (_, i) => Math.floor(all / size) + (i < all % size ? 1 : 0));
  },
  draw: (people, n, random) => {
    const [size, all] = [sizeOf(people), populationFor(people, n)];
    const order = Int32Array.from({ length: all }, (_, i) => i);
    const times = new Int32Array(size);
    for (let k = 0; k < n; k++) {
      const other = k + Math.floor(random() * (all - k));
      [order[k], order[other]] = [order[other]!, order[k]!];
      times[order[k]! % size]!++;
    }
    return times;
  },
};

/** A fixed sample, counted once: only noise is drawn. */
const fixed: Sample = { whole: () => new Int32Array(0), draw: () => new Int32Array(0) };

export const samples = { alike, weights, strata, towns, halves, fixed };
export type How = keyof typeof samples;
