import { chooseNoise } from '../accounting/choose.js';
import type { AttackFigure } from '../dependence/pairwise/spread-file.js';
import { inDoubles, lawFromText } from '../mechanism/law.js';
import { bindBatch } from '../query/bind.js';
import type { PlannedMeasure } from '../release/plan.js';
import type { AskOptions, Session } from '../release/session.js';
import { chooseSurvey, type SurveyChoice } from '../survey/choice.js';
import { type NoisyCells, type ReleaseError, releaseError } from '../survey/error.js';
import { surveyForms } from '../survey/plan.js';
import { declaredSpread } from '../ties/columns.js';
import { bold, dim, figure, table } from './output.js';

/**
 * Every way to release the survey that is asked for, with its expected error and what it protects: all noise that could be planned for it, by the planner
 * itself. Public numbers only.
 */
export async function surveyChoice(
  session: Session,
  asked: { readonly query: unknown; readonly options: AskOptions },
): Promise<SurveyChoice & { readonly attack?: AttackFigure }> {
  const { policy, account } = session;
  const spent = await session.standing();
  const share = session.share(asked.options, spent);
  const ways = surveyForms(policy).map(({ merged, batch }) => {
    const { measures } = bindBatch(batch, policy);
    return { merged, batch, measures, plans: chooseNoise(measures, account, share, spent) };
  });
  const taken = ways.find(({ batch }) => JSON.stringify(batch) === JSON.stringify(asked.query))!;
  const choice = chooseSurvey(ways, taken, policy.protect);
  const attack = policy.dependence.flatMap((d) => declaredSpread(d) ?? [])[0]?.attack;
  return attack && account.routes.some((r) => r.amplifier.name === 'pairwise') ? { ...choice, attack } : choice;
}

export function surveyText(choice: SurveyChoice & { readonly attack?: AttackFigure }): string {
  const rows = choice.candidates.map((c) => [
    c === choice.chosen ? `> ${c.name}` : `  ${c.name}`,
    figure(c.error.l2),
    `${figure(c.ratio)}x`,
    c.keeps ? c.protects : dim(c.reason),
  ]);
  const { error } = choice.chosen;
  const attacked = choice.attack
    ? [
        `Pairwise bound under attack, on the rows its tables came from (epsilon ${figure(choice.attack.epsilon)}): ${figure(choice.attack.inSample)} of epsilon in sample, ${figure(choice.attack.heldOut)} held out.`,
      ]
    : [];
  return [
    bold('Ways to release this survey'),
    table(['', 'L2 error', 'of Laplace', 'protects'], rows),
    choice.why,
    ...choice.chosen.assumes.map((text) => `${dim('Assumption:')} ${text}`),
    wholeErrorText(error),
    ...attacked,
  ].join('\n');
}

/** Error of all tables of a released survey together, from the noise its receipt tells; before any tidying. */
export function surveyError(measures: readonly PlannedMeasure[]): ReleaseError {
  return releaseError(
    measures.flatMap(({ noise, cells, tables = 1 }): NoisyCells[] => {
      const law = inDoubles(lawFromText(noise));
      return law.kind === 'laplace' || law.kind === 'gaussian' ? [{ law, cells, tables }] : [];
    }),
  );
}

export const wholeErrorText = (error: ReleaseError): string =>
  `All tables together: with 95 % every cell is within ±${figure(error.maximum)}, and with 95 % all absolute errors add up to at most ${figure(error.l1)}.`;
