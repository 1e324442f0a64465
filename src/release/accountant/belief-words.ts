import { type Rational, toNumber } from '../../base/exact/rational.js';
import { posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';
import { thousands } from '../../policy/figures.js';

/** A percentage for people, rounded up (or down) so that the sentence stays true. */
export function percentText(p: number, towards: 'up' | 'down' | 'nearest' = 'nearest'): string {
  const round = { up: Math.ceil, down: Math.floor, nearest: Math.round }[towards];
  const isWithin = (margin: number) => p >= margin && p <= 1 - margin;
  const scale = 10 ** [0.1, 0.01, Number.NEGATIVE_INFINITY].findIndex(isWithin);
  // The slack keeps 0.3 from becoming 31 % because of its last binary digit.
  const slack = { up: -1e-9, down: 1e-9, nearest: 0 }[towards];
  return `${round(p * 100 * scale + slack) / scale} %`;
}

/** "of 100", or of 1,000 or 100,000 when the belief is a rare one: whole people only. */
function crowdSize(prior: number): number {
  if (prior >= 0.01) return 100;
  return prior >= 0.001 ? 1000 : 100_000;
}

export interface NaturalFrequency {
  readonly of: number;
  readonly before: number;
  readonly atMost: number;
  readonly atLeast: number;
  readonly sentence: string;
}

/** A small probability in two digits, rounded up. */
export function probabilityText(p: number): string {
  const unit = 10 ** (Math.floor(Math.log10(p)) - 1);
  return Number((Math.ceil(p / unit - 1e-9) * unit).toPrecision(2)).toString();
}
const exceptionText = (failure: number): string =>
  failure > 0 ? ` This holds except with probability ${probabilityText(failure)}.` : '';

/** Beliefs as counts of people: of 100 suspicions held at 10 %, 10 are right. */
export function naturalFrequency(prior: Rational, epsilon: Rational, delta = 0): NaturalFrequency {
  const p = toNumber(prior);
  const of = crowdSize(p);
  const before = Math.round(p * of);
  const atMost = Math.ceil(posteriorAtMost(prior, epsilon) * of - 1e-9);
  const atLeast = Math.floor(posteriorAtLeast(prior, epsilon) * of + 1e-9);
  const crowd = thousands(of);
  return {
    of,
    before,
    atMost,
    atLeast,
    sentence:
      `Of ${crowd} people an attacker suspects at ${percentText(p)}, ${thousands(before)} are rightly suspected. ` +
      `All releases together can raise that to at most ${thousands(atMost)} of ${crowd}, and lower it to no fewer than ${thousands(atLeast)} of ${crowd}.${exceptionText(delta)}`,
  };
}

/** The promise in terms of beliefs; `delta` is named whenever there is one. */
export const beliefSentence = (prior: Rational, posterior: Rational, delta = 0): string =>
  `An attacker who believes something about a person with at most ${percentText(toNumber(prior))} before the releases believes it with at most ` +
  `${percentText(toNumber(posterior))} after them, including what they infer from tied records; and one who believed it with at least ` +
  `${percentText(toNumber(posterior))} still does with at least ${percentText(toNumber(prior))}.${exceptionText(delta)}`;
