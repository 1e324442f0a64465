import { chainScale } from '../../src/evaluate/papers/compare/calculus.js';
import { robustScale } from '../../src/evaluate/papers/dependent-dp/robust-quilt.js';
import { inferentialBase } from '../../src/evaluate/papers/pufferfish/inferential.js';
import { quiltOnChain } from '../../src/evaluate/papers/pufferfish/markov-quilt.js';
import { approximateQuilt, mixing } from '../../src/evaluate/papers/pufferfish/markov-quilt-approx.js';
import { type Chains, transitionsOf } from './chains.js';

export interface Row {
  readonly data: string;
  readonly epsilon: number;
  /** Laplace scale of one count, by mechanism; undefined where it is not applicable. */
  readonly scales: Readonly<Record<string, number | undefined>>;
  /** States times scale over the number of records: the expected L1 error of relative frequencies. */
  readonly perScale: number;
}

/** One record changes two counts by one. */
const effect = 2;

/** Noise on the frequency of each state in all chains together: the longest chain decides. */
export function histogramNoise(data: Chains, epsilons: readonly number[]): readonly Row[] {
  const transition = transitionsOf(data);
  const length = Math.max(...data.chains.map((c) => c.length));
  const records = data.chains.reduce((n, c) => n + c.length, 0);
  const chain = { transition, initial: 'stationary' as const, length };
  return epsilons.map((epsilon) => {
    const base = inferentialBase(chain, epsilon);
    const ours = (adversary: 'informed' | 'uninformed') => chainScale(chain, effect, epsilon, adversary);
    return {
      data: data.name,
      epsilon,
      scales: {
        group: (effect * length) / epsilon,
        inferential: base && effect / base,
        'quilt, approximate': effect * approximateQuilt(length, mixing([transition], 'general'), epsilon).score,
        quilt: effect * quiltOnChain(chain, epsilon).scale,
        ours: ours('uninformed'),
        'robust quilt (informed)': effect * robustScale(chain, epsilon).score,
        'ours (informed)': ours('informed'),
      },
      perScale: data.states / records,
    };
  });
}
