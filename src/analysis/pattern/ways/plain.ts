import { additive, spreadOf } from '../../../privacy/mechanism/additive.js';
import type { Allotment } from '../../../privacy/mechanism/allotment.js';
import { exactAnswer } from '../exact-answer.js';
import { effectsOf } from '../hidden.js';
import { domainSize } from '../query/lambda.js';
import { type Asked, type Drawn, offer, type Way } from './way.js';

/** Noise scaled to the global sensitivity of any record in any data. */
export const plain: Way<'laplace'> = (asked) => [plainly('laplace', asked, asked.allotment)];

export function plainly<Name extends string>(mechanism: Name, { analysis: a, hidden }: Asked, part: Allotment, note?: string) {
  const noise = additive({ name: a.title, cells: 1, effects: effectsOf(hidden) }, part);
  const drawn: Drawn = {
    mechanisms: [noise],
    answer: async (paid, engine) => {
      const noisy = noise.ready(paid);
      return noisy([(await exactAnswer(engine, a)).open()])[0]!;
    },
  };
  const scale = spreadOf(noise.law);
  const usefulness = { sigma: scale * Math.log(domainSize(a.pattern)), gamma: 1 };
  return offer({ mechanism, scale, expectedError: scale, ...(note && { note }), usefulness }, drawn);
}
