import { addDown, addUp, expUp, log1pUp, logDown, logUp, mulDown, mulUp, subUp } from '../../../base/exact/outward.js';

/**
 * Upper bounds tail[s] >= P(size >= s) on the size of a branching population: the first member has `degree` chances, others one
 * less, each taken with probability `open` (percolation.proof.md, "Sizes").
 */
export function branchingTail(degree: number, open: number, length: number): Float64Array {
  const tail = new Float64Array(length + 1).fill(1);
  if (open >= 1 || degree < 1) return degree < 1 ? tail.fill(0, 2) : tail;
  const listed = Math.min(Math.max(16, Math.floor(largestTable / degree)), longestList);
  const one = descendants(degree - 1, open, listed);
  const whole = new Float64Array(listed + 1);
  for (let s = 1; s <= listed; s++) {
    whole[s] = mulUp(one[s]!, subUp(1, open));
    for (let k = 1; k < s; k++) whole[s]! += one[k]! * one[s - k]! * open;
    whole[s]! *= 1 + 2 ** -40;
  }
  // Populations beyond the list or the requested length count in every tail: a component truncates them, it does not make them
  // rarer.
  const moments = momentTail(degree, open, Math.max(length, listed + 1));
  let beyond = moments[listed + 1]!;
  for (let s = length; s > listed; s--) tail[s] = moments[s]!;
  for (let s = listed; s >= 2; s--) {
    beyond = Math.min(1, addUp(beyond, whole[s]!));
    if (s <= length) tail[s] = Math.min(beyond, moments[s]!);
  }
  return tail;
}

const largestTable = 2 ** 21;
const longestList = 1500;

/** P(descendants = s) for s <= length, rounded up; `chances` for everyone. */
function descendants(chances: number, open: number, length: number): Float64Array {
  const up = new Float64Array(chances * length + 2);
  const down = new Float64Array(chances * length + 2);
  for (let k = 2; k < up.length; k++) {
    up[k] = addUp(up[k - 1]!, logUp(k));
    down[k] = addDown(down[k - 1]!, logDown(k));
  }
  const taken = logUp(open);
  const left = log1pUp(-open);
  return Float64Array.from({ length: length + 1 }, (_, s) => {
    const trials = chances * s;
    if (s === 0 || trials < s - 1) return 0;
    const logChoices = subUp(subUp(up[trials]!, down[s - 1]!), down[trials - s + 1]!);
    const weights = addUp(s === 1 ? 0 : mulUp(s - 1, taken), mulUp(trials - s + 1, left));
    return expUp(subUp(addUp(logChoices, weights), logDown(s)));
  });
}

/** P(size >= s) <= e^(-theta s) E e^(theta size), the moment bounded by any fixed point from above. */
function momentTail(degree: number, open: number, length: number): Float64Array {
  const tail = new Float64Array(length + 1).fill(1);
  for (let k = -24; k <= 12; k++) {
    const theta = 2 ** (k / 4);
    const moment = momentOf(degree - 1, open, theta);
    if (moment === undefined) continue;
    const whole = addUp(theta, mulUp(degree, moment));
    for (let s = 2; s <= length; s++) {
      const here = expUp(subUp(whole, mulDown(theta, s)));
      if (here < tail[s]!) tail[s] = here;
    }
  }
  return tail;
}

/** Some m with m >= log(1 - open + open e^(theta + chances m)); every such m bounds the log moment behind one chance. */
function momentOf(chances: number, open: number, theta: number): number | undefined {
  const next = (m: number): number => {
    const inner = addUp(theta, mulUp(chances, m));
    if (inner > 500) return Number.POSITIVE_INFINITY;
    return log1pUp(mulUp(open, subUp(expUp(inner), 1)));
  };
  let m = 0;
  for (let round = 0; round < 500 && m < 100; round++) {
    m = next(m);
    const raised = m * (1 + 1e-6) + 1e-12;
    if (next(raised) <= raised) return raised;
  }
  return undefined;
}
