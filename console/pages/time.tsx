import type { Figure, Policy } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Chart } from '../charts/chart.tsx';
import { lines } from '../charts/lines.ts';
import { formatNumber } from '../parts/figures.ts';
import { EmptyNotice, Loaded } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';
import { linkTo } from '../router.ts';

interface Steps {
  readonly column: string;
  /** Spending limit of every step. */
  readonly each?: Figure;
  readonly steps: readonly {
    readonly part: string;
    readonly from?: number;
    readonly to?: number;
    readonly spent: Figure;
    readonly remaining: Figure;
  }[];
}

/** Leakage and budget over time, where the policy has steps. */
export function TimePage({ policy }: { readonly policy: Policy }) {
  const [answer, again] = useAnswer<Steps>(policy.steps && `/v1/policies/${encodeURIComponent(policy.name)}/time`);
  return (
    <Page
      title="Time"
      lead="A count a day is not one count: what is told about one step says something about those before and after it."
    >
      {policy.steps === undefined ? (
        <div class="panel">
          <EmptyNotice icon="time" title="This policy has no steps">
            <p>Steps come from a sequence that a policy declares, or from a public column that says when.</p>
          </EmptyNotice>
        </div>
      ) : (
        <Panel title={`Along ${policy.steps.column}`}>
          <Loaded answer={answer} height={420} again={again}>
            {(found) => <Along policy={policy} found={found} />}
          </Loaded>
        </Panel>
      )}
    </Page>
  );
}

/** Runs of steps with equal spending arrive as one; the chart draws this many of a run one by one. */
const mostDrawn = 400;

function Along({ policy, found: { steps, each } }: { readonly policy: Policy; readonly found: Steps }) {
  const column = policy.columns.find((c) => c.name === policy.steps!.column);
  const last = column?.bounds?.[1] ?? Number.POSITIVE_INFINITY;
  const points = steps
    .flatMap(({ from, to, spent }) =>
      from === undefined || typeof spent !== 'number'
        ? []
        : Array.from(
            { length: Math.max(0, Math.min(mostDrawn, Math.min(to ?? from, last, from + mostDrawn) - from + 1)) },
            (_, k) => ({ x: from + k, y: spent }),
          ),
    )
    .slice(-mostDrawn);
  if (steps.length === 0 || points.length === 0)
    return (
      <EmptyNotice icon="time" title="Nothing was released about one step yet">
        <p>
          <a href={linkTo(policy.name, 'ask')}>Ask about one</a>, with a condition on {policy.steps!.column}: it costs that step,
          and the ties carry over what they carry.
        </p>
      </EmptyNotice>
    );
  const limit =
    typeof each === 'number'
      ? { at: each, words: 'allowed for each step' }
      : policy.budget && { at: policy.budget.epsilon, words: 'the budget' };
  return (
    <div class="stack">
      <Chart
        label={`What all releases together tell about each of ${points.length} steps along ${policy.steps!.column}; the table below has the numbers.`}
        draw={lines([{ name: 'told', points }], {
          along: policy.steps!.column,
          what: 'told about the step, in epsilon',
          ...(limit && { limit }),
        })}
      >
        <figcaption>
          What releases about a step tell of it, and what releases about other steps tell of it along the declared sequence. Where
          the line reaches the limit nothing more can be released about that step.
        </figcaption>
      </Chart>
      <DataTable
        caption={`Steps along ${policy.steps!.column}`}
        tall
        columns={[{ name: policy.steps!.column }, { name: 'told, ties included', right: true }, { name: 'left', right: true }]}
        rows={steps.map((s) => [s.part, formatNumber(s.spent), formatNumber(s.remaining)])}
      />
    </div>
  );
}
