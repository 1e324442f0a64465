import type { Answer, AnswerTable, Policy } from '../api/shapes.ts';
import { Chart } from '../charts/chart.tsx';
import { band, type Interval, intervals } from '../charts/intervals.ts';
import { formatMoment, formatNumber } from '../parts/figures.ts';
import { Notice } from '../parts/notices.tsx';
import { DataTable } from '../parts/table.tsx';
import { linkTo } from '../router.ts';
import { Result } from './result.tsx';

/** A released answer: each table as a chart with intervals, the same numbers as text, and the receipt. */
export const AnswerView = ({ policy, answer }: { readonly policy: Policy; readonly answer: Answer }) => (
  <div class="stack">
    <p>
      <span class="badge good">released</span> Entry {answer.receipt.ledger.entry}, {formatMoment(answer.receipt.at)} UTC,{' '}
      {answer.receipt.ledger.replayed ? (
        'answered from the record: nothing was spent.'
      ) : (
        <>epsilon {formatNumber(answer.receipt.epsilon)} spent.</>
      )}{' '}
      <a href={linkTo(policy.name, 'receipts', String(answer.receipt.ledger.entry))}>Receipt and report</a>
    </p>
    {answer.tables?.map((table) => (
      <TableView key={table.name} policy={policy} table={table} />
    ))}
    {answer.tables === undefined && <Result value={answer.result} entry={answer.receipt.ledger.entry} />}
    {answer.receipt.warnings?.map((words) => (
      <Notice key={words} kind="warn">
        {words}
      </Notice>
    ))}
  </div>
);

function TableView({ policy, table }: { readonly policy: Policy; readonly table: AnswerTable }) {
  const named = (keys: readonly string[]) => keys.map((key, k) => labelOfCode(policy, table.columns[k], key));
  const value = table.columns.at(-1) ?? 'value';
  const rows = table.rows.map(
    ({ keys, value, low, high }): Interval => ({
      label: keys.length === 0 ? 'all' : named(keys).at(-1)!,
      ...(keys.length > 1 && { group: named(keys).slice(0, -1).join(', ') }),
      value,
      low,
      high,
    }),
  );
  const along =
    rows.every((r) => r.group === undefined && r.label.trim() !== '' && Number.isFinite(Number(r.label))) && rows.length > 24;
  const shown = rows.slice(0, 60);
  const ranks = table.rows.some((r) => r.rankError !== undefined);
  return (
    <section class="stack" aria-label={table.name}>
      <h3>{table.name}</h3>
      <div class="columns">
        <Chart
          label={`${table.name}: ${rows.length} numbers with their 95 % intervals; the table beside has them all.`}
          draw={
            along
              ? band(
                  rows.map((r) => ({ ...r, at: Number(r.label) })),
                  { what: value, along: table.columns[0]! },
                )
              : intervals(shown, { what: value })
          }
        >
          <figcaption>
            {ranks
              ? 'A quantile has no interval of values; its rank may be off by what the table says.'
              : 'Whiskers and bands are 95 % intervals of the noise.'}
            {!along && rows.length > shown.length && ` The first ${shown.length} of ${rows.length} are drawn.`}
          </figcaption>
        </Chart>
        <DataTable
          caption={`${table.name}, numbers`}
          tall
          columns={[
            ...table.columns.slice(0, -1).map((name) => ({ name })),
            ...(table.columns.length === 1 ? [{ name: 'of' }] : []),
            { name: value, right: true },
            { name: ranks ? 'rank off by' : '95 % interval', right: true },
          ]}
          rows={table.rows.map((r) => [
            ...(r.keys.length === 0 ? ['all'] : named(r.keys)),
            formatNumber(r.value),
            ranks ? `± ${formatNumber(r.rankError)}` : `${formatNumber(r.low)} … ${formatNumber(r.high)}`,
          ])}
        />
      </div>
      {table.mostlyNoise && <Notice kind="warn">{table.mostlyNoise}</Notice>}
    </section>
  );
}

/** Label of a code, where the policy declares one. */
export const labelOfCode = ({ columns }: Policy, column: string | undefined, code: string): string =>
  columns.find((c) => c.name === column)?.values?.find((v) => v.value === code)?.label ?? code;
