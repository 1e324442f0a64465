import { Fault } from '../../base/errors.js';
import { multiply, rational, toNumber } from '../../base/exact/rational.js';
import { columnNamed, isNumber, shownLevels } from '../../policy/domain.js';
import type { Law } from '../../privacy/mechanism/law.js';
import { deviation } from '../../privacy/mechanism/law-width.js';
import { additive, lawsOf, miss, noiseOf, type Term } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import type { CodeKey } from '../count/measure.js';
import { present } from '../filter.js';
import type { LabelledKey } from '../keys.js';
import { centreOf, momentTerm } from '../kinds/moment.js';
import { furtherBy, only, type Rows, type Scope } from '../scope.js';
import { type Matrix, square } from './matrix.js';
import { productOf } from './product.js';
import { isLaplace } from './reach.js';

/** Entry of a row's vector: one (the first), a number centred and scaled by its bounds, or the indicator of a category's level. */
export type Entry =
  | { readonly kind: 'one' }
  | { readonly kind: 'number'; readonly column: string; readonly middle: number; readonly reach: number }
  | { readonly kind: 'level'; readonly column: string; readonly level: string; readonly not: string };

/** Noise of an integer: its standard deviation, and its factors in the entries of the matrix. */
export interface Noise {
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
  readonly entries: readonly Entry[];
  readonly at: (noisy: readonly NoisyMeasure[], group: number) => { readonly matrix: Matrix; readonly noises: readonly Noise[] };
  /** The noise of one product of two entries, before any value is known. */
  readonly spread: (i: number, j: number, noise: readonly Law<number>[]) => { readonly deviation: number; readonly half: number };
}

export interface Category {
  readonly name: string;
  readonly key: LabelledKey;
  readonly levels: readonly string[];
}
type Cells = (group: number) => readonly number[];
const range = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);

/** The moments of columns among rows that have all of them: numbers, and all levels of categories but the first. */
export function momentsOf(scope: Scope, asked: Rows, columns: readonly string[]): Moments {
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined)
    throw new Fault('QUERY_INVALID', `Column "${twice}" is named twice.`, 'Name every column once, and not the outcome.');
  const rows = only(asked, ...columns.map(present));
  const numbers = columns.filter((name) => isNumber(columnNamed(scope.policy, name)));
  const categories = columns.filter((name) => !numbers.includes(name)).map((name) => categoryOf(scope, name));
  const entries: Entry[] = [{ kind: 'one' }, ...columns.flatMap((name) => entriesOf(scope, name, categories))];
  const counts = tablesOf(scope, rows, categories);
  const byCategory = new Map<string, Term>();
  const sumBy = (number: string, a: number): Term => {
    const category = categories[a];
    const key = `${number} ${a}`;
    const { grid, origin } = centreOf(scope, number);
    const own = category ? furtherBy(rows, category.key) : rows;
    const term = byCategory.get(key) ?? momentTerm(scope, own, grid, { power: 1, origin, shift: 0n });
    byCategory.set(key, term);
    return term;
  };
  const width = (a: number): number => categories[a]?.levels.length ?? 1;
  const level = (entry: Extract<Entry, { kind: 'level' }>) => {
    const a = categories.findIndex(({ name }) => name === entry.column);
    return { a, l: categories[a]!.levels.indexOf(entry.level) };
  };
  const termsOf = (x: Entry, y: Entry): readonly Term[] => {
    if (x.kind === 'one' && y.kind === 'one') return [counts.all];
    if (x.kind === 'one') return y.kind === 'one' ? [] : termsOf(y, x);
    if (x.kind === 'level') {
      const own = level(x);
      if (y.kind === 'one') return [counts.level(own.a, own.l)];
      if (y.kind === 'number') return [at(sumBy(y.column, own.a), (g) => [g * width(own.a) + own.l])];
      const other = level(y);
      if (own.a !== other.a) return [counts.both(own.a, own.l, other.a, other.l)];
      return own.l === other.l ? [counts.level(own.a, own.l)] : [];
    }
    if (y.kind === 'level') return termsOf(y, x);
    if (y.kind === 'one') return [at(sumBy(x.column, 0), (g) => range(width(0)).map((l) => g * width(0) + l))];
    if (x.column === y.column) return squareOf(scope, rows, x.column, counts.all);
    return [productOf(scope, rows, x.column, y.column)];
  };
  const scaleOf = (entry: Entry): number => (entry.kind === 'number' ? entry.reach : 1);
  const places = entries.flatMap((x, i) =>
    entries.slice(0, i + 1).map((y, j) => ({ i, j, terms: termsOf(x, y), scale: scaleOf(x) * scaleOf(y) })),
  );
  return {
    entries,
    at: (noisy, group) => read(entries.length, places, noisy, group),
    spread: (i, j, noise) => {
      const { terms, scale } = places.find((place) => place.i === Math.max(i, j) && place.j === Math.min(i, j))!;
      const { deviation, half } = noiseOf(terms, noise);
      return { deviation: deviation / scale, half: half(miss) / scale };
    },
  };
}

