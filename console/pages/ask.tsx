import { useRef, useState } from 'preact/hooks';
import { problemFrom } from '../api/client.ts';
import type { Amounts, Answer, Plan, Policy, Problem, QuestionRequest } from '../api/shapes.ts';
import { AnswerView } from '../ask/answer.tsx';
import { Builder } from '../ask/builder.tsx';
import { codeFor } from '../ask/code.ts';
import { PlanPreview } from '../ask/plan-preview.tsx';
import { draftLabel, draftQuestion, firstDraft } from '../ask/question.ts';
import { cancelJob, type JobStatus, releaseAsJob } from '../ask/release-job.ts';
import { usePlan } from '../ask/use-plan.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Copyable } from '../parts/copy.tsx';
import { Segments, Slider, Written } from '../parts/field.tsx';
import { formatNumber } from '../parts/figures.ts';
import { FaultNotice, Notice, Placeholder } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';

/** Parts of the budget that the slider stops at. */
const parts = [1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100];
const epsilonOf = (total: number, part: number): string => String(Number(((total * part) / 100).toPrecision(4)));

export function AskPage({
  policy,
  budget,
  onSpent,
}: {
  readonly policy: Policy;
  readonly budget: Amounts;
  readonly onSpent: () => void;
}) {
  const [draft, setDraft] = useState(() => firstDraft(policy));
  const [part, setPart] = useState(parts.indexOf(10));
  const [asking, setAsking] = useState(false);
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState<Problem>();
  const [job, setJob] = useState<JobStatus>();
  const [working, setWorking] = useState(false);
  const [turn, setTurn] = useState(0);
  const answered = useRef<HTMLElement>(null);
  const begun = useRef(false);
  const epsilon = epsilonOf(budget.total, parts[part]!);
  const found = draftQuestion(policy, draft);
  const label = draftLabel(draft);
  const request: QuestionRequest | undefined =
    'question' in found ? { question: found.question, epsilon, ...(label !== undefined && { label }) } : undefined;
  const planned = usePlan(policy.name, request, turn);
  const allowed = planned.plan?.fits === true && planned.plan.refusal === undefined;
  const ready = allowed && !planned.waiting && !working;
  const onRecord = ready && planned.plan?.recorded !== undefined;

  const release = async () => {
    // The dialog closes a moment after confirmation; a second click has no effect.
    if (begun.current) return;
    begun.current = true;
    setAsking(false);
    setWorking(true);
    setProblem(undefined);
    try {
      const released = await releaseAsJob(policy.name, request!, setJob);
      setAnswer(released);
      if (released) setTimeout(() => answered.current?.focus(), 0);
    } catch (error) {
      setProblem(problemFrom(error));
    }
    begun.current = false;
    setWorking(false);
    setJob(undefined);
    setTurn((t) => t + 1);
    onSpent();
  };

  return (
    <Page title="Ask" lead="Put a question together. You see what it costs and how wrong it will be before anything is spent.">
      <div class="columns narrow-first">
        <Panel
          title="Question"
          aside={
            <Segments
              label="How to ask"
              value={draft.mode}
              options={[
                { value: 'builder', label: 'Builder' },
                { value: 'sql', label: 'SQL' },
                { value: 'json', label: 'JSON' },
              ]}
              onChoose={(mode) =>
                // The JSON text starts with the request that was built so far.
                setDraft({
                  ...draft,
                  mode,
                  ...(mode === 'json' && 'question' in found && { json: JSON.stringify(found.question, undefined, 2) }),
                })
              }
            />
          }
        >
          {draft.mode === 'builder' ? (
            <Builder policy={policy} draft={draft} onDraft={setDraft} />
          ) : draft.mode === 'json' ? (
            <Written
              label="Question"
              value={draft.json}
              onWrite={(json) => setDraft({ ...draft, json })}
              hint="Everything that can be asked, in the form that library and service take: queries, survey, workload, synth, pattern, kmeans, classify, network."
            />
          ) : (
            <Written
              label="Query"
              value={draft.sql}
              onWrite={(sql) => setDraft({ ...draft, sql })}
              hint={`Read and planned, never run as it stands. Columns: ${policy.columns.map((c) => c.name).join(', ')}.`}
            />
          )}
          <Slider
            label="How much of the budget to use"
            value={part}
            min={0}
            max={parts.length - 1}
            step={1}
            words={`epsilon ${epsilon} (${parts[part]} %)`}
            onSlide={setPart}
          />
          <div class="row">
            <button
              type="button"
              class="button main-action"
              disabled={!ready}
              onClick={() => (onRecord ? void release() : setAsking(true))}
            >
              {working ? 'Releasing …' : onRecord ? 'Show the recorded answer' : 'Release …'}
            </button>
            <span class="hint">
              {onRecord ? 'It is on record: nothing is spent.' : 'You are asked once more before it is spent.'}
            </span>
          </div>
          {working && job && <Progress job={job} />}
          {problem && <FaultNotice problem={problem} />}
        </Panel>
        <Panel title="Before you spend" aside={<span class="badge">{planned.waiting ? 'planning' : 'free'}</span>}>
          <p class="unseen" role="status">
            {planned.plan && !planned.waiting && inWords(planned.plan)}
          </p>
          <div class={planned.waiting ? 'waiting' : ''} aria-busy={planned.waiting}>
            {'missing' in found && <Notice>{found.missing}</Notice>}
            {planned.problem && <FaultNotice problem={planned.problem} />}
            {planned.plan && 'question' in found && <PlanPreview policy={policy} plan={planned.plan} />}
            {!planned.plan && planned.waiting && <Placeholder height={420} />}
          </div>
        </Panel>
      </div>
      {answer && (
        <section class="panel" ref={answered} tabIndex={-1} aria-label="Answer">
          <h2>Answer: {answer.receipt.label}</h2>
          <AnswerView policy={policy} answer={answer} />
        </section>
      )}
      {request && <AsCode policy={policy.name} asking={request} />}
      <Confirm
        open={asking}
        title="Release this answer?"
        yes={`Spend epsilon ${formatNumber(planned.plan?.epsilon)}`}
        onYes={release}
        onNo={() => setAsking(false)}
      >
        {planned.plan && (
          <>
            <p>
              It uses epsilon <strong>{formatNumber(planned.plan.epsilon)}</strong> of the budget of this population. Afterwards{' '}
              <strong>{formatNumber(Math.max(0, planned.plan.budget.remaining - planned.plan.epsilon))}</strong> is left for
              everybody.
            </p>
            <p class="soft">What is spent cannot be had back. The same question again is answered from the record, free.</p>
          </>
        )}
      </Confirm>
    </Page>
  );
}

