import { useState } from 'preact/hooks';
import { call, problemFrom } from '../api/client.ts';
import type { Policy, Problem, Role, Spending, Verified } from '../api/shapes.ts';
import { useEntries } from '../api/use-entries.ts';
import { Chart } from '../charts/chart.tsx';
import { timeline } from '../charts/timeline.ts';
import { formatMoment, formatNumber } from '../parts/figures.ts';
import { Meter } from '../parts/meter.tsx';
import { EmptyNotice, FaultNotice, Loaded, Notice } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';
import { linkTo } from '../router.ts';

export function LedgerPage({
  policy,
  spending,
  role,
}: {
  readonly policy: Policy;
  readonly spending: Spending;
  readonly role: Role;
}) {
  const path = `/v1/policies/${encodeURIComponent(policy.name)}/ledger`;
  const { asked: answer, again, entries, earlier } = useEntries(path);
  return (
    <Page
      title="Ledger"
      lead="Everything this population has paid for, each entry bound to the one before by a hash. What is spent stays spent."
    >
      <Panel title="Remaining">
        <Meter budget={spending.budget} what="Budget of this population" />
      </Panel>
      <Panel title="Timeline" aside={role !== 'analyst' && <Verify path={`${path}/verify`} />}>
        <Loaded answer={answer} height={300} again={again}>
          {() =>
            entries.length === 0 && !earlier ? (
              <EmptyNotice
                icon="ledger"
                title={role === 'analyst' ? 'You have released nothing yet' : 'Nothing was released yet'}
              >
                <p>
                  {role === 'auditor' ? (
                    'What is released will stand here.'
                  ) : (
                    <a href={linkTo(policy.name, 'ask')}>Ask the first question</a>
                  )}
                </p>
              </EmptyNotice>
            ) : (
              <>
                <Chart
                  label={`${entries.length} entries by who released them, when, and how much each uses; the table below lists them.`}
                  draw={timeline(entries)}
                />
                <DataTable
                  caption="Entries of the ledger"
                  tall
                  columns={[
                    { name: 'entry' },
                    { name: 'when (UTC)' },
                    { name: 'who' },
                    { name: 'epsilon', right: true },
                    { name: 'what' },
                    { name: 'state' },
                  ]}
                  rows={[...entries].reverse().map((e) => [
                    <a key="entry" href={linkTo(policy.name, 'receipts', String(e.sequence))}>
                      {e.sequence}
                    </a>,
                    formatMoment(e.at),
                    e.analyst,
                    e.epsilon === undefined ? '' : formatNumber(e.epsilon),
                    e.label,
                    e.settled ? <span class="badge good">told</span> : <span class="badge warn">booked</span>,
                  ])}
                />
                <p class="small soft">
                  Epsilon is what an entry uses of the budget by itself, ties included; together they may use less than their sum.
                </p>
                {earlier && (
                  <button type="button" class="button small" onClick={earlier}>
                    Show earlier entries
                  </button>
                )}
              </>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function Verify({ path }: { readonly path: string }) {
  const [found, setFound] = useState<Verified | Problem>();
  const verify = () =>
    call<Verified>(path).then(setFound, (error: unknown) => {
      setFound(problemFrom(error));
    });
  return (
    <div class="row">
      <button type="button" class="button small" onClick={verify}>
        Verify the chain
      </button>
      <span role="status">
        {found &&
          ('ok' in found ? (
            found.ok ? (
              <span class="badge good">whole: {found.entries} entries</span>
            ) : (
              <span class="badge bad">broken</span>
            )
          ) : null)}
      </span>
      {found && 'title' in found && <FaultNotice problem={found} />}
      {found && 'ok' in found && !found.ok && (
        <Notice kind="bad">The chain does not hold. Keep the ledger as evidence and stop releasing.</Notice>
      )}
    </div>
  );
}
