import { artanhUp, expUp, logUp, tanhUp } from '../src/base/exact/outward.js';
import type { Rational } from '../src/base/exact/rational.js';
import { fromNumber } from '../src/base/exact/rational.js';
import { type Enclosure, slowExp } from '../src/base/exact/slow.js';
import { slowArtanh, slowLog, slowTanh } from '../test/enclosures.js';
import { type Bench, timedBeside } from './bench.js';

const points = Float64Array.from({ length: 4096 }, (_, i) => (i + 0.5) / 4096);

/** Certified bounds in doubles against the same bounds by integers. */
const certified = (name: string, fast: (x: number) => number, slow: (x: Rational) => Enclosure): Bench => ({
  name: `certified ${name}, one bound`,
  run: () =>
    timedBeside(
      'by integers',
      () => {
        let total = 0;
        for (let round = 0; round < 50; round++) for (let i = 0; i < points.length; i++) total += fast(points[i]!);
        return total;
      },
      () => {
        for (let i = 0; i < 100; i++) slow(fromNumber(points[i * 40]!));
      },
      { calls: 50 * points.length, peerCalls: 100 },
    ),
});

export const benches: readonly Bench[] = [
  certified('exp', expUp, slowExp),
  certified('log', logUp, slowLog),
  certified('tanh', tanhUp, slowTanh),
  certified('artanh', artanhUp, slowArtanh),
];
