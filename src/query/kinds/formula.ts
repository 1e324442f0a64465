import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { answerLayout, answerTable, defaultAlpha, expectedAnswerError, type LinearTerm } from '../answer.js';
import type { NoisyMeasure } from '../bound.js';
import { type CalculatedNumber, calculate, intervalEstimate, sumOfTerms } from '../error-propagation.js';
import { filterOf } from '../filter.js';
import { boundedList, columnNameForm, commonFields, conditionForm } from '../form.js';
import type { QueryKind } from '../kind.js';
import { type BindingScope, type BoundQuery, type RowSelection, selectRows, withTests } from '../scope.js';
import { distinctTerm } from './distinct.js';
import { centredGrid, plainSum, squareTerm, sumTerm } from './moment.js';

/** Calculation from aggregates: the name of a part, a number, or arithmetic. */
export type Calculation =
  | string
  | number
  | { readonly op: '+' | '-' | '*' | '/'; readonly of: readonly [Calculation, Calculation] }
  | { readonly op: 'sqrt' | 'round'; readonly of: readonly [Calculation]; readonly digits?: number | undefined };
const calculation: z.ZodType<Calculation> = z.lazy(() =>
  z.union([
    columnNameForm,
    z.number(),
    z.strictObject({ op: z.enum(['+', '-', '*', '/']), of: z.tuple([calculation, calculation]).readonly() }),
    z.strictObject({
      op: z.enum(['sqrt', 'round']),
      of: z.tuple([calculation]).readonly(),
      digits: z.int().min(0).max(9).optional(),
    }),
  ]),
);
const part = z.strictObject({
  kind: z.enum(['count', 'sum', 'mean', 'variance', 'distinct']),
  column: columnNameForm.optional(),
  /** Conditions of the part, in addition to those of the query. */
  where: boundedList(conditionForm, 'conditions').optional(),
  /** Variances: divide by n; take the root. */
  population: z.boolean().optional(),
  root: z.boolean().optional(),
  /** Over all groups together. */
  total: z.literal(true).optional(),
});
const schema = z.strictObject({
  kind: z.literal('formula'),
  parts: z.record(columnNameForm, part),
  of: calculation,
  ...commonFields,
});
type FormulaQuery = z.output<typeof schema>;
type Part = z.output<typeof part>;

const text = (of: Calculation): string => {
  if (typeof of !== 'object') return `${of}`;
  if (of.op === 'round' || of.op === 'sqrt')
    return `${of.op}(${text(of.of[0])}${'digits' in of && of.digits ? `, ${of.digits}` : ''})`;
  return of.of
    .map((side) => (typeof side === 'object' && side.of.length === 2 ? `(${text(side)})` : text(side)))
    .join(` ${of.op} `);
};
/** Intermediate results of a calculation have no interval. */
function refuseInner(of: Calculation, whole = true): void {
  if (typeof of !== 'object') return;
  if (of.op === 'round' && !whole)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'ROUND inside a calculation with aggregates is not offered.',
      'Round the whole: ROUND(100 * SUM(a) / SUM(b), 1).',
    );
  for (const side of of.of) refuseInner(side, false);
}
const label = ({ of }: FormulaQuery): string => text(of);

type Reading = (noisy: readonly NoisyMeasure[], i: number) => CalculatedNumber;

