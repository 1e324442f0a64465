import { type CodedTable, splitColumns } from '../src/learn/network/coded.js';
import { learnChunks } from '../src/learn/network/learn-chunks.js';
import { type Bench, secondsPer } from './bench.js';

/** Answers drawn from a random network (two parents each, within a window): 5 levels, so that chunks have real structure to find. */
export function generatedSurvey(columns: number, rows: number, levels: number, seed = 7): CodedTable {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const data = Array.from({ length: columns }, () => new Uint8Array(rows));
  for (let c = 0; c < columns; c++) {
    const parents =
      c === 0 ? [] : [c - 1 - Math.floor(uniform() * Math.min(c, 6)), c - 1 - Math.floor(uniform() * Math.min(c, 6))];
    const lean = Array.from({ length: levels * levels }, () => Math.floor(uniform() * levels));
    for (let i = 0; i < rows; i++) {
      const cell = parents.reduce((at, p) => at * levels + data[p]![i]!, 0);
      data[c]![i] = uniform() < 0.4 ? lean[cell]! : Math.floor(uniform() * levels);
    }
  }
  return {
    names: data.map((_, c) => `q${c}`),
    levels: data.map(() => levels),
    rows,
    columns: data,
  };
}

const learned = (columns: number, k: number, seconds: number): Bench => ({
  name: `exact networks: ${columns} columns in chunks of ${k}, 5 levels, 3,000 rows`,
  goal: { seconds },
  run: async () => {
    const survey = generatedSurvey(columns, 3000, 5);
    return { ours: await secondsPer(() => learnChunks(survey, splitColumns(columns, k))) };
  },
});

/** The worker pool is resident, so the first run (which starts it) is not the one that counts. */
export const benches: readonly Bench[] = [learned(402, 10, 0.3), learned(153, 15, 0.5), learned(20, 20, 0.5)];
