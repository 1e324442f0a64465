import { basename } from 'node:path';
import * as z from 'zod';
import {
  type LearnedTransitions,
  learnTransitionsUnpaid,
  readTransitionsRequest,
} from '../../analysis/learn/transitions/learn-transitions.js';
import { writeWhole } from '../../base/files/write-file.js';
import { type TransitionFile, writeTransitions } from '../../data/ties/transitions.js';
import { type FileName, faulting, fileNamed, readOptions } from './door.js';
import { withData } from './steward-read.js';

const options = z.strictObject({
  /** Where to write it, as JSON that a policy can declare. */
  out: z.string().min(1).optional(),
  /** Whose steps they are; of the declared sequence, or the unit, when absent. */
  by: z.string().min(1).optional(),
  order: z.string().min(1).optional(),
  state: z.string().min(1).optional(),
  /** The rows are public already (an earlier wave): the matrix is marked so. */
  public: z.boolean().default(false),
});
export type TransitionsOptions = z.input<typeof options>;

/**
 * Which state follows which, read off the protected rows WITHOUT paying: the matrix is marked, and as private as the data. To pay for one that may be published,
 * release the question { transitions: ... }.
 *
 * @example
 * const { transition } = await learnTransitions('moves.yaml', { by: 'person', order: 'day', state: 'place', public: true });
 */
export async function learnTransitions(policy: FileName, given?: TransitionsOptions): Promise<LearnedTransitions> {
  return faulting(async () => {
    const file = fileNamed(policy, 'The policy');
    const { out, public: known, ...asked } = readOptions(options, given);
    const learned = await withData('learn transitions', file, (engine, read) =>
      learnTransitionsUnpaid(
        engine,
        read,
        readTransitionsRequest(read, asked),
        known ? { learned: 'public', from: basename(read.data.source) } : { learned: 'unpaid' },
      ),
    );
    if (out !== undefined) writeLearnedTransitions(out, learned);
    return learned;
  });
}

/** As a file that a policy can declare. */
export const writeLearnedTransitions = (file: string, learned: TransitionFile): void =>
  writeWhole(file, writeTransitions(learned), { hint: 'Choose another --out.' });
