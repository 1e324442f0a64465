import type { Policy } from '../../policy/policy.js';
import type { AnswerRow, AnswerTable } from '../../query/bound.js';
import { keyLabels, missing, tableTitle } from './key-labels.js';
import { type Ends, intervalText, rankText, shownEnds } from './number.js';
import { bold, dim, numberText, table } from './terminal-text.js';

/** Released table for people: keys with their labels, the value, and its error. */
function tableText(answer: AnswerTable, policy: Policy): string {
  const labels = keyLabels(answer, policy);
  const sampled = answer.rows.some(({ share }) => share?.withSampling);
  const columns: (readonly [name: string, cell: (row: AnswerRow) => string])[] = [
    ...answer.columns
      .slice(0, -1)
      .map((name, k) => [name, ({ keys }: AnswerRow) => keyText(keys[k]!, labels(keys)[k]!)] as const),
    [answer.columns.at(-1)!, ({ value }) => (value === null ? '-' : numberText(value))],
    answer.error === 'rank' ? ['rank error', (row) => rankText(row, numberText)] : ['95 % interval', between],
  ];
  if (answer.rows.some(({ withSampling }) => withSampling))
    columns.push(['with sampling error', ({ withSampling }) => (withSampling ? between(withSampling) : '')]);
  if (answer.rows.some(({ share }) => share))
    columns.push([
      sampled ? 'percent, with sampling error' : 'percent',
      ({ share }) => (share ? percentText({ ...share, ...share.withSampling }) : ''),
    ]);
  return table(
    columns.map(([name]) => name),
    answer.rows.map((row) => columns.map(([, cell]) => cell(row))),
  );
}

const isBin = (key: string): boolean => / to /.test(key);
function keyText(key: string, label: string): string {
  if (label === key || key === missing) return key;
  return isBin(key) ? label : `${key} ${label}`;
}

/** As many tables as a screen holds, each under its name. */
export function tablesText(tables: readonly AnswerTable[], policy: Policy, whereAll: string): string[] {
  const more = tables.length - mostShown;
  return [
    ...tables
      .slice(0, mostShown)
      .map(
        (t) =>
          `${bold(tableTitle(t))}\n${tableText(t, policy)}\n${[t.arranged, t.note].map((note) => (note === undefined ? '' : `${dim(note)}\n`)).join('')}`,
      ),
    ...(more > 0 ? [`${dim(`… and ${more} more ${more === 1 ? 'table' : 'tables'}${whereAll}`)}\n`] : []),
  ];
}
const mostShown = 12;

const between = ({ low, high }: Ends): string => intervalText(shownEnds(low, high), numberText, { to: ' … ', none: '-' });

const percentText = ({ value, low, high }: NonNullable<AnswerTable['rows'][number]['share']>): string =>
  value === null ? '-' : `${(100 * value).toFixed(1)} (${(100 * low).toFixed(1)} … ${(100 * high).toFixed(1)})`;
