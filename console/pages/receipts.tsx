import type { Answer, Policy, Receipt, Role } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useEntries } from '../api/use-entries.ts';
import { AnswerView } from '../ask/answer.tsx';
import { formatMoment, formatNumber } from '../parts/figures.ts';
import { EmptyNotice, Loaded } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';
import { linkTo } from '../router.ts';

export function ReceiptsPage({ policy, entry, role }: { readonly policy: Policy; readonly entry: string; readonly role: Role }) {
  const path = `/v1/policies/${encodeURIComponent(policy.name)}`;
  const { asked: answer, again, entries, earlier } = useEntries(`${path}/ledger`);
  return (
    <Page title="Receipts" lead="A receipt says what was promised with an answer and what it rests on. It is safe to publish.">
      {entry !== '' && <One key={entry} policy={policy} path={path} entry={entry} role={role} />}
      <Panel title="All receipts">
        <Loaded answer={answer} height={240} again={again}>
          {() =>
            entries.length === 0 && !earlier ? (
              <EmptyNotice icon="receipts" title="No receipts yet">
                <p>Every release leaves one here.</p>
              </EmptyNotice>
            ) : (
              <>
                <DataTable
                  caption="All receipts"
                  tall
                  columns={[{ name: 'entry' }, { name: 'when (UTC)' }, { name: 'who' }, { name: 'what' }]}
                  rows={[...entries].reverse().map((e) => [
                    <a
                      key="open"
                      href={linkTo(policy.name, 'receipts', String(e.sequence))}
                      {...(String(e.sequence) === entry && { 'aria-current': 'true' as const })}
                    >
                      {e.sequence}
                    </a>,
                    formatMoment(e.at),
                    e.analyst,
                    e.label,
                  ])}
                />
                {earlier && (
                  <button type="button" class="button small" onClick={earlier}>
                    Show earlier receipts
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

function One({
  policy,
  path,
  entry,
  role,
}: {
  readonly policy: Policy;
  readonly path: string;
  readonly entry: string;
  readonly role: Role;
}) {
  const number = encodeURIComponent(entry);
  const [receipt, again] = useAnswer<Receipt>(`${path}/receipts/${number}`);
  const [answer, answerAgain] = useAnswer<Answer>(role === 'auditor' ? undefined : `${path}/answers/${number}`);
  return (
    <>
      <Panel
        title={`Receipt ${entry}`}
        aside={
          <span class="row">
            <a class="button small" href={`${path}/receipts/${number}`} download={`receipt-${entry}.json`}>
              Save as JSON
            </a>
            {role !== 'auditor' && (
              <a class="button small" href={`${path}/reports/${number}`} target="_blank" rel="noreferrer">
                Open the report
              </a>
            )}
          </span>
        }
      >
        <Loaded answer={receipt} height={320} again={again}>
          {(r) => (
            <div class="stack">
              <dl class="figures">
                <div class="figure">
                  <dt>Epsilon</dt>
                  <dd>{formatNumber(r.epsilon)}</dd>
                </div>
                <div class="figure">
                  <dt>Noise</dt>
                  <dd>{r.mechanism}</dd>
                </div>
                <div class="figure">
                  <dt>Made</dt>
                  <dd>
                    <small>{formatMoment(r.at)} UTC</small>
                  </dd>
                </div>
                <div class="figure">
                  <dt>Guarantee</dt>
                  <dd>
                    <span class={r.guarantee.certified ? 'badge good' : 'badge warn'}>
                      {r.guarantee.certified ? 'certified' : 'as published'}
                    </span>
                  </dd>
                </div>
              </dl>
              <h3>{r.label}</h3>
              <ul class="plain-list">
                {r.guarantee.sentences.map((s) => (
                  <li key={s}>{s}</li>
                ))}
              </ul>
              {r.guarantee.assumptions && r.guarantee.assumptions.length > 0 && (
                <details>
                  <summary>What it rests on</summary>
                  <ul class="plain-list small">
                    {r.guarantee.assumptions.map((s) => (
                      <li key={s}>{s}</li>
                    ))}
                  </ul>
                </details>
              )}
              <p class="small soft">
                Hash in the ledger: <code>{r.ledger.hash}</code>
              </p>
            </div>
          )}
        </Loaded>
      </Panel>
      {role !== 'auditor' && (
        <Panel title="Answer">
          <Loaded answer={answer} height={320} again={answerAgain}>
            {(a) => <AnswerView policy={policy} answer={a} />}
          </Loaded>
        </Panel>
      )}
    </>
  );
}
