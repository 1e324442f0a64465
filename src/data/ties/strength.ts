import * as z from 'zod';
import { logUp } from '../../base/exact/outward.js';
import { compare, one, type Rational, subtract, toNumberUp } from '../../base/exact/rational.js';
import { figureText, percentFigure } from '../../policy/figures.js';
import type { Column } from '../../policy/policy.js';
import { invalid } from '../../policy/problems.js';
import { oddsRatio, word } from '../../policy/schema.js';
import { didYouMean } from '../../policy/suggest.js';
import type { Path } from '../../policy/yaml-file.js';
import type { TieContext } from './kind.js';

/** Policy keys shared by kinds with an odds ratio: strength, and the column of the tie. */
export const strengthKeys = {
  column: word('column').optional(),
  oddsRatio: oddsRatio.optional(),
  pull: z.literal('alike', { error: 'pull must be alike.' }).optional(),
};

/** Rounded up: a tie may only be taken for stronger than declared. A tie without a strength counts as a copy. */
export const ratio = (declared: Rational | 'inf' | undefined): number =>
  declared === undefined || declared === 'inf' ? Number.POSITIVE_INFINITY : toNumberUp(declared);

/** Log odds, rounded up. */
export function strength(oddsRatio: number): number {
  if (oddsRatio === 1) return 0;
  return oddsRatio === Number.POSITIVE_INFINITY ? oddsRatio : logUp(oddsRatio);
}

export function tiedColumn(
  entry: { column?: string | undefined },
  path: Path,
  { columns, yaml }: TieContext,
): { column?: string } {
  if (entry.column === undefined) return {};
  if (!columns.has(entry.column))
    throw invalid(
      yaml,
      [...path, 'column'],
      `The tied column "${entry.column}" is not declared.`,
      `${didYouMean(entry.column, [...columns.keys()], 'Declared columns')} Declare it under columns: or in the codebook.`,
    );
  return { column: entry.column };
}

/** Checks `pull: alike`: it needs a column of two values, through which the ties act. */
export function pulled(
  entry: { readonly pull?: 'alike' | undefined; readonly column?: string | undefined },
  path: Path,
  { columns, yaml }: TieContext,
): { pull?: 'alike' } {
  if (entry.pull === undefined) return {};
  const column = entry.column === undefined ? undefined : columns.get(entry.column);
  if (column !== undefined && hasTwoValues(column)) return { pull: entry.pull };
  throw invalid(
    yaml,
    [...path, 'pull'],
    'pull: alike speaks about one column with two values.',
    entry.column === undefined
      ? 'Add column: with its name.'
      : 'Leave pull out, or tie a column with exactly two declared values.',
  );
}

const hasTwoValues = (column: Column): boolean =>
  column.type === 'category'
    ? column.values.length === 2
    : column.type === 'integer' && compare(subtract(column.bounds[1], column.bounds[0]), one) === 0;

/** In an assumption. */
export const pullWords = ({ pull, column }: { readonly pull?: 'alike'; readonly column?: string }): string =>
  pull
    ? ` They act through "${column}", which has two values, and pull it together: nobody is made less like those they are tied to.`
    : '';

/** In an assumption. */
export const oddsText = (ratio: number): string => (ratio === Number.POSITIVE_INFINITY ? 'inf (they may be copies)' : `${ratio}`);

/** "agree nine times in ten" is easier than 81: two yes-or-no answers tied by an odds ratio r agree with probability sqrt(r)/(1+sqrt(r)). */
export function strengthWords(oddsRatio: number): string {
  if (oddsRatio === Number.POSITIVE_INFINITY) return 'without limit: they may be copies of each other';
  if (oddsRatio === 1) return 'by nothing (odds ratio 1: strangers)';
  const agree = Math.sqrt(oddsRatio) / (1 + Math.sqrt(oddsRatio));
  return `by at most ${figureText(oddsRatio)} times in the odds (two yes-or-no answers so tied agree up to ${percentFigure(agree)} of the time)`;
}

export const onColumn = (column: string | undefined) =>
  column === undefined ? 'anything in the other' : `the other's ${column}`;
