import { useState } from 'preact/hooks';
import type { Foreseen, Plan, Policy } from '../api/shapes.ts';
import { Chart } from '../charts/chart.tsx';
import { band, intervals } from '../charts/intervals.ts';
import { Text } from '../parts/field.tsx';
import { figure } from '../parts/figures.ts';
import { Meter } from '../parts/meter.tsx';
import { Table } from '../parts/table.tsx';
import { Note } from '../parts/told.tsx';
import { imagined, imaginedRise } from './imagined.ts';

/** Cost and expected error of a release, before anything is spent. */
export function Foresight({ policy, plan }: { readonly policy: Policy; readonly plan: Plan }) {
  const [people, setPeople] = useState(String(policy.records ?? 1000));
  const [first] = plan.errors;
  return (
    <div class="stack">
      <dl class="figures">
        <div class="figure">
          <dt>Cost</dt>
          <dd>
            {figure(plan.epsilon)} <small>epsilon</small>
          </dd>
        </div>
        {first && (
          <div class="figure">
            <dt>{first.perRow ? 'Error of one number' : 'Error of each number'}</dt>
            <dd>{errorWords(first)}</dd>
          </div>
        )}
      </dl>
      <Meter budget={plan.budget} asked={plan.epsilon} />
      {plan.recorded && (
        <Note>
          <strong>Answered from the record, free.</strong>
          <span>
            The same was asked before: entry {plan.recorded.entry} of the ledger, {plan.recorded.at.slice(0, 10)}. The answer is
            as noisy as it was then.
          </span>
        </Note>
      )}
      {(!plan.fits || plan.refusal !== undefined) && (
        <Note kind="bad">
          <strong>{plan.fits ? 'This would be refused.' : 'The budget does not hold this.'}</strong>
          <span>{plan.refusal}</span>
          {plan.waysOut?.map((way) => (
            <span key={way.change}>
              A way out: {way.change} (error ±{figure(way.error)}).
            </span>
          ))}
        </Note>
      )}
      {plan.warnings?.map((words) => (
        <Note key={words} kind="warn">
          {words}
        </Note>
      ))}
      {first?.mostlyNoise && <Note kind="warn">{first.mostlyNoise}</Note>}
      {first && first.query.kind !== 'quantile' && (
        <Imagined policy={policy} first={first} people={people} setPeople={setPeople} />
      )}
      {plan.errors.length === 0 && plan.measures && plan.measures.length > 0 && (
        <Table
          caption="What is measured"
          columns={[{ name: 'measured' }, { name: 'numbers', right: true }, { name: '95 % error', right: true }]}
          rows={plan.measures.map((m) => [
            m.name,
            m.cells,
            m.error95 === undefined ? 'not as a number' : `± ${figure(m.error95)}`,
          ])}
        />
      )}
      {plan.errors.length > 1 && (
        <Table
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

const errorWords = ({ halfWidth, perRow, query }: Foreseen): string =>
  query.kind === 'quantile'
    ? `± ${figure(halfWidth)} ranks`
    : perRow
      ? `± ${figure(halfWidth)} / rows`
      : `± ${figure(halfWidth)}`;

function Imagined({
  policy,
  first,
  people,
  setPeople,
}: {
  readonly policy: Policy;
  readonly first: Foreseen;
  readonly people: string;
  readonly setPeople: (people: string) => void;
}) {
  const many = Number(people) > 0 ? Math.min(1e9, Number(people)) : 1000;
  const rows = imagined(policy, first, many).slice(0, 36);
  return (
    <Chart
      label={`Imagined answer for ${figure(many)} made-up people: ${rows.length} numbers, each with an error bar of the real width, ${errorWords(first)}.`}
      draw={
        first.query.kind === 'cdf'
          ? band(imaginedRise(policy, first, many), { what: 'rows up to it', along: first.query.column ?? '' })
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
