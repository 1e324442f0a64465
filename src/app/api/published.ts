import * as z from 'zod';
import { judgeRows } from '../../analysis/learn/network/read-survey.js';
import { judgePublished, type PublishedFigure } from '../../evaluate/attack/survey/published.js';
import { type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';
import { withStewardData } from './steward-read.js';

const options = defineRequest('PublishedOptions', {
  epsilon: field(z.number().gt(0), 'Epsilon of the whole survey.'),
});
export type PublishedOptions = z.input<typeof options>;

/**
 * Mechanism of Maughan and Near applied to the whole survey, with its audit, read from the protected rows WITHOUT payment: as
 * private as they are, and never released.
 *
 * @example
 * const [figure] = await judgePublishedSurvey('policy.yaml', { epsilon: 1 });
 */
export async function judgePublishedSurvey(policy: FileName, given: PublishedOptions): Promise<readonly PublishedFigure[]> {
  return withFaults(() => {
    const file = fileNamed(policy, 'The policy');
    const { epsilon } = parseOptions(options, given);
    return withStewardData('plan --as-published', file, (engine, read) =>
      judgeRows(engine, read, (rows) => judgePublished(rows, epsilon)),
    );
  });
}
