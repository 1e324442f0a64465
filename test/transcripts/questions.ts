import { type NumberDeclaration, type Row, stepsRead, weekOf } from './population.js';

/** A question in several wordings, and the contribution of one row to each of its cells, counted by hand. */
export interface TranscriptQuestion {
  readonly name: string;
  readonly wordings: readonly object[];
  readonly adds: (row: Row, x: NumberDeclaration) => readonly number[];
}

const isA = { column: 'g', op: '=', value: 'a' };
const week = (value: number) => ({ column: 'week', op: '=', value });
const one = (is: boolean): readonly number[] => [is ? 1 : 0];
const groups = ['a', 'b', ''];
const byGroup = ({ g }: Row): readonly number[] => groups.map((each) => (each === g ? 1 : 0));
const inWeek =
  (value: number, adds: TranscriptQuestion['adds']): TranscriptQuestion['adds'] =>
  (row, x) => {
    const made = adds(row, x);
    return weekOf(row) === value ? made : made.map(() => 0);
  };

const counts = (where: readonly object[], ...others: readonly (readonly object[])[]): readonly object[] =>
  [where, ...others].map((each) => ({ kind: 'count', where: each }));

/** Half of the number's range, in steps. */
const middle = ({ high, step }: NumberDeclaration): number => Math.floor(high / step / 2);

export function questionsFor(x: NumberDeclaration): readonly TranscriptQuestion[] {
  const half = middle(x) * x.step;
  const above = [{ column: 'x', op: '>=', value: half }];
  const last = Math.round(x.high / x.step);
  const places = Array.from({ length: last + 1 }, (_, p) => p);
  const byPlace = (row: Row): readonly number[] => {
    const p = stepsRead(x, row.x);
    return [...places.map((each) => (each === p ? 1 : 0)), p === undefined ? 1 : 0];
  };
  const isAbove = (row: Row) => (stepsRead(x, row.x) ?? -1) >= middle(x);
  return [
    { name: 'everybody', wordings: [{ kind: 'count' }], adds: () => [1] },
    {
      name: 'those with a',
      wordings: counts([isA], [{ not: { not: isA } }], [isA, isA], [{ any: [isA] }]),
      adds: ({ g }) => one(g === 'a'),
    },
    {
      name: 'those above the middle',
      wordings: counts(above, [{ column: 'x', op: '>', value: half - x.step }], [{ all: above }]),
      adds: (row) => one(isAbove(row)),
    },
    {
      name: 'those above the middle with a',
      wordings: counts([...above, isA], [isA, ...above]),
      adds: (row) => one(isAbove(row) && row.g === 'a'),
    },
    { name: 'by group', wordings: [{ kind: 'histogram', column: 'g' }], adds: byGroup },
    { name: 'by number', wordings: [{ kind: 'histogram', column: 'x' }], adds: byPlace },
    { name: 'sum', wordings: [{ kind: 'sum', column: 'x' }], adds: (row) => [stepsRead(x, row.x) ?? 0] },
    ...[0, 1, 2].map(
      (value): TranscriptQuestion => ({
        name: `those with a in week ${value}`,
        wordings: counts([isA, week(value)], [week(value), isA], [{ all: [week(value), isA] }]),
        adds: inWeek(value, ({ g }) => one(g === 'a')),
      }),
    ),
    ...[0, 1].map(
      (value): TranscriptQuestion => ({
        name: `by group in week ${value}`,
        wordings: [{ kind: 'histogram', column: 'g', where: [week(value)] }],
        adds: inWeek(value, byGroup),
      }),
    ),
    {
      name: 'rows of week 1',
      wordings: counts([week(1)]),
      adds: inWeek(1, () => [1]),
    },
  ];
}

/** Queries of a stream for every week. */
export const streamed: readonly { readonly query: object; readonly adds: (row: Row, week: number) => readonly number[] }[] = [
  { query: { kind: 'count', where: [isA] }, adds: (row, value) => one(weekOf(row) === value && row.g === 'a') },
  { query: { kind: 'histogram', column: 'g' }, adds: (row, value) => byGroup(row).map((n) => (weekOf(row) === value ? n : 0)) },
];
