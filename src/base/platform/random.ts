/** The platform's secure random bytes. Noise takes them in privacy/noise/bits.ts and nowhere else. */
export { randomBytes, randomFillSync, randomUUID } from 'node:crypto';