const at = (term: Term, cells: Cells): Term => ({ ...term, cells });

function read(
  size: number,
  places: readonly { readonly i: number; readonly j: number; readonly terms: readonly Term[]; readonly scale: number }[],
  noisy: readonly NoisyMeasure[],
  group: number,
): ReturnType<Moments['at']> {
  const matrix = square(size);
  const laws = lawsOf(noisy);
  const noises = new Map<string, { deviation: number; laplace: boolean; enters: Place[] }>();
  for (const { i, j, terms, scale } of places)
    for (const { measure, factor, cells } of terms) {
      const by = toNumber(factor) / scale;
      const law = additive(laws, measure);
      const { values } = noisy[measure] as { readonly values: readonly bigint[] };
      for (const cell of cells(group)) {
        matrix[i]![j]! += by * Number(values[cell]!);
        const key = `${measure} ${cell}`;
        const noise = noises.get(key) ?? { deviation: deviation(law), laplace: isLaplace(law), enters: [] };
        noise.enters.push({ i, j, by });
        noises.set(key, noise);
      }
    }
  for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) matrix[j]![i] = matrix[i]![j]!;
  return { matrix, noises: [...noises.values()].filter((noise) => noise.deviation > 0) };
}

export function categoryOf(scope: Scope, name: string): Category {
  const column = columnNamed(scope.policy, name);
  if (column.type !== 'category')
    throw new Fault(
      'QUERY_INVALID',
      `Column "${name}" is declared as ${column.type}; a number or a category is needed.`,
      'Derive a number from it: "derive": {"yes": {"cases": [{"when": {"column": "media", "op": "=", "value": "tv"}, "value": 1}], "otherwise": 0}}.',
    );
  const { groups, labels } = shownLevels(column);
  const levels = labels.slice(0, -1);
  if (levels.length < 2)
    throw new Fault('QUERY_INVALID', `Column "${name}" has only one value.`, 'Leave it out: it tells no rows apart.');
  const key: CodeKey = { kind: 'code', column: name, groups, missing: 'drop', size: groups.length };
  return { name, key: { key, labels: levels }, levels };
}

function entriesOf(scope: Scope, column: string, categories: readonly Category[]): readonly Entry[] {
  const category = categories.find(({ name }) => name === column);
  if (category)
    return category.levels.slice(1).map((level) => ({ kind: 'level', column, level, not: category.levels[0]! }) as const);
  const { grid, origin, reach } = centreOf(scope, column);
  if (reach === 0n) throw new Fault('QUERY_INVALID', `Column "${column}" has only one value.`, 'Leave it out.');
  const unit = toNumber(grid.unit);
  return [{ kind: 'number', column, middle: unit * Number(origin), reach: unit * Number(reach) }];
}

/** Counts by every two categories, by the only one, or of all rows; a category's own counts come from the first table that has it. */
function tablesOf(scope: Scope, rows: Rows, categories: readonly Category[]) {
  const width = (a: number): number => categories[a]!.levels.length;
  if (categories.length <= 1) {
    const [category] = categories;
    const term = scope.rowCount(category ? furtherBy(rows, category.key) : rows);
    const all = category ? width(0) : 1;
    return {
      all: at(term, (g) => range(all).map((l) => g * all + l)),
      level: (_: number, l: number) => at(term, (g) => [g * all + l]),
      both: (): Term => {
        throw new RangeError('one category has no pairs');
      },
    };
  }
  const tables = new Map<string, Term>();
  for (let a = 0; a < categories.length; a++)
    for (let b = a + 1; b < categories.length; b++)
      tables.set(`${a} ${b}`, scope.rowCount(furtherBy(furtherBy(rows, categories[a]!.key), categories[b]!.key)));
  const cell = (g: number, a: number, l: number, b: number, m: number) => (g * width(a) + l) * width(b) + m;
  const first = tables.get('0 1')!;
  const level = (a: number, l: number): Term =>
    a === 0
      ? at(first, (g) => range(width(1)).map((m) => cell(g, 0, l, 1, m)))
      : at(tables.get(`0 ${a}`)!, (g) => range(width(0)).map((k) => cell(g, 0, k, a, l)));
  return {
    all: at(first, (g) => range(width(0) * width(1)).map((k) => g * width(0) * width(1) + k)),
    level,
    both: (a: number, l: number, b: number, m: number): Term =>
      a < b
        ? at(tables.get(`${a} ${b}`)!, (g) => [cell(g, a, l, b, m)])
        : at(tables.get(`${b} ${a}`)!, (g) => [cell(g, b, m, a, l)]),
  };
}

/** Squares minus half their largest, so that they are centred; the offset is added back for every row. */
function squareOf(scope: Scope, rows: Rows, column: string, all: Term): readonly Term[] {
  const { grid, origin, reach } = centreOf(scope, column);
  const shift = (reach * reach) / 2n;
  const lifted = multiply(multiply(grid.unit, grid.unit), rational(shift));
  return [momentTerm(scope, rows, grid, { power: 2, origin, shift }), { ...all, factor: multiply(all.factor, lifted) }];
}
