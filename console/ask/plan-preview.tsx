import { useState } from 'preact/hooks';
import type { Plan, PlannedError, Policy } from '../api/shapes.ts';
import { Chart } from '../charts/chart.tsx';
import { band, intervals } from '../charts/intervals.ts';
import { Text } from '../parts/field.tsx';
import { formatNumber } from '../parts/figures.ts';
import { Meter } from '../parts/meter.tsx';
import { Notice } from '../parts/notices.tsx';
import { DataTable } from '../parts/table.tsx';
import { exampleBars, exampleCdf } from './example-chart.ts';

/** Cost and expected error of a release, before anything is spent. */
export function PlanPreview({ policy, plan }: { readonly policy: Policy; readonly plan: Plan }) {
  const [people, setPeople] = useState(String(policy.records ?? 1000));
  const [first] = plan.errors;
  return (
    <div class="stack">
      <dl class="figures">
        <div class="figure">
          <dt>Cost</dt>
          <dd>
            {formatNumber(plan.epsilon)} <small>epsilon</small>
          </dd>
        </div>
        {first && (
          <div class="figure">
            <dt>{first.perRow ? 'Error of one number' : 'Error of each number'}</dt>
            <dd>{errorWords(first)}</dd>
          </div>
        )}
      </dl>
      <Meter budget={plan.budget} requested={plan.epsilon} />
      {plan.recorded && (
        <Notice>
          <strong>Answered from the record, free.</strong>
          <span>
            This question was answered before: entry {plan.recorded.entry} of the ledger, {plan.recorded.at.slice(0, 10)}. The
            answer is as noisy as it was then.
          </span>
        </Notice>
      )}
      {(!plan.fits || plan.refusal !== undefined) && (
        <Notice kind="bad">
          <strong>{plan.fits ? 'This would be refused.' : 'The budget does not hold this.'}</strong>
          <span>{plan.refusal}</span>
          {plan.waysOut?.map((way) => (
            <span key={way.change}>
              A way out: {way.change} (error ±{formatNumber(way.error)}).
            </span>
          ))}
        </Notice>
      )}
      {plan.warnings?.map((words) => (
        <Notice key={words} kind="warn">
          {words}
        </Notice>
      ))}
      {first?.mostlyNoise && <Notice kind="warn">{first.mostlyNoise}</Notice>}
      {first && first.query.kind !== 'quantile' && (
        <ExampleChart policy={policy} first={first} people={people} setPeople={setPeople} />
      )}
      {plan.errors.length === 0 && plan.measures && plan.measures.length > 0 && (
        <DataTable
          caption="What is measured"
          columns={[{ name: 'measured' }, { name: 'numbers', right: true }, { name: '95 % error', right: true }]}
          rows={plan.measures.map((m) => [
            m.name,
            m.cells,
            m.error95 === undefined ? 'not as a number' : `± ${formatNumber(m.error95)}`,
          ])}
        />
      )}
      {plan.errors.length > 1 && (
        <DataTable
          caption="Errors of every table"
          tall
          columns={[{ name: 'table' }, { name: 'numbers', right: true }, { name: '95 % error', right: true }]}
          rows={plan.errors.map((e) => [e.name, e.cells, errorWords(e)])}
        />
      )}
      <details>
        <summary>What this promises</summary>
        <ul class="plain-list small">
          {plan.guarantee.sentences.map((s) => (
            <li key={s}>{s}</li>
          ))}
          <li>{plan.why}</li>
        </ul>
      </details>
    </div>
  );
}

const errorWords = ({ halfWidth, perRow, query }: PlannedError): string =>
  query.kind === 'quantile'
    ? `± ${formatNumber(halfWidth)} ranks`
    : perRow
      ? `± ${formatNumber(halfWidth)} / rows`
      : `± ${formatNumber(halfWidth)}`;

function ExampleChart({
  policy,
  first,
  people,
  setPeople,
}: {
  readonly policy: Policy;
  readonly first: PlannedError;
  readonly people: string;
  readonly setPeople: (people: string) => void;
}) {
  const many = Number(people) > 0 ? Math.min(1e9, Number(people)) : 1000;
  const rows = exampleBars(policy, first, many).slice(0, 36);
  return (
    <Chart
      label={`Imagined answer for ${formatNumber(many)} made-up people: ${rows.length} numbers, each with an error bar of the real width, ${errorWords(first)}.`}
      draw={
        first.query.kind === 'cdf'
          ? band(exampleCdf(policy, first, many), { what: 'rows up to it', along: first.query.column ?? '' })
          : intervals(rows, {
              what: first.perRow ? first.name : first.query.kind === 'sum' ? first.name : 'rows',
              imagined: true,
            })
      }
    >
      <figcaption>
        <strong>Imagined data, real error bars.</strong> The bars are made up; how far each may be off is what you would get.
      </figcaption>
      <Text label="Imagine so many people" type="number" min={1} value={people} onWrite={setPeople} />
    </Chart>
  );
}
