import type { Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import { intervalText } from './interval-text.js';
import { keyLabels, missing } from './key-labels.js';
import { shownEnds } from './number.js';
import { rankText } from './rank-text.js';
import { tableTitle } from './table-title.js';
import { bold, dim, numberText, table } from './terminal-text.js';

/** Released table for people: keys with their labels, the value, and its error. */
function tableText(answer: AnswerTable, policy: Policy): string {
  const labels = keyLabels(answer, policy);
  const keys = answer.columns.slice(0, -1);
  const rank = answer.error === 'rank';
  const shares = answer.rows.some(({ share }) => share);
  const sampled = answer.rows.some(({ share }) => share?.withSampling);
  const beyond = answer.rows.some(({ withSampling }) => withSampling);
  return table(
    [
      ...keys,
      answer.columns.at(-1)!,
      rank ? 'rank error' : '95 % interval',
      ...(beyond ? ['with sampling error'] : []),
      ...(shares ? [sampled ? 'percent, with sampling error' : 'percent'] : []),
    ],
    answer.rows.map((r) => [
      ...labels(r.keys).map((label, k) =>
        label === r.keys[k] || r.keys[k] === missing ? r.keys[k]! : isBin(r.keys[k]!) ? label : `${r.keys[k]} ${label}`,
      ),
      r.value === null ? '-' : numberText(r.value),
      rank ? rankText(r, numberText) : between(r),
      ...(beyond ? [r.withSampling ? between(r.withSampling) : ''] : []),
      ...(shares ? [r.share ? percentText({ ...r.share, ...r.share.withSampling }) : ''] : []),
    ]),
  );
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

const between = ({ low, high }: { readonly low: number | null; readonly high: number | null }): string =>
  intervalText(shownEnds(low, high), numberText, { to: ' … ', none: '-' });

const isBin = (key: string): boolean => / to /.test(key);
const percentText = ({ value, low, high }: NonNullable<AnswerTable['rows'][number]['share']>): string =>
  value === null ? '-' : `${(100 * value).toFixed(1)} (${(100 * low).toFixed(1)} … ${(100 * high).toFixed(1)})`;
