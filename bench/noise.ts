import { randomFillSync } from 'node:crypto';
import { parseRational } from '../src/base/exact/rational.js';
import type { Digits } from '../src/privacy/noise/bits.js';
import { gaussianNumbers, wideGaussian } from '../src/privacy/noise/discrete-gaussian.js';
import { laplaceNumbers, wideLaplace } from '../src/privacy/noise/discrete-laplace.js';
import { type Bench, timedBeside } from './bench.js';

type Draw = () => number | bigint;

/** The naive source: a call to the operating system for every word. */
function freshDigits(): Digits {
  const word = new Uint32Array(1);
  const next = (): number => randomFillSync(word)[0]!;
  return { base: 2 ** 32, word: next, bit: () => (next() & 1) as 0 | 1 };
}

const repeat = (draw: Draw, calls: number) => (): void => {
  for (let i = 0; i < calls; i++) draw();
};

/** Many short rounds, so that interruptions do not move their median. */
const against = (name: string, goal: number, ours: Draw, peerName: string, peer: Draw, peerCalls: number): Bench => ({
  name,
  goal: { seconds: goal },
  run: async () => {
    const calls = 40_000;
    return timedBeside(peerName, repeat(ours, calls), repeat(peer, peerCalls), { rounds: 25, calls, peerCalls });
  },
});

const laplaceScales = ['1', '10/3', '1000', '3.14159265358979'].map((t) => [t, parseRational(t)] as const);
const gaussianVariances = ['1', '16', '1000/7'].map((t) => [t, parseRational(t)] as const);

export const benches: readonly Bench[] = [
  ...laplaceScales.map(([text, scale]) =>
    against(`discrete Laplace, scale ${text}, one draw`, 100e-9, laplaceNumbers(scale).draw, 'BigInt', wideLaplace(scale), 2000),
  ),
  ...gaussianVariances.map(([text, variance]) =>
    against(
      `discrete Gaussian, variance ${text}, one draw`,
      250e-9,
      gaussianNumbers(variance).draw,
      'BigInt',
      wideGaussian(variance),
      1000,
    ),
  ),
  against(
    'discrete Laplace, pooled bytes, one draw',
    100e-9,
    laplaceNumbers(parseRational('10')).draw,
    'a random call per word',
    laplaceNumbers(parseRational('10'), freshDigits()).draw,
    100,
  ),
];
