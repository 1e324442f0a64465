import { Bits } from '../src/noise/bits.js';

/** The real samplers, fed with the same digits every time. */
export function seededBits(seed: number): Bits {
  let state = seed >>> 0;
  return new Bits((buffer) => {
    for (let i = 0; i < buffer.length; i++) {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      buffer[i] = (t ^ (t >>> 14)) >>> 24;
    }
  });
}
