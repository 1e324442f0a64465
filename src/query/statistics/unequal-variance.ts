import { one } from '../../base/exact/rational.js';
import { combinations, declaredNumber } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import { standardDeviation } from '../../privacy/mechanism/half-width.js';
import { additiveNoise, distributionsOf, noisyCounts } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import type { GroupKey } from '../count/measure.js';
import { presenceTest } from '../filter.js';
import type { LabelledKey } from '../keys.js';
import { centredGrid } from '../kinds/moment.js';
import { type BindingScope, type RowSelection, withKey, withTests } from '../scope.js';
import type { RegressionFit } from './coefficients.js';
import { dot, solveCholesky } from './matrix.js';
import { categoryOf, type MomentEntry } from './moments.js';

/** Count of people by classes of all columns of a regression: shows how the residual variance varies (unequal-variance.proof.md). */
export interface UnequalVariance {
  /** Ratio of the sampling variance of `weights` times the coefficients to its value under equal variance of the outcome. */
  readonly at: (
    noisy: readonly NoisyMeasure[],
    group: number,
    fit: RegressionFit,
  ) => (weights: readonly number[]) => VarianceRatio;
}
export interface VarianceRatio {
  readonly ratio: number;
  /** Fraction by which it may be too small, from the noise of the table and from sampling. */
  readonly short: number;
  /** True where the table cannot distinguish an equal variance from one twice as large. */
  readonly hidden: boolean;
}

export const equalVariance: VarianceRatio = { ratio: 1, short: 0, hidden: false };

/** Classes of the outcome; usual and largest number of classes of all other columns together. */
const [ofOutcome, ofOthers, mostOthers] = [16, 100, 400];
/** Least and most classes of one number. */
const [fewest, most] = [2, 12];
/** Cells of the table over all groups. */
const maxTableCells = 100_000;
/** Budget weight of the table, in cells: it only determines how certain the answer is. */
const worth = 1 / 8;

interface ClassAxis {
  readonly key: LabelledKey;
  /** Values of the entries of the column for each class. */
  readonly values: readonly (readonly number[])[];
  /** Width of a class, on the scale of the entry; 0 for single values. */
  readonly width: number;
}

/** Undefined where there are too many columns or groups for useful classes. */
export function unequalVariance(
  scope: BindingScope,
  selection: RowSelection,
  columns: readonly string[],
  entries: readonly MomentEntry[],
): UnequalVariance | undefined {
  const isOne = (name: string) => entries.some((entry) => entry.kind === 'number' && entry.column === name);
  const on = columns.slice(0, -1);
  const numbers = on.filter(isOne);
  const levels = on.filter((name) => !isOne(name)).reduce((all, name) => all * categoryOf(scope, name).levels.length, 1);
  const classes = Math.min(most, Math.max(fewest, Math.floor((ofOthers / levels) ** (1 / numbers.length))));
  if (levels * classes ** numbers.length > mostOthers) return undefined;
  const axes = columns.map((name, k) =>
    isOne(name) ? numberAxis(scope, name, k === on.length ? ofOutcome : classes) : categoryAxis(scope, name),
  );
  const size = axes.reduce((all, { values }) => all * values.length, 1);
  if (size * selection.cells.length > maxTableCells) return undefined;
  const rows = axes.reduce((all, { key }) => withKey(all, key), withTests(selection, ...columns.map(presenceTest)));
  // Variation within classes of a number is not seen: of a linearly growing variance, one part in the number of classes (proof note, 3).
  const within = numbers.length > 0 ? 1 + 1 / classes : 1;
  const measure = scope.total(rows, { kind: 'one' }, { grid: one, name: 'people, for the error of sampling', worth });
  const cells = combinations(axes.map(({ values }) => values)).map((entriesOf) => [1, ...entriesOf.flat()]);
  return {
    at: (noisy, group, fit) => {
      const { values } = noisyCounts(noisy, measure);
      const noiseDeviation = standardDeviation(additiveNoise(distributionsOf(noisy), measure));
      const people = cells.map((_, c) => Number(values[group * size + c]!));
      const squaredResiduals = cells.map((cell) => (cell.at(-1)! - dot(fit.coefficients, cell)) ** 2);
      // Variance that the width of classes adds to every squared residual.
      const coarse =
        (axes.at(-1)!.width ** 2 + widthsOf(axes, entries).reduce((sum, w, j) => sum + (w * fit.coefficients[j]!) ** 2, 0)) / 12;
      return (weights) => {
        const along = solveCholesky(fit.root, weights);
        const lengths = cells.map((cell) => dot(along, cell) ** 2);
        const mean = dot(along, weights) / fit.count;
        const plain = fit.residual * mean * fit.count;
        if (!(plain > 0)) return { ...equalVariance, hidden: true };
        const by = lengths.map((length, c) => (length - mean) * (squaredResiduals[c]! - fit.residual));
        const excess = dot(people, by);
        const robust = plain + excess * (excess > 0 ? within : 1);
        const noise = noiseDeviation * Math.hypot(...by);
        const unsure = Math.hypot(noise, coarse * mean * fit.count);
        const larger = Math.max(robust, Math.min(plain, Math.max(0, robust) + unsure));
        // Upper bound: all residual variance in the class with the largest factor.
        const most = lengths.reduce((a, b) => Math.max(a, b), mean) / mean;
        const ratio = Math.min(larger / plain, most);
        // Every person is one draw of the summand; where the variance is not larger than under equality, nothing is added.
        const drawn = Math.sqrt(Math.max(0, dot(people, by.map((x) => x ** 2)))); // biome-ignore format: one line
        const sure = excess ** 2 / (excess ** 2 + noise ** 2);
        const short = robust > plain ? Math.min(1, (sure * Math.hypot(noise, drawn)) / (ratio * plain)) : 0;
        return { ratio, short, hidden: unsure > plain };
      };
    },
  };
}

const widthsOf = (axes: readonly ClassAxis[], entries: readonly MomentEntry[]): readonly number[] =>
  [0, ...axes.slice(0, -1).flatMap(({ width, values }) => values[0]!.map(() => width))].slice(0, entries.length - 1);

/** Number in classes of equal width, each represented by its middle. */
function numberAxis(scope: BindingScope, column: string, classes: number): ClassAxis {
  const grid = gridOf(declaredNumber(scope.policy, column));
  const { origin, reach } = centredGrid(scope, column);
  const width = Math.ceil((grid.last + 1) / classes);
  const size = Math.ceil((grid.last + 1) / width);
  const key: GroupKey = { kind: 'grid', column, width, size };
  const first = Array.from({ length: size }, (_, k) => k * width);
  const middle = first.map((from) => (from + Math.min(grid.last, from + width - 1)) / 2);
  const onScale = (units: number) => units / Number(reach);
  return {
    key: { key, labels: first.map(String) },
    values: middle.map((p) => [onScale(Number(grid.lowUnits - origin) + p * Number(grid.stride))]),
    width: width === 1 ? 0 : onScale(width * Number(grid.stride)),
  };
}

function categoryAxis(scope: BindingScope, column: string): ClassAxis {
  const { key, levels } = categoryOf(scope, column);
  return { key, values: levels.map((_, k) => levels.slice(1).map((__, j) => (j === k - 1 ? 1 : 0))), width: 0 };
}
