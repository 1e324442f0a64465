/** The same bytes every time. */
export function seededSource(seed: number): (buffer: Uint8Array) => void {
  let state = seed >>> 0;
  return (buffer) => {
    for (let i = 0; i < buffer.length; i++) {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      buffer[i] = (t ^ (t >>> 14)) >>> 24;
    }
  };
}

/** For vi.mock of noise/bits.js: whatever draws noise is fed with the same digits every time. */
export const seededNoise = <M extends { readonly Bits: new (fill: (buffer: Uint8Array) => void) => unknown }>(
  real: M,
  seed: number,
): M => ({ ...real, cryptoBits: new real.Bits(seededSource(seed)) });
