import { robustScale } from '../dependent-dp/robust-quilt.js';
import { inferentialOnChain, notApplicable } from '../pufferfish/inferential.js';
import { type MarkovChain, quiltOnChain } from '../pufferfish/markov-quilt.js';
import { approximateQuilt, mixing } from '../pufferfish/markov-quilt-approx.js';
import { matrix, stationaryVector } from '../pufferfish/matrix.js';
import { type Calibration, provenAgainst } from './mechanism.js';

/** The promise of a distribution that is declared as a whole. */
export const declaredDistribution = {
  ...provenAgainst('uninformed'),
  assumption: 'The declared distribution is the true one, and the adversary knows no record.',
};

/** The papers' noise for an answer that each record of a chain moves by at most `sensitivity`; `left` is what does not apply. */
export function chainMechanisms(chain: MarkovChain, sensitivity: number, epsilon: number) {
  const left: string[] = [];
  const found: Calibration[] = [
    { name: 'markov-quilt', scale: sensitivity * quiltOnChain(chain, epsilon).scale, ...declaredDistribution },
  ];
  const approximate = approximateScale(chain, epsilon);
  if (approximate !== undefined)
    found.push({ name: 'markov-quilt-approximate', scale: sensitivity * approximate, ...declaredDistribution });
  else left.push('The approximate Markov quilt needs a chain that forgets where it began.');
  const inferential = inferentialOnChain(chain, sensitivity, epsilon);
  if (inferential) found.push(inferential);
  else left.push(notApplicable().message);
  found.push({
    name: 'zhao-robust',
    scale: sensitivity * robustScale(chain, epsilon).score,
    ...provenAgainst('informed'),
    assumption: 'The declared transition is the true one.',
  });
  return { found, left };
}

/** From the mixing rate of the chain alone, whatever its start. */
const approximateScale = ({ transition, length }: MarkovChain, epsilon: number): number | undefined =>
  stationaryVector(matrix(transition)) && approximateQuilt(length, mixing([transition], 'general'), epsilon).score;