/** Part as noisy numbers, shared with other queries of the batch that need the same. */
function readingOf(part: Part, selection: RowSelection, scope: BindingScope): Reading {
  const rows = part.where ? withTests(selection, ...filterOf(part.where, scope.policy)) : selection;
  const all = Array.from({ length: rows.cells.length }, (_, i) => i);
  const spread = (term: LinearTerm): LinearTerm =>
    part.total ? { ...term, cells: () => all.flatMap((i) => [...term.cells(i)]) } : term;
  const read = (...terms: LinearTerm[]): Reading => {
    const own = terms.map(spread);
    return (noisy, i) => sumOfTerms(own, noisy, i);
  };
  const column = (): string => {
    if (part.column !== undefined) return part.column;
    throw new Fault(
      'QUERY_INVALID',
      `The part "${part.kind}" of a formula names no column.`,
      'Write {"kind": "sum", "column": "age"}.',
    );
  };
  if (part.kind === 'count')
    return part.column === undefined ? read(scope.rowCount(rows)) : read(scope.presentCount(rows, part.column));
  if (part.kind === 'distinct') {
    if (part.total)
      throw new Fault('QUERY_UNSUPPORTED', 'Different values of groups do not add up.', 'Ask for the total without groups.');
    return read(distinctTerm(scope, rows, column()));
  }
  if (part.kind === 'sum') return read(plainSum(scope, rows, column()));
  const centred = centredGrid(scope, column());
  const [middle, lifted] = [toNumber(centred.middle), toNumber(centred.lifted)];
  const [numbers, count] = [read(sumTerm(scope, rows, centred)), read(scope.presentCount(rows, column()))];
  if (part.kind === 'mean') return (noisy, i) => calculate('+', middle, calculate('/', numbers(noisy, i), count(noisy, i)));
  const squares = read(squareTerm(scope, rows, centred));
  return (noisy, i) => {
    const [t, n] = [numbers(noisy, i), count(noisy, i)];
    const square = calculate('+', squares(noisy, i), calculate('*', lifted, n));
    const around = calculate('-', square, calculate('/', calculate('*', t, t), n));
    const variance = calculate('/', around, part.population ? n : calculate('-', n, 1));
    return part.root ? calculate('root', variance) : variance;
  };
}

function bind(query: FormulaQuery, scope: BindingScope): BoundQuery {
  const rows = selectRows(scope.policy, query);
  const parts = new Map(Object.entries(query.parts).map(([name, own]) => [name, readingOf(own, rows, scope)]));
  const at = (of: Calculation, noisy: readonly NoisyMeasure[], i: number): CalculatedNumber => {
    if (typeof of === 'number') return calculate('+', of, 0);
    if (typeof of === 'string') {
      const found = parts.get(of);
      if (found) return found(noisy, i);
      throw new Fault('QUERY_INVALID', `The formula names no part "${of}".`, `Its parts are ${[...parts.keys()].join(', ')}.`);
    }
    const [a, b] = of.of.map((side) => at(side, noisy, i));
    // Only the final result is rounded (refuseInner).
    if (of.op === 'round') return a!;
    return of.op === 'sqrt' ? calculate('root', a!) : calculate(of.op, a!, b!);
  };
  refuseInner(query.of);
  const parted = typeof query.of === 'object' && query.of.op === 'round' ? 10 ** (query.of.digits ?? 0) : undefined;
  const layout = answerLayout(query, label(query), rows.cells);
  return {
    finish: (noisy) => {
      const first = rows.cells.length > 0 ? at(query.of, noisy, 0) : undefined;
      return answerTable(layout, first?.linear ? 'combined' : 'propagated', (i) => {
        const { value, standardError, low, high } = intervalEstimate(at(query.of, noisy, i), noisy, defaultAlpha);
        if (parted === undefined) return { value, standardError, low, high };
        const to = (x: number | null, round: (y: number) => number) => (x === null ? null : round(x * parted) / parted);
        return { value: to(value, Math.round), standardError, low: to(low, Math.floor), high: to(high, Math.ceil) };
      });
    },
    expectedError: (noise) => {
      // With every noisy number at 1: exact for sums; for quotients the error per row of the denominator.
      const ones = scope.measures.map(
        (measure, k): NoisyMeasure => ({ noise: noise[k]!, values: measure.cells.map(() => 1n) }) as NoisyMeasure,
      );
      const unitResult = at(query.of, ones, 0);
      const { standardError, half } = intervalEstimate(unitResult, ones, defaultAlpha);
      return expectedAnswerError(layout, unitResult.linear ? 'combined' : 'propagated', {
        standardError: standardError ?? 0,
        halfWidth: half ?? standardError ?? 0,
        perRow: !unitResult.linear,
      });
    },
  };
}

export const formulaKind: QueryKind<typeof schema> = { schema, label, bind };
