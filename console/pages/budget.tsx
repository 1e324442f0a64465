import { Fragment } from 'preact';
import type { Policy, Spending } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { BeliefPicker, type PickedPoint } from '../budget/belief-picker.tsx';
import { formatNumber } from '../parts/figures.ts';
import { Meter } from '../parts/meter.tsx';
import { EmptyNotice, Loaded } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';

interface Points {
  readonly column?: string;
  readonly points: readonly (Omit<PickedPoint, 'error'> & { readonly error: number | 'inf' | null })[];
}

export function BudgetPage({ policy, spending }: { readonly policy: Policy; readonly spending: Spending }) {
  const [answer, again] = useAnswer<Points>(`/v1/policies/${encodeURIComponent(policy.name)}/belief`);
  return (
    <Page
      title="Budget"
      lead="A budget is a limit on belief: how sure an attacker who knows the ties may become about one person, whatever is asked."
    >
      <Panel title="Belief against error" aside={<span class="badge">what if: nothing is changed or spent</span>}>
        <Loaded answer={answer} height={470} again={again}>
          {({ points, column }) => {
            const usable = points.filter((p): p is PickedPoint => typeof p.error === 'number' && p.error > 0);
            return usable.length < 2 || column === undefined ? (
              <EmptyNotice icon="budget" title="Nothing can be counted under this policy">
                <p>The picture is about counts by a column, and there is none.</p>
              </EmptyNotice>
            ) : (
              <BeliefPicker points={usable} epsilon={spending.budget.total} column={column} />
            );
          }}
        </Loaded>
      </Panel>
      <Panel title="Spent so far">
        <Meter budget={spending.budget} what="Budget of this population" />
        <dl class="figures">
          <div class="figure">
            <dt>Left</dt>
            <dd>{formatNumber(spending.budget.remaining)}</dd>
          </div>
          <div class="figure">
            <dt>Odds moved by at most</dt>
            <dd>{typeof spending.gained === 'number' ? `× ${formatNumber(Math.exp(spending.gained))}` : 'unlimited'}</dd>
          </div>
          {spending.budget.delta > 0 && (
            <div class="figure">
              <dt>Delta</dt>
              <dd>{formatNumber(spending.budget.delta)}</dd>
            </div>
          )}
        </dl>
        {spending.quotas && spending.quotas.length > 0 ? (
          <DataTable
            caption="Spent by analyst"
            columns={[
              { name: 'analyst' },
              { name: 'spent', right: true },
              { name: 'quota', right: true },
              { name: 'left', right: true },
            ]}
            rows={spending.quotas.map((q) => [
              q.analyst,
              formatNumber(q.spent),
              q.total === undefined ? 'none' : formatNumber(q.total),
              formatNumber(q.remaining),
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
