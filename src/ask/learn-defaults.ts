/** Numbers that the help of a command quotes. */
export { largestChunk } from '../learn/network/best-structure.js';
export { backstrom as friendLaw } from '../papers/dependent-tuples/friend-model.js';
