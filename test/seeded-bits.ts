import { Bits } from '../src/privacy/noise/bits.js';
import { seededSource } from './seeded-source.js';

/** The real samplers, fed with the same digits every time. */
export const seededBits = (seed: number): Bits => new Bits(seededSource(seed));
