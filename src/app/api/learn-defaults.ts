/** Numbers that the help of a command quotes. */
export { largestChunk } from '../../analysis/learn/network/best-structure.js';
export { backstrom as friendLaw } from '../../analysis/learn/odds/friendship-model.js';
