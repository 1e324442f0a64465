import { type Adversary, leastScale } from '../../audit/exact-loss.js';
import { cim } from '../correlated-sensitivity/cim.js';
import { zhu } from '../correlated-sensitivity/pearson.js';
import { dpm14, dpm18 } from '../dependent-tuples/dpm.js';
import { kappa } from '../dependent-tuples/kappa.js';
import { componentGroup, independentLaplace, pairwiseGroup } from '../group-dp/group.js';
import { pmw } from '../multiplicative-weights/pmw.js';
import { inferential } from '../pufferfish/inferential.js';
import { markovQuilt } from '../pufferfish/quilt-network.js';
import { wasserstein } from '../pufferfish/wasserstein.js';
import { type Calibration, type MechanismInput, provenAgainst } from './mechanism.js';

/** Least noise for this one release; see exact-loss.proof.md. */
const exactCalibration = ({ joint, answers, epsilon }: MechanismInput, adversary: Adversary): Calibration => ({
  name: adversary === 'informed' ? 'exact-informed' : 'exact',
  scale: leastScale(joint, answers, epsilon, { adversary }),
  ...provenAgainst(adversary),
  composes: false,
  assumption: 'The declared distribution is the true one, and nothing else about these records is ever released.',
});

/** All mechanisms that can be calibrated on a small model, in the order of presentation. */
export const mechanisms: readonly ((setting: MechanismInput) => Calibration)[] = [
  independentLaplace,
  pairwiseGroup,
  zhu,
  cim,
  pmw,
  dpm14,
  dpm18,
  (setting) => dpm18(setting, 'all'),
  markovQuilt,
  inferential,
  componentGroup,
  kappa,
  (setting) => wasserstein(setting, 'uninformed'),
  (setting) => wasserstein(setting, 'informed'),
  (setting) => exactCalibration(setting, 'uninformed'),
  (setting) => exactCalibration(setting, 'informed'),
];
