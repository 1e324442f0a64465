import type { WorkloadPlan } from '../../analysis/workload/release.js';
import { bold, numberText, table } from '../report/terminal-text.js';

const number = (n: number): string => n.toLocaleString('en-US');
const plural = (n: number, word: string): string => `${number(n)} ${word}${n === 1 ? '' : 's'}`;

/** Summary of a workload: size, error by number of columns, and the error under other noise. */
export function workloadText({ workload, errors }: WorkloadPlan): string {
  const { tables, cells, noised, memory, aim, ways, distribution } = workload;
  const bySize = new Map<number, (typeof errors)[number][]>();
  for (const error of errors) {
    const columns = 'by' in error.query ? (error.query.by?.length ?? 0) : 0;
    const own = bySize.get(columns);
    if (own) own.push(error);
    else bySize.set(columns, [error]);
  }
  const rows = [...bySize]
    .sort(([a], [b]) => a - b)
    .map(([columns, list]) => {
      const halves = list.map(({ halfWidth }) => halfWidth);
      const [least, most] = [Math.min(...halves), Math.max(...halves)];
      return [
        plural(columns, 'column'),
        number(list.length),
        number(list.reduce((n, own) => n + own.cells, 0)),
        least === most ? `±${numberText(most)}` : `±${numberText(least)} to ±${numberText(most)}`,
      ];
    });
  const [best, ...others] = ways;
  const words = (way: (typeof ways)[number]) => `${way.noise} noise, ${way.name}`;
  return [
    bold(`${plural(tables, 'table')}, ${plural(cells, 'cell')} in all`),
    table(['tables of', 'tables', 'cells', '95 % error of a count'], rows),
    `${aim === 'largest' ? 'The largest standard error' : 'The root mean square error'} of a cell is ${numberText(best!.error)} with ${words(best!)}${others
      .map((way) => `; ${numberText(way.error)} with ${words(way)}`)
      .join('')}.`,
    `${number(noised)} numbers are noised; about ${number(Math.ceil(memory / 1e6))} MB of memory.`,
    distribution === undefined
      ? 'With --tidy: the nearest tables without negative cells.'
      : `With --tidy: the tables of one distribution, fitted over ${plural(distribution, 'cell')}.`,
  ].join('\n');
}
