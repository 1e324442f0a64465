import type { Cell } from '../../src/data/engine/engine.js';
import { Bench, policyWith } from './bench.js';
import type { Figure } from './distributions.js';

/** Rows of codes, the columns whose margin is published, and questions about them. */
export interface Published {
  readonly data: string;
  readonly columns: ReadonlyMap<string, readonly Cell[]>;
  readonly margin: string;
  readonly questions: readonly (readonly [words: string, query: object])[];
}

const declared = (columns: Published['columns']): string =>
  [...columns]
    .map(([name, values]) => `${name}: { type: category, values: [${[...new Set(values)].filter((v) => v !== null).sort().map((v) => JSON.stringify(v)).join(', ')}] }`) // biome-ignore format: one line
    .join(', ');

/**
 * Root mean squared errors of a cell, in rows, at epsilon 1: margin not declared as known, margin known,
 * and answers also made consistent with it.
 */
export async function knownFigures(sets: readonly Published[], times: number): Promise<readonly Figure[]> {
  const table: Figure[] = [['data', 'margin', 'cells', 'question', 'delta', 'not declared', 'known', 'and agreeing', 'of known', 'of not declared']]; // biome-ignore format: one line
  for (const { data, columns, margin, questions } of sets)
    for (const delta of ['0', '1e-6']) {
      const budget = delta === '0' ? '1' : `1, delta: ${delta}`;
      const plain = await policyWith(declared(columns), '', budget);
      const known = await policyWith(declared(columns), '', budget, `known: [{ margin: [${margin}] }]`);
      for (const [words, query] of questions) {
        const error = (bench: Bench): number => {
          const real = bench.exact()[0]!.rows;
          let sum = 0;
          for (let n = 0; n < times; n++)
            sum += bench.released()[0]!.rows.reduce((s, { value }, k) => s + (value! - real[k]!.value!) ** 2, 0) / real.length;
          return Math.sqrt(sum / times);
        };
        const [free, apart, agreeing] = [
          error(new Bench(plain, [query]).count(columns)),
          error(new Bench(known, [query], 'as they are').count(columns)),
          error(new Bench(known, [query]).count(columns)),
        ] as const;
        const size = new Set(columns.get(margin)).size;
        table.push([data, margin, size, words, Number(delta), free, apart, agreeing, apart > 0 ? agreeing / apart : '', agreeing / free]); // biome-ignore format: one line
        console.log(table.at(-1)!.map((x) => (typeof x === 'number' ? Number(x.toPrecision(3)) : x)).join(' | ')); // biome-ignore format: one line
      }
    }
  return table;
}

/** Synthetic rows where the public files are missing: three regions, five answers. */
export function madeRegions(): Published {
  const rows = Array.from({ length: 3000 }, (_, i) => i);
  return {
    data: 'made',
    columns: new Map([
      ['region', rows.map((i) => 'nsw'[i % 3]!)],
      ['answer', rows.map((i) => 'abcde'[(i * 7) % 5]!)],
    ]),
    margin: 'region',
    questions: questionsOf('region', 'answer', 'n'),
  };
}

export const questionsOf = (margin: string, other: string, cell: string): Published['questions'] => [
  [`${margin} by ${other}`, { kind: 'crosstab', columns: [margin, other] }],
  [other, { kind: 'histogram', column: other }],
  [`${other} where ${margin} = ${cell}`, { kind: 'histogram', column: other, where: [{ column: margin, op: '=', value: cell }] }],
  [margin, { kind: 'histogram', column: margin }],
];
