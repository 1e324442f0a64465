import { Fault } from '../../base/errors.js';
import { multiply, toNumber } from '../../base/exact/rational.js';
import { declaredColumn, isNumber } from '../../policy/domain.js';
import type { NoiseDistribution } from '../../privacy/mechanism/distribution.js';
import { standardDeviation } from '../../privacy/mechanism/half-width.js';
import { additiveNoise, defaultAlpha, distributionsOf, type LinearTerm, noiseOfTerms, noisyCounts } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import { presenceTest } from '../filter.js';
import { type LabelledKey, levelKey } from '../keys.js';
import { centredGrid, squareTerm, sumTerm } from '../kinds/moment.js';
import { type BindingScope, type RowSelection, withKey, withTests } from '../scope.js';
import { isLaplace } from './confidence-interval.js';
import { type SymmetricMatrix, zeroMatrix } from './matrix.js';
import { productTerm } from './product.js';

/** Entry of a row's vector: one (the first), a number centred and scaled by its bounds, or the indicator of a category's level. */
export type MomentEntry =
  | { readonly kind: 'one' }
  | { readonly kind: 'number'; readonly column: string; readonly middle: number; readonly reach: number }
  | { readonly kind: 'level'; readonly column: string; readonly level: string; readonly not: string };

/** Noise of an integer: its standard deviation, and its factors in the entries of the matrix. */
export interface EntryNoise {
  readonly deviation: number;
  readonly laplace: boolean;
  readonly enters: readonly Place[];
}
interface Place {
  readonly i: number;
  readonly j: number;
  readonly by: number;
}

/** Noisy sums over rows of the products of all pairs of entries (moments.proof.md). */
export interface Moments {
  readonly entries: readonly MomentEntry[];
  readonly at: (
    noisy: readonly NoisyMeasure[],
    group: number,
  ) => { readonly matrix: SymmetricMatrix; readonly noises: readonly EntryNoise[] };
  /** The noise of one product of two entries, before any value is known. */
  readonly spread: (
    i: number,
    j: number,
    noise: readonly NoiseDistribution<number>[],
  ) => { readonly deviation: number; readonly half: number };
}

export interface CategoryLevels {
  readonly name: string;
  readonly key: LabelledKey;
  readonly levels: readonly string[];
}
/** Level `l` of category `a`. */
interface LevelAt {
  readonly a: number;
  readonly l: number;
}
type Cells = (group: number) => readonly number[];
const range = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);

/** The moments of columns among rows that have all of them: numbers, and all levels of categories but the first. */
export function momentsOf(scope: BindingScope, selection: RowSelection, columns: readonly string[]): Moments {
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined)
    throw new Fault('QUERY_INVALID', `Column "${twice}" is named twice.`, 'Name every column once, and not the outcome.');
  const rows = withTests(selection, ...columns.map(presenceTest));
  const numbers = columns.filter((name) => isNumber(declaredColumn(scope.policy, name)));
  const categories = columns.filter((name) => !numbers.includes(name)).map((name) => categoryOf(scope, name));
  const entries: MomentEntry[] = [{ kind: 'one' }, ...columns.flatMap((name) => entriesOf(scope, name, categories))];
  const counts = tablesOf(scope, rows, categories);
  const byCategory = new Map<string, LinearTerm>();
  const sumBy = (number: string, a: number): LinearTerm => {
    const category = categories[a];
    const key = `${number} ${a}`;
    const own = category ? withKey(rows, category.key) : rows;
    const term = byCategory.get(key) ?? sumTerm(scope, own, centredGrid(scope, number));
    byCategory.set(key, term);
    return term;
  };
  const width = (a: number): number => categories[a]?.levels.length ?? 1;
  const levelAt = (entry: Extract<MomentEntry, { kind: 'level' }>): LevelAt => {
    const a = categories.findIndex(({ name }) => name === entry.column);
    return { a, l: categories[a]!.levels.indexOf(entry.level) };
  };
  const termsOf = (x: MomentEntry, y: MomentEntry): readonly LinearTerm[] => {
    if (x.kind === 'one' && y.kind === 'one') return [counts.all];
    if (x.kind === 'one') return y.kind === 'one' ? [] : termsOf(y, x);
    if (x.kind === 'level') {
      const own = levelAt(x);
      if (y.kind === 'one') return [counts.level(own)];
      if (y.kind === 'number') return [at(sumBy(y.column, own.a), (g) => [g * width(own.a) + own.l])];
      const other = levelAt(y);
      if (own.a !== other.a) return [counts.both(own, other)];
      return own.l === other.l ? [counts.level(own)] : [];
    }
    if (y.kind === 'level') return termsOf(y, x);
    if (y.kind === 'one') return [at(sumBy(x.column, 0), (g) => range(width(0)).map((l) => g * width(0) + l))];
    if (x.column === y.column) return squareOf(scope, rows, x.column, counts.all);
    return [productTerm(scope, rows, x.column, y.column)];
  };
  const scaleOf = (entry: MomentEntry): number => (entry.kind === 'number' ? entry.reach : 1);
  const places = entries.flatMap((x, i) =>
    entries.slice(0, i + 1).map((y, j) => ({ i, j, terms: termsOf(x, y), scale: scaleOf(x) * scaleOf(y) })),
  );
  return {
    entries,
    at: (noisy, group) => read(entries.length, places, noisy, group),
    spread: (i, j, noise) => {
      const { terms, scale } = places.find((place) => place.i === Math.max(i, j) && place.j === Math.min(i, j))!;
      const { deviation, half } = noiseOfTerms(terms, noise);
      return { deviation: deviation / scale, half: half(defaultAlpha) / scale };
    },
  };
}

