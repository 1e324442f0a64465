import type { ReleaseError } from '../../analysis/survey/error.js';
import type { SurveyPlan } from '../api/kinds/survey.js';
import { bold, dim, numberText, table } from '../report/terminal-text.js';

export function surveyText(choice: SurveyPlan['survey']): string {
  const rows = choice.candidates.map((c) => [
    c === choice.chosen ? `> ${c.name}` : `  ${c.name}`,
    numberText(c.error.l2),
    `${numberText(c.ratio)}x`,
    c.keeps ? c.protects : dim(c.reason),
  ]);
  const { error } = choice.chosen;
  const attacked = choice.attack
    ? [
        `Pairwise bound under attack, on the rows its tables came from (epsilon ${numberText(choice.attack.epsilon)}): ${numberText(choice.attack.inSample)} of epsilon in sample, ${numberText(choice.attack.heldOut)} held out.`,
      ]
    : [];
  return [
    bold('Ways to release this survey'),
    table(['', 'error (L2)', 'of plain Laplace', 'protects'], rows),
    choice.why,
    ...choice.chosen.assumes.map((text) => `${dim('Assumption:')} ${text}`),
    wholeErrorText(error),
    ...(choice.leftOut.length > 0
      ? [dim(`Left out unless named with --columns (ids, keys of groups, timings): ${choice.leftOut.join(', ')}.`)]
      : []),
    ...attacked,
  ].join('\n');
}

export const wholeErrorText = (error: ReleaseError): string =>
  `With 95 % probability, every cell of all tables is within ± ${numberText(error.maximum)} of the true count. The errors of all cells together add up to at most ${numberText(error.l1)} (95 %).`;
