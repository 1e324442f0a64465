import { useRef, useState } from 'preact/hooks';
import { call, problemFrom } from '../api/client.ts';
import type { PolicyName, Problem } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Copyable } from '../parts/copy.tsx';
import { Text } from '../parts/field.tsx';
import { FaultNotice, Notice } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';
import { linkTo } from '../router.ts';
import { type InterviewAnswer, nameFor, type PolicyDraft } from '../start/draft.ts';
import { Drop } from '../start/drop.tsx';
import { InterviewField } from '../start/interview.tsx';

interface Listed {
  readonly drafts: readonly { readonly id: string; readonly file: string; readonly made: string }[];
}

/** From a file to a served policy: inspect it, answer what only the data steward knows, confirm. */
export function StartPage({ onServed }: { readonly onServed: () => void }) {
  const [draft, setDraft] = useState<PolicyDraft>();
  const [problem, setProblem] = useState<Problem>();
  const [working, setWorking] = useState(false);
  const [listed] = useAnswer<Listed>('/v1/drafts');
  const attempt = async (work: () => Promise<void>) => {
    setWorking(true);
    setProblem(undefined);
    await work().catch((error: unknown) => setProblem(problemFrom(error)));
    setWorking(false);
  };
  const send = (file: File) =>
    attempt(async () => {
      const name = file.name.replace(/[^\w.-]/g, '_').replace(/^[^A-Za-z0-9]+/, '') || 'data';
      setDraft(
        await call<PolicyDraft>('/v1/drafts', {
          method: 'POST',
          body: new Blob([file]),
          headers: { 'x-file-name': name, 'content-type': 'application/octet-stream' },
        }),
      );
    });
  const step = draft === undefined ? 0 : draft.undecided ? 1 : 2;
  return (
    <Page
      title="Start"
      lead="Drop a file. Fugu looks at its columns, asks what only you know, and drafts a policy. Nothing is released before you confirm it."
    >
      <ol class="steps" aria-label="Steps">
        {['The file', 'What only you know', 'Confirm'].map((words, k) => (
          <li key={words} {...(k === step && { 'aria-current': 'step' as const })}>
            {words}
          </li>
        ))}
      </ol>
      {problem && <FaultNotice problem={problem} />}
      {!draft && <Drop working={working} onFile={send} />}
      {!draft && listed.state === 'done' && listed.value.drafts.length > 0 && (
        <Panel title="Begun before">
          <ul class="plain-list">
            {listed.value.drafts.map((d) => (
              <li key={d.id}>
                <button
                  type="button"
                  class="button small"
                  onClick={() => attempt(async () => setDraft(await call<PolicyDraft>(`/v1/drafts/${d.id}`)))}
                >
                  Go on with {d.file}
                </button>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {draft && <Interview draft={draft} working={working} attempt={attempt} onDraft={setDraft} onServed={onServed} />}
    </Page>
  );
}

const patience = 400;

function Interview({
  draft,
  working,
  attempt,
  onDraft,
  onServed,
}: {
  readonly draft: PolicyDraft;
  readonly working: boolean;
  readonly attempt: (work: () => Promise<void>) => Promise<void>;
  readonly onDraft: (draft: PolicyDraft | undefined) => void;
  readonly onServed: () => void;
}) {
  const [name, setName] = useState(nameFor(draft.file));
  const [reason, setReason] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pending = useRef<Record<string, InterviewAnswer>>({});
  /** Shown at once; sent after a pause in typing. */
  const say = (id: string, answer: InterviewAnswer) => {
    pending.current = { ...pending.current, [id]: answer };
    onDraft({ ...draft, questions: draft.questions.map((q) => (q.id === id ? { ...q, answer: answer } : q)) });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const body = pending.current;
      pending.current = {};
      void attempt(async () => {
        const next = await call<PolicyDraft>(`/v1/drafts/${draft.id}/answers`, { method: 'POST', body });
        // Answers given meanwhile are kept.
        onDraft({
          ...next,
          questions: next.questions.map((q) => (q.id in pending.current ? { ...q, answer: pending.current[q.id]! } : q)),
        });
      });
    }, patience);
  };
  const confirm = () =>
    attempt(async () => {
      const served = await call<PolicyName>(`/v1/drafts/${draft.id}/confirm`, {
        method: 'POST',
        body: { name, ...(draft.hasBudget && { newBudget: reason }) },
      });
      onServed();
      location.hash = linkTo(served.name, 'ask');
    });
  return (
    <div class="columns">
      <div class="stack">
        {draft.questions.map((q) => (
          <InterviewField key={q.id} question={q} onAnswer={(answer) => say(q.id, answer)} />
        ))}
      </div>
      <div class="stack">
        <Panel title="Confirm" aside={<span class="badge">{working ? 'reading' : `${draft.columns.length} columns`}</span>}>
          <p>
            These domains and bounds were read from <strong>{draft.file}</strong>. Confirm only what everybody may know: they
            decide what can be asked, and they are published with every answer.
          </p>
          <DataTable
            caption="Columns as they were read"
            tall
            columns={[{ name: 'column' }, { name: 'type' }, { name: 'domain' }]}
            rows={draft.columns.map((c) => [c.name, c.type, domainOf(c)])}
          />
          {draft.doubts.map((words) => (
            <Notice key={words} kind="warn">
              {words}
            </Notice>
          ))}
          {draft.leftOut.length > 0 && (
            <details>
              <summary>Left out: {draft.leftOut.length}</summary>
              <ul class="plain-list small">
                {draft.leftOut.map((l) => (
                  <li key={l.name}>
                    <strong>{l.name}</strong>: {l.why}
                  </li>
                ))}
              </ul>
            </details>
          )}
          <details>
            <summary>The policy, as it will be written</summary>
            <Copyable label="Policy" text={draft.policy} />
          </details>
          <Text label="Name of the policy" hint="Letters, digits, - and _." value={name} onWrite={setName} />
          {draft.hasBudget && (
            <Text
              label="Reason for a second budget"
              hint="Written into the ledger for good. What is promised about both budgets adds up."
              value={reason}
              onWrite={setReason}
            />
          )}
          {draft.undecided && <Notice kind="warn">Say first whether records know each other: nothing is released before.</Notice>}
          <div class="row">
            <button
              type="button"
              class="button main-action"
              disabled={
                working || draft.undecided || (draft.hasBudget && reason.trim() === '') || !/^[A-Za-z0-9][\w-]{0,59}$/.test(name)
              }
              onClick={confirm}
            >
              Confirm and serve
            </button>
            <button
              type="button"
              class="button"
              disabled={working}
              onClick={() =>
                attempt(async () => {
                  await call(`/v1/drafts/${draft.id}`, { method: 'DELETE' });
                  onDraft(undefined);
                })
              }
            >
              Delete
            </button>
          </div>
        </Panel>
      </div>
    </div>
  );
}

/** Bounds or values, whichever a column has. */
function domainOf(column: PolicyDraft['columns'][number]): string {
  const { values, bounds } = column as { values?: readonly unknown[]; bounds?: readonly unknown[] };
  if (Array.isArray(bounds)) return `${bounds[0]} to ${bounds[1]}`;
  if (!Array.isArray(values)) return '';
  const names = values.map((v) => (typeof v === 'object' && v !== null && 'value' in v ? String(v.value) : String(v)));
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ');
}
