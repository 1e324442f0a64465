import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { shownBins } from '../../policy/bins.js';
import { codeText } from '../../policy/code.js';
import { isNumber, levelsOf } from '../../policy/domain.js';
import { gridNumber, gridOf } from '../../policy/grid.js';
import type { MergedColumns, Policy } from '../../policy/policy.js';
import type { StructuralZeros } from '../graphical/fit.js';
import { marginalSize } from '../graphical/marginal.js';
import type { CodedColumn } from '../learn/network/read-coded.js';
import type { SynthCondition, SynthForm } from './form.js';

/** Cells beyond which merged columns are handled in pairs: one clique of all would fill the model. */
const maxJointCells = 2 ** 14;

/**
 * Structural zeros: combinations that the policy's questionnaire excludes (`merge`), and declared ones. Public. Columns whose
 * combinations exceed the model are refused before these are listed.
 */
export function structuralZeros(
  policy: Policy,
  coded: readonly CodedColumn[],
  form: SynthForm,
  most: number,
): readonly StructuralZeros[] {
  return [
    ...(policy.merge ?? []).flatMap((cluster) => unsupportedCells(coded, cluster, most)),
    ...(form.impossible ?? []).map((conditions) => zerosWhere(coded, conditions, most)),
  ].filter(({ cells }) => cells.length > 0);
}

function refuseMany(coded: readonly CodedColumn[], columns: readonly number[], most: number): void {
  const cells = columns.reduce((n, at) => n * coded[at]!.size, 1);
  if (cells <= most) return;
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `What is impossible in ${columns.map((at) => `"${coded[at]!.name}"`).join(', ')} would take ${cells.toLocaleString('en')} cells of the model; at most ${most.toLocaleString('en')} are allowed.`,
    'Name fewer columns at once, declare wider bins, leave one out with except, or allow more with cells.',
    { details: { size: Number.isFinite(cells) ? cells : 'infinite', limit: most } },
  );
}

function unsupportedCells(
  coded: readonly CodedColumn[],
  { columns, support }: MergedColumns,
  most: number,
): readonly StructuralZeros[] {
  const parts = columns.flatMap((name, c) => {
    const at = coded.findIndex((one) => 'axis' in one && one.name === name);
    return at < 0 ? [] : [{ at, places: support.map((answers) => placeOf(coded[at]!, answers[c] ?? null)) }];
  });
  parts.sort((a, b) => a.at - b.at);
  const sizes = coded.map(({ size }) => size);
  const jointZeros = (own: typeof parts): StructuralZeros => {
    refuseMany(
      coded,
      own.map(({ at }) => at),
      most,
    );
    const allowed = new Set(support.map((_, k) => own.reduce((cell, { at, places }) => cell * sizes[at]! + places[k]!, 0)));
    const all = marginalSize(
      sizes,
      own.map(({ at }) => at),
    );
    const cells = Array.from({ length: all }, (_, cell) => cell).filter((cell) => !allowed.has(cell));
    return { columns: own.map(({ at }) => at), cells };
  };
  if (parts.length < 2) return [];
  const all = marginalSize(
    sizes,
    parts.map(({ at }) => at),
  );
  if (all <= maxJointCells) return [jointZeros(parts)];
  return parts.flatMap((b, j) => parts.slice(0, j).map((a) => jointZeros([a, b])));
}

function placeOf({ column, size, name }: CodedColumn, code: string | null): number {
  if (code === null) return size - 1;
  if (column.type !== 'category') throw new RangeError('only categories have codes');
  const place = levelsOf(column).findIndex((codes) => codes.includes(codeText(code)));
  if (place < 0)
    throw new Fault('QUERY_INVALID', `Column "${name}" has no value "${code}".`, 'Name declared codes, or null for no answer.');
  return place;
}

function zerosWhere(
  coded: readonly CodedColumn[],
  conditions: Readonly<Record<string, SynthCondition>>,
  most: number,
): StructuralZeros {
  const parts = Object.entries(conditions)
    .map(([name, condition]) => {
      const at = coded.findIndex((one) => one.name === name && 'axis' in one);
      if (at < 0)
        throw new Fault(
          'COLUMN_UNKNOWN',
          `What is impossible names "${name}", which is no column of the rows with one answer each.`,
          'Name columns that the synthetic rows have.',
        );
      return { at, places: [...new Set(placesWhere(coded[at]!, condition))] };
    })
    .sort((a, b) => a.at - b.at);
  refuseMany(
    coded,
    parts.map(({ at }) => at),
    most,
  );
  let cells = [0];
  for (const { at, places } of parts) cells = cells.flatMap((cell) => places.map((p) => cell * coded[at]!.size + p));
  return { columns: parts.map(({ at }) => at), cells };
}

/** Numbers are drawn anywhere in their bin, so a range must end at a bin's edge. */
function placesWhere(one: CodedColumn, condition: SynthCondition): readonly number[] {
  const { column, name } = one;
  if (typeof condition === 'object' && condition !== null && !Array.isArray(condition)) {
    if (!isNumber(column))
      throw new Fault('QUERY_INVALID', `Column "${name}" holds codes, not numbers.`, 'Name its codes: {"party": ["dem"]}.');
    const from = Number(condition.from ?? Number.NEGATIVE_INFINITY);
    const to = Number(condition.to ?? Number.POSITIVE_INFINITY);
    const within = binsOf(one).flatMap(([low, high], place) => (high >= from && low <= to ? [{ low, high, place }] : []));
    const cut = within.find(({ low, high }) => low < from || high > to);
    if (cut)
      throw new Fault(
        'QUERY_INVALID',
        `What is impossible of "${name}" begins or ends inside its bin "${one.labels[cut.place]}"; numbers are drawn anywhere in a bin.`,
        `Write a range of whole bins, or declare bins of "${name}" that begin where the range does, and where it is over.`,
      );
    if (within.length === 0)
      throw new Fault(
        'QUERY_INVALID',
        `What is impossible of "${name}" is a range that none of its bins lies in.`,
        'Write "from" below "to", both within the bounds of the column.',
      );
    return within.map(({ place }) => place);
  }
  const codes = Array.isArray(condition) ? condition : [condition];
  return codes.map((written) => {
    const code = written === '' ? null : written;
    if (code !== null && isNumber(column))
      throw new Fault(
        'QUERY_INVALID',
        `Column "${name}" holds numbers.`,
        'Write a range, such as {"age": {"to": 15}}, or "" for no answer.',
      );
    return placeOf(one, code === null ? null : `${code}`);
  });
}

/** First and last number of every bin. */
function binsOf({ column }: CodedColumn): readonly (readonly [low: number, high: number])[] {
  if (!isNumber(column)) throw new RangeError('only numbers have bins');
  const grid = gridOf(column);
  const firsts = [0, ...shownBins(column).starts];
  const number = (p: number) => toNumber(gridNumber(grid, p));
  return firsts.map((first, k) => [number(first), number((firsts[k + 1] ?? grid.last + 1) - 1)]);
}
