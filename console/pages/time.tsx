import type { Figure, Policy } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Chart } from '../charts/chart.tsx';
import { lines, seriesColours } from '../charts/lines.ts';
import { figure } from '../parts/figures.ts';
import { Key } from '../parts/key.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { Table } from '../parts/table.tsx';
import { Empty, Loaded } from '../parts/told.tsx';
import { linkTo } from '../router.ts';

interface Steps {
  readonly column?: string;
  readonly each?: Figure;
  readonly steps: readonly {
    readonly step: number;
    readonly spent: Figure;
    readonly remaining?: Figure;
    readonly leakage?: Figure;
  }[];
}

/** Leakage and budget along time, where the policy has steps. */
export function Time({ policy }: { readonly policy: Policy }) {
  const [asked, again] = useAnswer<Steps>(policy.steps && `/v1/policies/${encodeURIComponent(policy.name)}/time`);
  return (
    <Page
      title="Time"
      lead="A count a day is not one count: what is told about one step says something about those before and after it."
    >
      {policy.steps === undefined ? (
        <div class="panel">
          <Empty icon="time" title="This policy has no steps">
            <p>Steps come from a sequence that a policy declares, or from a public column that says when.</p>
          </Empty>
        </div>
      ) : (
        <Panel title={`Along ${policy.steps.column}`}>
          <Loaded asked={asked} height={420} again={again}>
            {(found) => <Along policy={policy} found={found} />}
          </Loaded>
        </Panel>
      )}
    </Page>
  );
}

function Along({ policy, found: { steps, each } }: { readonly policy: Policy; readonly found: Steps }) {
  if (steps.length === 0)
    return (
      <Empty icon="time" title="Nothing was released about any step yet">
        <p>
          <a href={linkTo(policy.name, 'ask')}>Ask about one</a>, with a condition on {policy.steps!.column}.
        </p>
      </Empty>
    );
  const of = (name: string, value: (s: Steps['steps'][number]) => Figure | undefined) => ({
    name,
    points: steps.flatMap((s) => {
      const y = value(s);
      return typeof y === 'number' ? [{ x: s.step, y }] : [];
    }),
  });
  const series = [
    of('what releases about the step itself spent', (s) => s.spent),
    of('what all releases tell about it', (s) => s.leakage),
  ].filter((s) => s.points.length > 0);
  return (
    <div class="stack">
      <Chart
        label={`Budget and leakage of ${steps.length} steps along ${policy.steps!.column}; the table below has the numbers.`}
        draw={lines(series, {
          along: policy.steps!.column,
          what: 'epsilon',
          ...(typeof each === 'number' && { limit: { at: each, words: 'allowed for each' } }),
        })}
      >
        <Key items={series.map((s, k) => ({ words: s.name, colour: seriesColours[k]! }))} />
      </Chart>
      <Table
        caption={`Steps along ${policy.steps!.column}`}
        tall
        columns={[
          { name: policy.steps!.column, right: true },
          { name: 'spent', right: true },
          { name: 'left', right: true },
          { name: 'leakage', right: true },
        ]}
        rows={steps.map((s) => [
          s.step,
          figure(s.spent),
          s.remaining === undefined ? '' : figure(s.remaining),
          s.leakage === undefined ? '' : figure(s.leakage),
        ])}
      />
    </div>
  );
}
