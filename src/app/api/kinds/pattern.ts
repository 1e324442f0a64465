import * as z from 'zod';
import type { PatternMechanism } from '../../../analysis/pattern/candidates.js';
import { type ClusteringResult, planClustering, releaseClustering } from '../../../analysis/pattern/clustering.js';
import {
  type DegreeOptions,
  type DegreeResult,
  degreeRelation,
  planDegrees,
  releaseDegrees,
} from '../../../analysis/pattern/degrees/release.js';
import type { PatternOptions } from '../../../analysis/pattern/prepare.js';
import { isClusteringCoefficient } from '../../../analysis/pattern/query/shortcut.js';
import { type PatternResult, planPattern, releasePattern } from '../../../analysis/pattern/release.js';
import type { Plan } from '../../../release/session/plan.js';
import type { ReleaseOptions } from '../../../release/session/session.js';
import { amountShape } from '../input.js';
import { type Answer, defineKind } from '../kind.js';
import { field } from '../request.js';

/** Fields of a count over relations that accompany its text. */
export const patternFields = {
  gamma: field(amountShape.optional(), 'Accept (epsilon, gamma)-adversarial privacy.', {
    value: 'gamma',
    help: 'with --pattern: accept (epsilon, gamma)-adversarial privacy',
  }),
  degree: field(
    z.number().int().min(1).max(999_999_999).optional(),
    'Public guess (secret edge) or limit (secret person) of the ties of one person.',
    {
      value: 'n',
      help: 'with --pattern: public guess (secret edge) or limit (secret person) of ties per person',
      refusal: ['The degree must be a whole number of at least 1.', 'Write for example --degree 100.'],
    },
  ),
  mechanism: field(
    z.custom<PatternMechanism>((x) => typeof x === 'string', 'expected the name of a mechanism').optional(),
    'Requires one mechanism.',
    { value: 'name', help: 'with --pattern: insist on one mechanism' },
  ),
  form: field(z.enum(['cumulative', 'sequence', 'histogram']).optional(), 'Largest degree of a degree distribution.', {
    value: 'name',
    help: 'with --pattern degrees: cumulative, sequence or histogram',
    refusal: ['The form is cumulative, sequence or histogram.', 'Leave --form out for cumulative.'],
  }),
};
const question = z.strictObject({
  pattern: field(z.string(), 'Pattern, shortcut or SQL with joins.', {
    value: 'query',
    help: "a count over relations: triangles, degrees, 2-paths from 'v', or 'q(x,y) :- friend(x,y), friend(y,x), x != y'",
  }),
  ...patternFields,
});
type Question = z.input<typeof question>;

/** A count, the numbers of people by ties, or a clustering coefficient with the two counts it is computed from. */
export type PatternAnswer = Answer<PatternResult> | Answer<DegreeResult> | Answer<ClusteringResult>;

/** Counts over relations: written patterns, shortcuts, SQL with joins, degree distributions and the clustering coefficient. */
export const pattern = defineKind({
  name: 'pattern',
  question,
  hint: 'Write {"pattern": "triangles"}, "degrees", "2-paths" or "q(x,y) :- friend(x,y), friend(y,x), x != y".',
  example({ relations, protect }) {
    const hidden = [...relations.values()].find((r) => r.private && r.columns.length === 2);
    return hidden && protect.secret === 'edge' ? { pattern: `triangles of ${hidden.name}` } : undefined;
  },
  async plan(session, request, options): Promise<Plan> {
    const { pattern: text } = request;
    const degrees = degreeRelation(text);
    if (degrees) return planDegrees(session, degreeOptions(options, request, degrees.relation));
    const own = patternOptions(options, request);
    return isClusteringCoefficient(text) ? planClustering(session, text, own) : planPattern(session, text, own);
  },
  async release(session, request, options): Promise<PatternAnswer> {
    const { pattern: text } = request;
    const degrees = degreeRelation(text);
    if (degrees) return releaseDegrees(session, degreeOptions(options, request, degrees.relation));
    const own = patternOptions(options, request);
    return isClusteringCoefficient(text) ? releaseClustering(session, text, own) : releasePattern(session, text, own);
  },
});

const patternOptions = (options: ReleaseOptions, { gamma, mechanism, degree }: Question): PatternOptions => ({
  ...options,
  ...(gamma !== undefined && { gamma: `${gamma}` }),
  ...(mechanism !== undefined && { mechanism }),
  ...(degree !== undefined && { degree }),
});

const degreeOptions = (options: ReleaseOptions, { form, degree }: Question, relation: string | undefined): DegreeOptions => ({
  ...options,
  ...(relation !== undefined && { relation }),
  ...(form !== undefined && { form }),
  ...(degree !== undefined && { degree }),
});