const at = (term: LinearTerm, cells: Cells): LinearTerm => ({ ...term, cells });

function read(
  size: number,
  places: readonly { readonly i: number; readonly j: number; readonly terms: readonly LinearTerm[]; readonly scale: number }[],
  noisy: readonly NoisyMeasure[],
  group: number,
): ReturnType<Moments['at']> {
  const matrix = zeroMatrix(size);
  const distributions = distributionsOf(noisy);
  const noises = new Map<string, { deviation: number; laplace: boolean; enters: Place[] }>();
  for (const { i, j, terms, scale } of places)
    for (const { measure, factor, cells } of terms) {
      const by = toNumber(factor) / scale;
      const distribution = additiveNoise(distributions, measure);
      const { values } = noisyCounts(noisy, measure);
      for (const cell of cells(group)) {
        matrix[i]![j]! += by * Number(values[cell]!);
        const key = `${measure} ${cell}`;
        const noise = noises.get(key) ?? {
          deviation: standardDeviation(distribution),
          laplace: isLaplace(distribution),
          enters: [],
        };
        noise.enters.push({ i, j, by });
        noises.set(key, noise);
      }
    }
  for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) matrix[j]![i] = matrix[i]![j]!;
  return { matrix, noises: [...noises.values()].filter((noise) => noise.deviation > 0) };
}

export function categoryOf(scope: BindingScope, name: string): CategoryLevels {
  const column = declaredColumn(scope.policy, name);
  if (column.type !== 'category')
    throw new Fault(
      'QUERY_INVALID',
      `Column "${name}" is declared as ${column.type}; a number or a category is needed.`,
      'Derive a number from it: "derive": {"yes": {"cases": [{"when": {"column": "media", "op": "=", "value": "tv"}, "value": 1}], "otherwise": 0}}.',
    );
  const key = levelKey(column);
  if (key.labels.length < 2)
    throw new Fault('QUERY_INVALID', `Column "${name}" has only one value.`, 'Leave it out: it tells no rows apart.');
  return { name, key, levels: key.labels };
}

function entriesOf(scope: BindingScope, column: string, categories: readonly CategoryLevels[]): readonly MomentEntry[] {
  const category = categories.find(({ name }) => name === column);
  if (category)
    return category.levels.slice(1).map((level) => ({ kind: 'level', column, level, not: category.levels[0]! }) as const);
  const { grid, origin, reach } = centredGrid(scope, column);
  if (reach === 0n) throw new Fault('QUERY_INVALID', `Column "${column}" has only one value.`, 'Leave it out.');
  const unit = toNumber(grid.unit);
  return [{ kind: 'number', column, middle: unit * Number(origin), reach: unit * Number(reach) }];
}

/** Counts by every two categories, by the only one, or of all rows; a category's own counts come from the first table that has it. */
function tablesOf(scope: BindingScope, rows: RowSelection, categories: readonly CategoryLevels[]) {
  const width = (a: number): number => categories[a]!.levels.length;
  if (categories.length <= 1) {
    const [category] = categories;
    const term = scope.rowCount(category ? withKey(rows, category.key) : rows);
    const all = category ? width(0) : 1;
    return {
      all: at(term, (g) => range(all).map((l) => g * all + l)),
      level: ({ l }: LevelAt) => at(term, (g) => [g * all + l]),
      both: (): LinearTerm => {
        throw new RangeError('one category has no pairs');
      },
    };
  }
  const tables = new Map<string, LinearTerm>();
  for (let a = 0; a < categories.length; a++)
    for (let b = a + 1; b < categories.length; b++)
      tables.set(`${a} ${b}`, scope.rowCount(withKey(withKey(rows, categories[a]!.key), categories[b]!.key)));
  const cell = (g: number, x: LevelAt, y: LevelAt) => (g * width(x.a) + x.l) * width(y.a) + y.l;
  const first = tables.get('0 1')!;
  const level = (own: LevelAt): LinearTerm =>
    own.a === 0
      ? at(first, (g) => range(width(1)).map((l) => cell(g, own, { a: 1, l })))
      : at(tables.get(`0 ${own.a}`)!, (g) => range(width(0)).map((l) => cell(g, { a: 0, l }, own)));
  return {
    all: at(first, (g) => range(width(0) * width(1)).map((k) => g * width(0) * width(1) + k)),
    level,
    both: (x: LevelAt, y: LevelAt): LinearTerm => {
      const [lesser, greater] = x.a < y.a ? [x, y] : [y, x];
      return at(tables.get(`${lesser.a} ${greater.a}`)!, (g) => [cell(g, lesser, greater)]);
    },
  };
}

/** Squares minus half their largest, so that they are centred; the offset is added back for every row. */
function squareOf(scope: BindingScope, rows: RowSelection, column: string, all: LinearTerm): readonly LinearTerm[] {
  const centred = centredGrid(scope, column);
  const { lifted } = centred;
  return [squareTerm(scope, rows, centred), { ...all, factor: multiply(all.factor, lifted) }];
}
