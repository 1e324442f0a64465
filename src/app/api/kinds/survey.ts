import * as z from 'zod';
import { chooseSurvey, type SurveyChoice } from '../../../analysis/survey/choice.js';
import { type ReleaseError, surveyReleaseError } from '../../../analysis/survey/error.js';
import { chooseSurveyBatch, surveyForms } from '../../../analysis/survey/plan.js';
import { type SurveySelection, surveyQuestions } from '../../../analysis/survey/query.js';
import { toNumber } from '../../../base/exact/rational.js';
import { declaredSpread } from '../../../data/ties/columns.js';
import { declaredWeight } from '../../../policy/domain.js';
import { gridOf } from '../../../policy/grid.js';
import type { AttackFigure } from '../../../privacy/dependence/pairwise/spread-file.js';
import { bindBatch } from '../../../query/bind.js';
import type { Batch } from '../../../query/query.js';
import { chooseNoise } from '../../../release/accountant/choose.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Release } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { defineKind } from '../kind.js';
import { field } from '../request.js';
import { askable } from './askable.js';

/** Plan with every way to release the survey, and the joint error of the tables. */
export interface SurveyPlan extends Plan {
  readonly survey: SurveyChoice & {
    readonly attack?: AttackFigure;
    /** Declared group keys, ids and timings, which are released only if named exactly. */
    readonly leftOut: readonly string[];
  };
}
export interface SurveyRelease extends Release {
  /** Error of all tables together, before post-processing. */
  readonly together: ReleaseError;
}

const question = z.strictObject({
  survey: field(z.literal(true), 'Every declared question.', {
    help: 'one histogram per question, with all that is left of the budget',
  }),
  columns: field(z.array(z.string().min(1)).optional(), 'Names and patterns (`q*`) of the questions; all when absent.', {
    value: 'names',
    help: 'with --survey: these questions only; names and patterns (q*), separated by commas',
    reads: 'names',
  }),
  except: field(z.array(z.string().min(1)).optional(), 'Names and patterns of questions to leave out.', {
    value: 'names',
    help: 'with --survey: not these, in the same form',
    reads: 'names',
  }),
  weight: field(z.string().min(1).optional(), 'Declared weight column: answers are counted by it.', {
    value: 'column',
    help: 'with --survey: answers count by this declared weight',
  }),
});
type Question = z.input<typeof question>;

/** One histogram per question, with all of the remaining budget by default. */
export const survey = defineKind({
  name: 'survey',
  tidies: true,
  question,
  hint: 'Write {"survey": true}.',
  example: (policy) => (askable(policy).length > 0 ? { survey: true as const } : undefined),
  async plan(session, question, options): Promise<SurveyPlan> {
    const [query, all] = surveyArguments(session, question, options);
    const plan = await session.plan(query, all);
    return { ...plan, survey: await surveyOptions(session, question, query, all) };
  },
  async release(session, question, options): Promise<SurveyRelease> {
    const release = await session.release(...surveyArguments(session, question, options));
    const { weight } = question;
    // Noise is added to whole numbers: with weights, to multiples of their unit.
    const unit = weight === undefined ? 1 : toNumber(gridOf(declaredWeight(session.policy, weight)).unit);
    return { ...release, together: surveyReleaseError(release.receipt.measures, unit) };
  },
});

function surveyArguments(
  { policy, account }: PrivacySession,
  question: Question,
  options: ReleaseOptions,
): readonly [Batch, ReleaseOptions] {
  const batch = chooseSurveyBatch(policy, account, options, selectionOf(question));
  const some = question.columns !== undefined || question.except !== undefined;
  const label = `survey: one histogram per column${some ? ` (${batch.queries.length} chosen)` : ''}${question.weight === undefined ? '' : `, weighted by ${question.weight}`}`;
  return [batch, { label, ...options, all: options.epsilon === undefined }];
}

const selectionOf = ({ columns, except, weight }: Question): SurveySelection => ({
  ...(columns && { columns }),
  ...(except && { except }),
  ...(weight !== undefined && { weight }),
});

/** Every way to release this survey, with expected error and protection, as computed by the planner. Public numbers only. */
async function surveyOptions(
  session: PrivacySession,
  question: Question,
  query: Batch,
  options: ReleaseOptions,
): Promise<SurveyPlan['survey']> {
  const { policy, account } = session;
  const spent = await session.balance();
  const share = session.share(options, spent);
  const ways = surveyForms(policy, selectionOf(question)).map(({ merged, batch }) => {
    const { measures } = bindBatch(batch, policy);
    return { merged, batch, measures, plans: chooseNoise(measures, account, share, spent) };
  });
  const taken = ways.find(({ batch }) => JSON.stringify(batch) === JSON.stringify(query))!;
  const choice = {
    ...chooseSurvey(ways, taken, policy.protect),
    leftOut: surveyQuestions(policy, selectionOf(question)).leftOut,
  };
  const attack = policy.dependence.flatMap((d) => declaredSpread(d) ?? [])[0]?.attack;
  return attack && account.routes.some((r) => r.amplifier.name === 'pairwise') ? { ...choice, attack } : choice;
}
