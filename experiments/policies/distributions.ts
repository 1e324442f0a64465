import type { Cell } from '../../src/data/engine/engine.js';
import type { AnswerTable } from '../../src/query/bound.js';
import { Bench, policyWith, sequence } from './bench.js';

export type Figure = readonly (string | number)[];

/** Rows of one column, and the policies under which it is queried. */
export interface Column {
  readonly data: string;
  readonly name: string;
  readonly declared: string;
  readonly low: number;
  readonly step: number;
  readonly size: number;
  readonly values: readonly Cell[];
  readonly policies: readonly (readonly [words: string, pairs: string])[];
}

/** Ends of uniformly drawn ranges, as positions. */
function randomRanges(size: number, count: number): readonly (readonly [number, number])[] {
  const random = sequence(11);
  return Array.from({ length: count }, () => {
    const [a, b] = [random(), random()].map((x) => Math.min(size - 1, Math.floor(x * size)));
    return a! < b! ? ([a!, b!] as const) : ([b!, a!] as const);
  });
}

const values = (table: AnswerTable): readonly number[] => table.rows.map(({ value }) => value!);
const rmse = (told: readonly number[], real: readonly number[]): number =>
  told.reduce((sum, x, k) => sum + (x - real[k]!) ** 2, 0) / told.length;

/**
 * Root mean squared errors, in rows, of bin counts, the whole distribution, random ranges and bins as ranges:
 * each queried separately with all of epsilon 1.
 */
export async function distributionFigures(columns: readonly Column[], times: number): Promise<readonly Figure[]> {
  const table: Figure[] = [
    [
      'data',
      'rows',
      'values',
      'pairs',
      'histogram',
      'of plain',
      'cdf',
      'of plain',
      'ranges',
      'of plain',
      'cells',
      'of histogram',
    ],
  ];
  for (const column of columns) {
    const { name, declared, low, step, size, policies } = column;
    const at = (p: number) => Number((low + p * step).toPrecision(12));
    const ranges = randomRanges(size, 1000).map(([a, b]) => [at(a), at(b)]);
    const questions = [
      { kind: 'histogram', column: name },
      { kind: 'cdf', column: name },
      { kind: 'ranges', column: name, ranges },
      // Each bin as a range.
      { kind: 'ranges', column: name },
    ];
    let plain: readonly number[] | undefined;
    for (const [words, pairs] of policies) {
      const policy = await policyWith(`${name}: ${declared}`, pairs, '1');
      const errors = questions.map((question) => {
        const bench = new Bench(policy, [question]).count(new Map([[name, column.values]]));
        const real = values(bench.exact()[0]!);
        let sum = 0;
        // A table of bins has few cells, so it is drawn more often.
        const draws = real.length < 50 ? 50 * times : times;
        for (let n = 0; n < draws; n++) sum += rmse(values(bench.released()[0]!), real);
        return Math.sqrt(sum / draws);
      });
      plain ??= errors;
      const [histogram, , , cells] = errors;
      const parts = errors.slice(0, 3).flatMap((error, k) => [error, error / plain![k]!]);
      const ofHistogram = histogram === 0 ? '' : cells! / histogram!;
      table.push([column.data, column.values.length, size, words, ...parts, cells!, ofHistogram]);
      console.log(
        table
          .at(-1)!
          .map((x) => (typeof x === 'number' ? Number(x.toPrecision(3)) : x))
          .join(' | '),
      );
    }
  }
  return table;
}

/** 50,000 synthetic rows over 4,096 values: two modes and a uniform part. */
export function madeColumn(): Column {
  const random = sequence(5);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const place = () => {
    const kind = random();
    return kind < 0.5 ? 900 + 250 * normal() : kind < 0.8 ? 2600 + 500 * normal() : 4096 * random();
  };
  const one = (words: string, steps: number): readonly [string, string] => [words, `x: { within: ${steps}, missing: apart }`];
  return {
    data: 'made',
    name: 'x',
    declared: '{ type: integer, bounds: [0, 4095] }',
    low: 0,
    step: 1,
    size: 4096,
    values: Array.from({ length: 50_000 }, () => Math.min(4095, Math.max(0, Math.floor(place())))),
    policies: [['none', ''], one('within 1', 1), one('within 10', 10), one('within 100', 100), one('within 1000', 1000)],
  };
}
