import { sha256 } from '../../base/platform/hash.js';

/**
 * Bytes of a text that is read from a database; a longer one is missing, as in a CSV (csv/cut.ts). No code and no number is so long, and a server fails at what it could
 * otherwise make of a cell of hundreds of megabytes: one record would decide between an answer and a fault.
 */
export const longestText = 2 ** 16;

const longest = 64;

/** Short identifier of a text: the text itself, or its digest if it is long. No text of up to `longest` letters is as long as a digest. */
export const shortText = (text: string): string => (text.length <= longest ? text : `#${sha256(text)}`);
