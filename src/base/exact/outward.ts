/** Certified bounds on doubles: `xUp` is never below the true value, `xDown` never above. NaN stays NaN. See outward.proof.md. */
export { addDown, addUp, divDown, divUp, mulDown, mulUp, sqrtDown, sqrtUp, subDown, subUp } from './directed.js';
export { expDown, expm1Down, expm1Up, expUp, tanhDown, tanhUp } from './exponential.js';
export { artanhDown, artanhUp, log1pDown, log1pUp, logDown, logUp } from './logarithm.js';
