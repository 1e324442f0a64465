import * as z from 'zod';
import {
  type LearnedTransitions,
  learnTransitionsUnpaid,
  readTransitionsRequest,
} from '../../analysis/learn/transitions/learn-transitions.js';
import { writeWhole } from '../../base/files/write-file.js';
import { basename } from '../../base/platform/paths.js';
import { type TransitionFile, writeTransitions } from '../../data/ties/transitions.js';
import { type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';
import { withStewardData } from './steward-read.js';

export const transitionsOptions = defineRequest('TransitionsOptions', {
  out: field(z.string().min(1).optional(), 'Output file, as JSON that a policy can declare.'),
  by: field(
    z.string().min(1).optional(),
    'Column of the unit whose steps they are; that of the declared sequence, or the privacy unit, when absent.',
    { value: 'column', help: "whose steps (default: the declared sequence's, or the unit)" },
  ),
  order: field(z.string().min(1).optional(), 'Whole-number column of the order: the next step is one more.', {
    value: 'column',
    help: 'whole numbers: the next step is one more',
  }),
  state: field(z.string().min(1).optional(), 'Column of the state.', { value: 'column', help: 'the state that changes' }),
  public: field(
    z.boolean().default(false),
    'Declares that the rows are public already (an earlier wave): the matrix is marked so.',
    { help: 'the rows are public already (an earlier wave): mark the file so' },
  ),
});
export type TransitionsOptions = z.input<typeof transitionsOptions>;

/**
 * Transition matrix, read from the protected rows WITHOUT payment: marked, and as private as the data. For one that may be
 * published, release the question { transitions: ... }.
 *
 * @example
 * const { transition } = await learnTransitions('moves.yaml', { by: 'person', order: 'day', state: 'place', public: true });
 */
export async function learnTransitions(policy: FileName, given?: TransitionsOptions): Promise<LearnedTransitions> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const { out, public: known, ...chosen } = parseOptions(transitionsOptions, given);
    const learned = await withStewardData('learn transitions', file, (engine, read) =>
      learnTransitionsUnpaid(
        engine,
        read,
        readTransitionsRequest(read, chosen),
        known ? { learned: 'public', from: basename(read.data.source) } : { learned: 'unpaid' },
      ),
    );
    if (out !== undefined) writeLearnedTransitions(out, learned);
    return learned;
  });
}

/** Writes the matrix to a file that a policy can declare. */
export const writeLearnedTransitions = (file: string, learned: TransitionFile): void =>
  writeWhole(file, writeTransitions(learned), { hint: 'Choose another --out.' });
