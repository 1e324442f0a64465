import * as z from 'zod';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import { refusePairs } from '../../evaluate/attack/policy/refuse-pairs.js';
import { runStreamAttack as attackWith, type StreamAttack, sequenceOf } from '../../evaluate/attack/stream/attack.js';
import { releasedSteps } from '../../evaluate/attack/stream/released-steps.js';
import { refuseSecretSteps } from '../../query/count/public-steps.js';
import { type FileName, fileNamed, integerBetween, parseOptions, withFaults } from './input.js';
import { readText } from './named-text.js';
import { withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';
import { readAsSteward } from './steward-read.js';

const options = defineRequest('StreamAttackOptions', {
  stream: field(z.string().min(1), `Output file of "fugu stream --json": a histogram of the sequence's state, step by step.`),
  show: field(integerBetween(1, 200).default(3), 'Number of most exposed persons to list.'),
});
export type StreamAttackOptions = z.input<typeof options>;

/**
 * Posterior of a Bayesian attacker over people's states after a stream, step by step, with and without knowing the transitions.
 * Reads the protected rows and pays nothing: the result is as private as the rows.
 *
 * @example
 * const { attackers, exposed } = await attackStream('moves.yaml', { stream: 'moves.jsonl' });
 */
export async function attackStream(policy: FileName, given: StreamAttackOptions): Promise<StreamAttack> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const { stream, show } = parseOptions(options, given);
    const read = await readPolicy(file);
    refuseSecretSteps(read);
    refusePairs(read, sequenceOf(read).state);
    const steps = releasedSteps(readText(stream), sequenceOf(read).state);
    const engine = await openEngine(read);
    return withClosing(engine, () => readAsSteward('attack --stream', engine, (rows) => attackWith(read, rows, steps, { show })));
  });
}
