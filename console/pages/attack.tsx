import { useState } from 'preact/hooks';
import { call, problemFrom } from '../api/client.ts';
import type { Entry, Policy, Problem } from '../api/shapes.ts';
import { useEntries } from '../api/use-entries.ts';
import { labelOfCode } from '../ask/answer.tsx';
import { beliefs } from '../charts/beliefs.ts';
import { Chart } from '../charts/chart.tsx';
import { gains } from '../charts/gains.ts';
import { Choice } from '../parts/field.tsx';
import { formatNumber, formatPercent } from '../parts/figures.ts';
import { EmptyNotice, FaultNotice, Loaded, Notice, Placeholder } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';
import { linkTo } from '../router.ts';

interface Believer {
  readonly ties: boolean;
  readonly knows: string;
}
interface Attacked {
  readonly column: string;
  readonly values: readonly string[];
  readonly label: string;
  readonly promised: { readonly epsilon: number };
  readonly records: number;
  readonly attacked: number;
  readonly attackers: readonly (Believer & {
    readonly name: string;
    readonly median: number;
    readonly most: number;
    readonly beyond: number;
  })[];
  readonly exposed: readonly {
    readonly name: string;
    readonly actual: string;
    readonly ties: number;
    readonly beliefs: readonly (Believer & {
      readonly prior: readonly number[];
      readonly posterior: readonly number[];
      readonly gain: number;
    })[];
  }[];
  readonly notes: readonly string[];
}

/** Simulates an attacker on a release: the belief before and after. */
export function AttackPage({ policy }: { readonly policy: Policy }) {
  const path = `/v1/policies/${encodeURIComponent(policy.name)}`;
  const { asked: answer, again, entries } = useEntries(`${path}/ledger`, 1000);
  return (
    <Page
      title="Attack"
      lead="What would somebody believe who saw a release, with and without knowing the ties? It reads the rows, so it is for stewards only and never for publication."
    >
      <Panel title="Which release" aside={<span class="badge warn">as private as the rows</span>}>
        <Loaded answer={answer} height={140} again={again}>
          {() => {
            const answeredEntries = entries.filter((e) => e.settled);
            return answeredEntries.length === 0 ? (
              <EmptyNotice icon="attack" title="Nothing to attack yet">
                <p>
                  <a href={linkTo(policy.name, 'ask')}>Release a histogram</a> first.
                </p>
              </EmptyNotice>
            ) : (
              <Played policy={policy} path={path} entries={answeredEntries} />
            );
          }}
        </Loaded>
      </Panel>
    </Page>
  );
}

function Played({
  policy,
  path,
  entries,
}: {
  readonly policy: Policy;
  readonly path: string;
  readonly entries: readonly Entry[];
}) {
  const newest = [...entries].reverse();
  const [entry, setEntry] = useState(String(newest[0]!.sequence));
  const [column, setColumn] = useState('');
  const [found, setFound] = useState<Attacked>();
  const [problem, setProblem] = useState<Problem>();
  const [working, setWorking] = useState(false);
  const play = async () => {
    setWorking(true);
    setProblem(undefined);
    setFound(undefined);
    await call<Attacked>(`${path}/attack`, {
      method: 'POST',
      body: { entry: Number(entry), ...(column !== '' && { column }) },
    }).then(setFound, (error: unknown) => setProblem(problemFrom(error)));
    setWorking(false);
  };
  return (
    <div class="stack">
      <div class="pair">
        <Choice
          label="Release"
          hint="A histogram, or a count by one column."
          value={entry}
          options={newest.map((e) => ({ value: String(e.sequence), label: `${e.sequence}: ${e.label}` }))}
          onChoose={setEntry}
        />
        <Choice
          label="Column"
          hint="Where a release has several tables."
          value={column}
          options={[
            { value: '', label: 'the tied one, or the first' },
            ...policy.columns.filter((c) => c.type === 'category').map((c) => ({ value: c.name, label: c.name })),
          ]}
          onChoose={setColumn}
        />
      </div>
      <div class="row">
        <button type="button" class="button main-action" disabled={working} onClick={play}>
          {working ? 'Attacking …' : 'Play the attacker'}
        </button>
        <span class="hint">Spends nothing; the result stays on this page.</span>
      </div>
      {problem && <FaultNotice problem={problem} />}
      {working && <Placeholder height={360} />}
      {found && <Outcome policy={policy} found={found} />}
    </div>
  );
}

function Outcome({ policy, found }: { readonly policy: Policy; readonly found: Attacked }) {
  const words = (code: string) => labelOfCode(policy, found.column, code);
  const promised = found.promised.epsilon;
  const beyond = Math.max(0, ...found.attackers.map((a) => a.beyond));
  return (
    <div class="stack" aria-live="polite">
      <Notice kind={beyond > 0 ? 'bad' : 'good'}>
        <strong>
          {beyond > 0
            ? `The promise is broken for ${formatNumber(beyond)} of ${formatNumber(found.attacked)} records.`
            : 'The promise holds for every record that was attacked.'}
        </strong>
        <span>
          {beyond > 0
            ? 'The release was made under weaker ties than this policy declares.'
            : `No attacker gained more than epsilon ${formatNumber(promised)} about anybody. A small gain on one answer proves nothing: the promise is about the worst one.`}
        </span>
      </Notice>
      <h3>What each attacker gained about “{found.column}”</h3>
      <Chart
        label={`Gain of ${found.attackers.length} attackers, middle and worst record, against the promised ${formatNumber(promised)}; the table below has the numbers.`}
        draw={gains(
          found.attackers.map((a) => ({ who: a.name, median: a.median, most: a.most })),
          promised,
        )}
      >
        <figcaption>Strong colour: the middle record. Faint: the worst one.</figcaption>
      </Chart>
      <DataTable
        caption="What each attacker gained"
        columns={[
          { name: 'attacker' },
          { name: 'middle record', right: true },
          { name: 'worst record', right: true },
          { name: 'beyond the promise', right: true },
        ]}
        rows={found.attackers.map((a) => [a.name, formatNumber(a.median), formatNumber(a.most), a.beyond])}
      />
      <h3>Before and after, for the most exposed records</h3>
      <div class="columns">
        {found.exposed.slice(0, 4).map((record) => {
          const knowing = record.beliefs.at(-1)!;
          const rows = found.values.map((value, k) => ({
            value: words(value),
            before: knowing.prior[k] ?? 0,
            after: knowing.posterior[k] ?? 0,
            actual: value === record.actual,
          }));
          const truth = rows.find((r) => r.actual);
          return (
            <Chart
              key={record.name}
              label={`Belief about one record with ${record.ties} ties, before and after, by somebody who knows the ties: its true answer from ${formatPercent(truth?.before ?? 0)} to ${formatPercent(truth?.after ?? 0)}.`}
              draw={beliefs(rows)}
            >
              <figcaption>
                {record.name}, {record.ties} ties: {words(record.actual)} believed with {formatPercent(truth?.before ?? 0)}{' '}
                before, {formatPercent(truth?.after ?? 0)} after.
              </figcaption>
            </Chart>
          );
        })}
      </div>
      {found.notes.map((note) => (
        <p key={note} class="small soft">
          {note}
        </p>
      ))}
    </div>
  );
}
