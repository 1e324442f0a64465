/** Patterns and lists of column names. */
export { isPattern, splitNames } from '../../policy/name-pattern.js';
