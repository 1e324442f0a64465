import { createHash, createHmac, type Hash, hash } from 'node:crypto';

export { timingSafeEqual } from 'node:crypto';

/** A SHA-256 that is fed in parts. */
export type HashStream = Hash;

export const sha256Stream = (): HashStream => createHash('sha256');

/** SHA-256 in hexadecimal digits. */
export const sha256 = (content: string | Uint8Array): string => hash('sha256', content);

/** HMAC with SHA-256 in hexadecimal digits. */
export const hmacSha256 = (key: string | Uint8Array, content: string): string =>
  createHmac('sha256', key).update(content).digest('hex');