/** The plan in a sentence, read aloud when it changes. */
function inWords({ epsilon, fits, refusal, recorded, errors: [first] }: Plan): string {
  const error = first && !first.perRow ? `, each number off by up to ${formatNumber(first.halfWidth)}` : '';
  if (recorded) return `The answer is on record and free${error}.`;
  return `It would cost epsilon ${formatNumber(epsilon)}${error}.${fits ? (refusal === undefined ? '' : ' It would be refused.') : ' The budget does not hold it.'}`;
}

function Progress({ job: { job, progress } }: { readonly job: JobStatus }) {
  return (
    <div class="row spread" role="status">
      <span class="row small">
        <progress max={progress?.of ?? 1} {...(progress && progress.done > 0 && { value: progress.done })} aria-label="Release" />
        {progress?.what ?? 'waiting for a turn'}
      </span>
      <button type="button" class="button small" onClick={() => void cancelJob(job)}>
        Stop
      </button>
    </div>
  );
}

function AsCode({ policy, asking }: { readonly policy: string; readonly asking: QuestionRequest }) {
  const codes = codeFor(policy, asking, location.origin);
  const [name, setName] = useState(codes[0]!.name);
  return (
    <Panel
      title="The same as code"
      aside={
        <Segments
          label="Language"
          value={name}
          options={codes.map((c) => ({ value: c.name, label: c.name }))}
          onChoose={setName}
        />
      }
    >
      <Copyable label={`${name} code`} text={codes.find((c) => c.name === name)!.text} />
    </Panel>
  );
}
