import * as z from 'zod';
import { declaredNumber } from '../../policy/domain.js';
import { type AnswerValues, answerLayout, answerTable, expectedAnswerError, figureCells, noAnswer } from '../answer.js';
import { boundedList, columnNameForm, commonFields } from '../form.js';
import type { QueryKind } from '../kind.js';
import { varianceFactor } from '../sampling.js';
import { type BindingScope, type BoundQuery, selectRows } from '../scope.js';
import { coefficientInterval, fitRegression, type RegressionFit } from '../statistics/coefficients.js';
import { type MomentEntry, momentsOf } from '../statistics/moments.js';
import { equalVariance, unequalVariance } from '../statistics/unequal-variance.js';

const schema = z.strictObject({
  kind: z.literal('regression'),
  /** A number; a yes or no as a derived 1 or 0. */
  outcome: columnNameForm,
  /** Numbers and categories. */
  on: boundedList(columnNameForm, 'keys'),
  ...commonFields,
});
type RegressionQuery = z.output<typeof schema>;
const label = ({ outcome, on }: RegressionQuery): string => `${outcome} on ${on.join(', ')}`;

/**
 * Least squares from noisy sums of products (../statistics/moments.proof.md); intervals from all sums the noise leaves possible
 * (../statistics/confidence-interval.proof.md).
 */
function bind(query: RegressionQuery, scope: BindingScope): BoundQuery {
  declaredNumber(scope.policy, query.outcome);
  const rows = selectRows(scope.policy, query);
  const moments = momentsOf(scope, rows, [...query.on, query.outcome]);
  const sampled = query.weight === undefined && varianceFactor(scope.policy, 1) !== undefined;
  const unequal = sampled ? unequalVariance(scope, rows, [...query.on, query.outcome], moments.entries) : undefined;
  const entries = moments.entries.slice(0, -1);
  const outcome = moments.entries.at(-1) as Extract<MomentEntry, { kind: 'number' }>;
  const functionals = entries.map((_, j) => functionalOf(entries, outcome, j));
  const columns = ['coefficient', query.name ?? query.outcome];
  const layout = answerLayout(query, label(query), figureCells(rows.cells, entries.map(entryName)), columns);
  return {
    finish: (noisy) => {
      const fits = rows.cells.map((_, group) => {
        const read = moments.at(noisy, group);
        const fit = fitRegression(read);
        const ratio = unequal?.at(noisy, group, fit);
        return { read, fit, ratios: functionals.map(({ weights }) => ratio?.(weights) ?? equalVariance) };
      });
      const made = answerTable(layout, 'propagated', (i): AnswerValues => {
        const { read, fit, ratios } = fits[Math.floor(i / entries.length)]!;
        if (!(fit.count > entries.length)) return noAnswer;
        const { weights, offset } = functionals[i % entries.length]!;
        const own = coefficientInterval(read, fit, weights);
        const factor = query.weight === undefined ? varianceFactor(scope.policy, fit.count) : undefined;
        const { ratio, short } = ratios[i % entries.length]!;
        const sampled = factor === undefined ? undefined : { variance: factor * fit.residual * ratio, short };
        const both = sampled && coefficientInterval(read, fit, weights, sampled);
        return {
          value: own.value + offset,
          standardError: Number.isFinite(own.deviation) ? own.deviation : null,
          ...moved(own, offset),
          ...(both && { withSampling: { ...moved(both, offset), standardError: both.sampling } }),
        };
      });
      const hidden = fits.some(({ ratios }) => ratios.some((one) => one.hidden));
      const notes = [mended(fits.map(({ fit }) => fit)), sampled ? spreadNote(unequal !== undefined, hidden) : undefined].filter(
        (note) => note !== undefined,
      );
      return notes.length === 0 ? made : { ...made, note: notes.join(' ') };
    },
    expectedError: (noise) => {
      // As if numbers were uniform over their bounds and categories over their levels: the change of the outcome from one end,
      // or level, to the other.
      const last = entries.length;
      const errors = entries.map((entry, j) => {
        const { deviation, half } = moments.spread(last, j, noise);
        const across = outcome.reach * { one: 1, number: 6, level: levelsOf(entries, entry) }[entry.kind];
        return { deviation: across * deviation, half: across * half };
      });
      const widest = errors.reduce((most, next) => (next.half > most.half ? next : most));
      const size = { standardError: widest.deviation, halfWidth: widest.half, perRow: true };
      return expectedAnswerError(layout, 'propagated', size);
    },
  };
}

const levelsOf = (entries: readonly MomentEntry[], own: MomentEntry): number =>
  1 + entries.filter((entry) => entry.kind === 'level' && own.kind === 'level' && entry.column === own.column).length;

function entryName(entry: MomentEntry): string {
  if (entry.kind === 'one') return '(intercept)';
  return entry.kind === 'number' ? entry.column : `${entry.column} ${entry.level}, not ${entry.not}`;
}

/** Coefficient in the columns' own units, as weights of those for entries of length one. */
function functionalOf(entries: readonly MomentEntry[], outcome: { readonly middle: number; readonly reach: number }, j: number) {
  const own = entries[j]!;
  const slope = (entry: MomentEntry): number => (entry.kind === 'number' ? outcome.reach / entry.reach : outcome.reach);
  if (own.kind !== 'one') return { weights: entries.map((entry, k) => (k === j ? slope(entry) : 0)), offset: 0 };
  // The intercept is the outcome where every number is 0 and every category has its first level.
  const weights = entries.map((entry) => (entry.kind === 'number' ? -slope(entry) * entry.middle : 0));
  return { weights: weights.with(j, outcome.reach), offset: outcome.middle };
}

const moved = ({ low, high }: { readonly low: number | null; readonly high: number | null }, by: number) => ({
  low: low === null ? null : low + by,
  high: high === null ? null : high + by,
});

/** Note where the noise left sums that no rows can have. */
function mended(fits: readonly RegressionFit[]): string | undefined {
  const some = fits.filter(({ penalty }) => penalty > 0).length;
  if (some === 0) return undefined;
  const which = fits.length === 1 ? 'The noise left' : `In ${some} of ${fits.length} groups the noise left`;
  return `${which} sums of products that no rows can have. A penalty was added so that they can be solved; the coefficients are pulled towards 0, and the noise sets no bound to the true ones. Ask of more rows, fewer columns, or with more epsilon.`;
}

function spreadNote(looked: boolean, hidden: boolean): string | undefined {
  if (!looked)
    return 'Sampling: the outcome counts as varying equally around its line; with so many columns or groups it is not looked at.';
  return hidden
    ? 'Sampling: how unequally the outcome varies around its line is lost in the noise; the larger of what the noise left of it and of an equal spread counts.'
    : undefined;
}

export const regressionKind: QueryKind<typeof schema> = { schema, label, bind };
