import type { PatternSecret } from '../secret.js';
import { adversarialPrivacy } from './adversarial-privacy.js';
import { elasticSensitivity } from './elastic-sensitivity.js';
import { residualLadderNoise, shapeLadderNoise } from './ladder-noise.js';
import { plainNoise } from './plain-noise.js';
import { raceToTheTop } from './race-to-the-top.js';
import type { PatternOffer, PatternStrategy, PatternTask } from './strategy.js';
import { truncatedNoise } from './truncated-noise.js';

/** All strategies. A new one is a file here and its name below; of equal ones the first is taken. */
const strategies = {
  tuple: [plainNoise, shapeLadderNoise, residualLadderNoise, elasticSensitivity, adversarialPrivacy],
  person: [plainNoise, truncatedNoise],
  owner: [raceToTheTop],
} as const satisfies Record<PatternSecret['what'], readonly PatternStrategy<string>[]>;

export type PatternMechanism = ReturnType<(typeof strategies)[PatternSecret['what']][number]>[number]['candidate']['mechanism'];

export const offersFor = (task: PatternTask): readonly PatternOffer<PatternMechanism>[] =>
  strategies[task.hidden.what].flatMap((strategy: PatternStrategy<PatternMechanism>) => strategy(task));
