/** How columns are named in words. */
export { isPattern, splitNames } from '../../policy/name-pattern.js';
