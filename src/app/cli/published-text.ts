import type { PublishedFigure } from '../../evaluate/attack/survey/published.js';
import { bold, dim, numberText, table, warn } from '../report/terminal-text.js';

export function publishedText(figures: readonly PublishedFigure[]): string {
  const rows = figures.map((f) => [
    `as published, not sound: ${f.name}`,
    f.l2 === null ? 'infinite' : numberText(f.l2),
    f.ratio === null ? '-' : `${numberText(f.ratio)}x`,
    `${f.small} of ${f.chunks}`,
    `${f.audit.broken} of ${f.audit.surveys}`,
    worstText(f.audit),
  ]);
  return [
    bold('Tabular-DDP (Maughan and Near), for comparison: never released'),
    table(['', 'error (L2)', 'of plain Laplace', 'chunks below 1', 'sub-surveys broken', 'worst loss/epsilon'], rows),
    dim('Loss: exact, of the mechanism on sub-surveys of at most five columns, the rows taken as the truth.'),
    ...figures.map((f) => dim(`${f.reading}: ${f.refused}`)),
    warn('Read off the protected rows and not paid for: keep these lines as private as the data.'),
  ].join('\n');
}

function worstText({ worst, atLeast }: PublishedFigure['audit']): string {
  if (worst === undefined) return 'not audited';
  if (worst === null) return 'infinite';
  return `${atLeast ? 'at least ' : ''}${numberText(worst)}`;
}
