import { judgePublished, type PublishedFigure } from '../attack/survey/published.js';
import type { Engine } from '../engine/engine.js';
import { Fault } from '../errors.js';
import { judgeRows } from '../learn/network/read-survey.js';
import type { Plan } from '../release/plan.js';
import type { Session } from '../release/session.js';
import type { AskWords } from './ask.js';
import { bold, dim, figure, table, warn } from './output.js';

/** `plan --survey --as-published`: Algorithm 1 of Maughan and Near on these rows, with its audit. It is never released. */
export async function publishedSurvey(
  engine: Engine,
  session: Session,
  plan: Plan,
  words: AskWords,
): Promise<readonly PublishedFigure[]> {
  if (!words.survey)
    throw new Fault(
      'USAGE',
      '--as-published goes with --survey.',
      'It shows what the mechanism of Maughan and Near would do to the whole survey.',
    );
  return judgeRows(engine, session.policy, (rows) => judgePublished(rows, plan.epsilon));
}

export function publishedText(figures: readonly PublishedFigure[]): string {
  const rows = figures.map((f) => [
    `as published, not sound: ${f.name}`,
    f.l2 === null ? 'infinite' : figure(f.l2),
    f.ratio === null ? '-' : `${figure(f.ratio)}x`,
    `${f.small} of ${f.chunks}`,
    `${f.audit.broken} of ${f.audit.surveys}`,
    f.audit.worst === null ? 'infinite' : figure(f.audit.worst),
  ]);
  return [
    bold('Tabular-DDP (Maughan and Near), for comparison: never released'),
    table(['', 'L2 error', 'of Laplace', 'chunks below 1', 'sub-surveys broken', 'worst loss/epsilon'], rows),
    ...figures.map((f) => dim(`${f.reading}: ${f.refused}`)),
    warn('Read off the protected rows and not paid for: keep these lines as private as the data.'),
  ].join('\n');
}
