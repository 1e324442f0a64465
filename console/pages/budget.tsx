import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { Policy, Spending } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { type BeliefPoint, beliefAgainstError, beliefMargins } from '../charts/belief.ts';
import { Chart } from '../charts/chart.tsx';
import { Choice, Slider } from '../parts/field.tsx';
import { figure, percent } from '../parts/figures.ts';
import { Meter } from '../parts/meter.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { Table } from '../parts/table.tsx';
import { Empty, Loaded } from '../parts/told.tsx';

interface Points {
  readonly points: readonly {
    readonly epsilon: number;
    readonly posterior: Readonly<Record<string, number>>;
    readonly error: number;
  }[];
}

export function Budget({ policy, spending }: { readonly policy: Policy; readonly spending: Spending }) {
  const [asked, again] = useAnswer<Points>(`/v1/policies/${encodeURIComponent(policy.name)}/belief`);
  return (
    <Page
      title="Budget"
      lead="A budget is a limit on belief: how sure an attacker who knows the ties may become about one person, whatever is asked."
    >
      <Panel title="Belief against error" aside={<span class="badge">what if: nothing is changed or spent</span>}>
        <Loaded asked={asked} height={470} again={again}>
          {({ points }) =>
            points.length === 0 ? (
              <Empty title="No points to draw" />
            ) : (
              <BeliefPicker points={points} epsilon={spending.budget.total} />
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Spent so far">
        <Meter budget={spending.budget} what="Budget of this population" />
        <dl class="figures">
          <div class="figure">
            <dt>Left</dt>
            <dd>{figure(spending.budget.remaining)}</dd>
          </div>
          <div class="figure">
            <dt>Odds moved by at most</dt>
            <dd>{typeof spending.gained === 'number' ? `× ${figure(Math.exp(spending.gained))}` : 'unlimited'}</dd>
          </div>
          {spending.budget.delta > 0 && (
            <div class="figure">
              <dt>Delta</dt>
              <dd>{figure(spending.budget.delta)}</dd>
            </div>
          )}
        </dl>
        {spending.quotas && spending.quotas.length > 0 ? (
          <Table
            caption="Spent by analyst"
            columns={[
              { name: 'analyst' },
              { name: 'spent', right: true },
              { name: 'quota', right: true },
              { name: 'left', right: true },
            ]}
            rows={spending.quotas.map((q) => [
              q.analyst,
              figure(q.spent),
              q.total === undefined ? 'none' : figure(q.total),
              figure(q.remaining),
            ])}
          />
        ) : (
          <p class="small soft">This policy gives no analyst a quota: everybody spends from one budget.</p>
        )}
      </Panel>
      <Panel title="What it promises">
        <Promised sentences={policy.sentences ?? []} />
      </Panel>
    </Page>
  );
}

function Promised({ sentences }: { readonly sentences: NonNullable<Policy['sentences']> }) {
  const topics = [...new Set(sentences.map((s) => s.topic))];
  return (
    <dl class="promise">
      {topics.map((topic) => (
        <Fragment key={topic}>
          <dt>{topic}</dt>
          <dd>
            {sentences
              .filter((s) => s.topic === topic)
              .map(({ text }) => (
                <p key={text}>{text}</p>
              ))}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function BeliefPicker({ points, epsilon }: { readonly points: Points['points']; readonly epsilon: number }) {
  const priors = Object.keys(points[0]!.posterior);
  const [prior, setPrior] = useState(priors.includes('0.1') ? '0.1' : priors[0]!);
  const nearest = (wanted: number) =>
    points.reduce(
      (best, p, k) => (Math.abs(Math.log(p.epsilon / wanted)) < Math.abs(Math.log(points[best]!.epsilon / wanted)) ? k : best),
      0,
    );
  const [at, setAt] = useState(() => nearest(epsilon));
  const drawn = points
    .map((p): BeliefPoint => ({ epsilon: p.epsilon, belief: p.posterior[prior]!, error: p.error }))
    .filter((p) => p.error > 0);
  const chosen = drawn[Math.min(at, drawn.length - 1)]!;
  const ends = [Math.log(Math.min(...drawn.map((p) => p.error))), Math.log(Math.max(...drawn.map((p) => p.error)))] as const;
  const point = (x: number, width: number) => {
    const inside = (x * width - beliefMargins.left) / (width - beliefMargins.left - beliefMargins.right);
    const error = ends[0] + Math.min(1, Math.max(0, inside)) * (ends[1] - ends[0]);
    setAt(
      drawn.reduce(
        (best, p, k) => (Math.abs(Math.log(p.error) - error) < Math.abs(Math.log(drawn[best]!.error) - error) ? k : best),
        0,
      ),
    );
  };
  const own = drawn[nearest(epsilon)];
  return (
    <div class="stack">
      <Chart
        label={`Belief against error. With epsilon ${figure(chosen.epsilon)} a belief of ${percent(Number(prior))} may become ${percent(chosen.belief)}, and a count is off by up to ${figure(chosen.error)}.`}
        draw={beliefAgainstError(drawn, chosen, { prior: Number(prior), own })}
        onPoint={point}
      >
        <figcaption>Drag the point, or use the slider below. The open point is this policy.</figcaption>
      </Chart>
      <div class="pair">
        <Slider
          label="Budget"
          value={at}
          min={0}
          max={drawn.length - 1}
          step={1}
          words={`epsilon ${figure(chosen.epsilon)}`}
          onSlide={setAt}
        />
        <Choice
          label="What the attacker believed before"
          value={prior}
          options={priors.map((p) => ({ value: p, label: percent(Number(p)) }))}
          onChoose={setPrior}
        />
      </div>
      <dl class="figures" aria-live="polite">
        <div class="figure">
          <dt>Epsilon</dt>
          <dd>{figure(chosen.epsilon)}</dd>
        </div>
        <div class="figure">
          <dt>Belief after, at most</dt>
          <dd>{percent(chosen.belief)}</dd>
        </div>
        <div class="figure">
          <dt>A count is off by</dt>
          <dd>± {figure(chosen.error)}</dd>
        </div>
        <div class="figure">
          <dt>Odds move by at most</dt>
          <dd>× {figure(Math.exp(chosen.epsilon))}</dd>
        </div>
      </dl>
      <details>
        <summary>The points as a table</summary>
        <Table
          caption="Belief against error, point by point"
          tall
          columns={[
            { name: 'epsilon', right: true },
            { name: 'belief after', right: true },
            { name: 'error of a count', right: true },
          ]}
          rows={drawn.map((p) => [figure(p.epsilon), percent(p.belief), `± ${figure(p.error)}`])}
        />
      </details>
    </div>
  );
}
