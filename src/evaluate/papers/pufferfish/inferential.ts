import { Fault } from '../../../base/errors.js';
import { markovChainOf } from '../compare/markov-chain-of.js';
import { asPublished, type Calibration, type MechanismInput, maximumOf } from '../compare/mechanism.js';
import type { MarkovChain } from './markov-quilt.js';

/**
 * Ghosh and Kleinberg 2016 on a chain, as in Song et al. 2017: gamma next to the diagonal of G, row sums of (I -
 * G)^-1 give the influence that reaches a record. Undefined (not applicable) if the spectral norm of G is at least 1.
 */
export function inferentialBase(
  { transition, length }: Pick<MarkovChain, 'transition' | 'length'>,
  epsilon: number,
): number | undefined {
  const gamma = neighbourInfluence(transition);
  if (!(2 * gamma * Math.cos(Math.PI / (length + 1)) < 1)) return undefined;
  return epsilon / (2 * maximumOf(rowSums(gamma, length)));
}

/** Half the log of the largest ratio P(x | s, w) / P(x | t, w): x between s or t before it and w after it. */
function neighbourInfluence(transition: MarkovChain['transition']): number {
  let most = 0;
  const states = transition.map((_, s) => s);
  for (const w of states) {
    const between = states.map((s) => {
      const weights = states.map((x) => transition[s]![x]! * transition[x]![w]!);
      const sum = weights.reduce((a, b) => a + b, 0);
      return sum > 0 ? weights.map((p) => p / sum) : undefined;
    });
    for (const x of states) {
      const ps = between.flatMap((distribution) => (distribution ? [distribution[x]!] : []));
      const top = Math.max(0, ...ps);
      if (top > 0) most = Math.max(most, Math.log(top / Math.min(...ps)));
    }
  }
  return most / 2;
}

/** (I - G)^-1 times ones, G with gamma next to the diagonal: by elimination, since every pivot is positive if the norm is below one. */
function* rowSums(gamma: number, length: number): Iterable<number> {
  const upper = new Float64Array(length);
  const right = new Float64Array(length);
  for (let k = 0; k < length; k++) {
    const pivot = 1 - (k > 0 ? gamma * upper[k - 1]! : 0);
    upper[k] = gamma / pivot;
    right[k] = (1 + (k > 0 ? gamma * right[k - 1]! : 0)) / pivot;
  }
  let next = 0;
  for (let k = length - 1; k >= 0; k--) {
    next = right[k]! + (k < length - 1 ? upper[k]! * next : 0);
    yield next;
  }
}

/** Undefined if inferential privacy is not applicable. */
export const inferentialOnChain = (chain: MarkovChain, sensitivity: number, epsilon: number): Calibration | undefined => {
  const base = inferentialBase(chain, epsilon);
  if (base === undefined) return undefined;
  return {
    name: 'inferential',
    scale: sensitivity / base,
    ...asPublished,
    composes: true,
    assumption: 'The declared transition is the true one, and what a record reveals about its neighbours dies out.',
  };
};

export const inferential = ({ model, answers, epsilon }: MechanismInput): Calibration => {
  const chain = markovChainOf(model);
  if (!chain) throw new Fault('QUERY_UNSUPPORTED', 'Inferential privacy is computed on chains only.', 'Give a chain.');
  const found = inferentialOnChain(chain, maximumOf(answers.sensitivities), epsilon);
  if (!found) throw notApplicable();
  return found;
};

export const notApplicable = () =>
  new Fault(
    'QUERY_UNSUPPORTED',
    'Inferential privacy is not applicable: what a record reveals about its neighbours does not die out fast enough.',
    'Compare on a chain that forgets faster.',
  );
