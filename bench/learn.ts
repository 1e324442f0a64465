import { pathToFileURL } from 'node:url';
import { bestStructure } from '../src/analysis/learn/best-structure.js';
import { type CodedTable, splitColumns } from '../src/analysis/learn/coded.js';
import { learnChunks } from '../src/analysis/learn/learn-chunks.js';

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

async function best(repeat: number, work: () => Promise<unknown> | unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < repeat; i++) {
    const start = performance.now();
    await work();
    least = Math.min(least, performance.now() - start);
  }
  return least / 1000;
}

export interface LearnFigure {
  readonly work: string;
  readonly seconds: number;
  readonly goal: number;
}

/** Best of several warm runs: exact networks, generated answers, 5 levels, 3,000 rows. */
export async function learnFigures(): Promise<readonly LearnFigure[]> {
  const wide = generatedSurvey(402, 3000, 5);
  const middle = generatedSurvey(153, 3000, 5);
  const twenty = generatedSurvey(20, 3000, 5);
  return [
    { work: '402 columns, chunks of 10', seconds: await best(6, () => learnChunks(wide, splitColumns(402, 10))), goal: 0.3 },
    { work: '153 columns, chunks of 15', seconds: await best(6, () => learnChunks(middle, splitColumns(153, 15))), goal: 0.5 },
    { work: 'one chunk of 20', seconds: await best(6, () => bestStructure(twenty)), goal: 0.5 },
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.table(await learnFigures());
