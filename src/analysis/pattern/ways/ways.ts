import type { Hidden } from '../hidden.js';
import { adversarial } from './adversarial.js';
import { elastic } from './elastic.js';
import { alongResidual, alongShape } from './following.js';
import { plain } from './plain.js';
import { race } from './race.js';
import { truncation } from './truncation.js';
import type { Asked, Offer, Way } from './way.js';

/** All strategies. A new one is a file here and its name below; of equal ones the first is taken. */
const ways = {
  tuple: [plain, alongShape, alongResidual, elastic, adversarial],
  person: [plain, truncation],
  owner: [race],
} as const satisfies Record<Hidden['what'], readonly Way<string>[]>;

export type PatternMechanism = ReturnType<(typeof ways)[Hidden['what']][number]>[number]['candidate']['mechanism'];

export const offersFor = (asked: Asked): readonly Offer<PatternMechanism>[] =>
  ways[asked.hidden.what].flatMap((way: Way<PatternMechanism>) => way(asked));
