import type { PatternSecret } from '../hidden.js';
import { adversarialPrivacy } from './adversarial.js';
import { elasticSensitivity } from './elastic.js';
import { residualLadderNoise, shapeLadderNoise } from './following.js';
import { plainNoise } from './plain.js';
import { raceToTheTop } from './race.js';
import { truncatedNoise } from './truncation.js';
import type { PatternOffer, PatternStrategy, PatternTask } from './way.js';

/** All strategies. A new one is a file here and its name below; of equal ones the first is taken. */
const strategies = {
  tuple: [plainNoise, shapeLadderNoise, residualLadderNoise, elasticSensitivity, adversarialPrivacy],
  person: [plainNoise, truncatedNoise],
  owner: [raceToTheTop],
} as const satisfies Record<PatternSecret['what'], readonly PatternStrategy<string>[]>;

export type PatternMechanism = ReturnType<(typeof strategies)[PatternSecret['what']][number]>[number]['candidate']['mechanism'];

export const offersFor = (task: PatternTask): readonly PatternOffer<PatternMechanism>[] =>
  strategies[task.hidden.what].flatMap((strategy: PatternStrategy<PatternMechanism>) => strategy(task));
