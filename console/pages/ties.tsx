import type { Figure, Network, Policy, Role } from '../api/shapes.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Chart } from '../charts/chart.tsx';
import { lines, seriesColours } from '../charts/lines.ts';
import { networkChart, strengthClass, strengths } from '../charts/network.ts';
import { tieName, WhatIfPanel } from '../network/what-if.tsx';
import { formatNumber } from '../parts/figures.ts';
import { Key } from '../parts/key.tsx';
import { EmptyNotice, Loaded } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { DataTable } from '../parts/table.tsx';

interface Leakage {
  readonly epsilon?: Figure;
  readonly base?: Figure;
  readonly kinds: readonly {
    readonly name: string;
    readonly records?: number;
    readonly leakage: readonly { readonly base: Figure; readonly leak: Figure }[];
  }[];
}

export function TiesPage({ policy, role }: { readonly policy: Policy; readonly role: Role }) {
  const path = `/v1/policies/${encodeURIComponent(policy.name)}`;
  const none = policy.dependence !== undefined && policy.dependence.length === 0;
  return (
    <Page
      title="Ties"
      lead="Who knows whom. A tie lets an attacker read one record out of another; the noise is chosen so that this does not help more than promised."
    >
      {none ? (
        <div class="panel">
          <EmptyNotice icon="ties" title="No ties are declared">
            <p>
              This policy says that no record tells anything about another. If some do, declare it: what is not declared is not
              protected.
            </p>
          </EmptyNotice>
        </div>
      ) : (
        <>
          <div class="columns">
            {role === 'steward' && <Picture path={path} />}
            {role === 'steward' && (
              <Panel title="What if the ties were stronger?" aside={<span class="badge">free</span>}>
                <WhatIfPanel path={path} ties={policy.dependence ?? []} />
              </Panel>
            )}
          </div>
          <LeakageByKind path={path} />
          <Panel title="Declared">
            <DataTable
              caption="Declared ties"
              columns={[{ name: 'tie' }, { name: 'odds ratio', right: true }, { name: 'strength' }]}
              rows={(policy.dependence ?? []).map((tie) => [
                tieName(tie),
                tie.oddsRatio === undefined ? 'by a model' : formatNumber(tie.oddsRatio),
                tie.oddsRatio === undefined ? '' : strengthClass(tie.oddsRatio).words,
              ])}
            />
          </Panel>
        </>
      )}
    </Page>
  );
}

function Picture({ path }: { readonly path: string }) {
  const [answer, again] = useAnswer<Network>(`${path}/ties?most=200`);
  return (
    <Panel title="The network">
      <Loaded answer={answer} height={460} again={again}>
        {({ records, ties, shown }) => {
          const drawn = shown.nodes.filter((n) => n.kind !== 'shared').length;
          return drawn === 0 ? (
            <EmptyNotice icon="ties" title="Nobody is tied to anybody" />
          ) : (
            <Chart
              label={`A network of ${drawn} of ${records} records and ${shown.edges.length} of ${ties} ties, coloured by strength.`}
              draw={networkChart(shown.nodes, shown.edges)}
            >
              <Key
                items={strengths
                  .filter((s) => shown.edges.some((e) => strengthClass(e.oddsRatio) === s))
                  .map((s) => ({ words: s.words, colour: s.colour }))}
              />
              <figcaption>
                {formatNumber(drawn)} of {formatNumber(records)} records, {formatNumber(shown.edges.length)} of{' '}
                {formatNumber(ties)} ties. Dots have no names; this page is for stewards only.
                {drawn < shown.nodes.length &&
                  ' A diamond is what a group shares and nobody sees, such as the leaning of a household.'}
              </figcaption>
            </Chart>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function LeakageByKind({ path }: { readonly path: string }) {
  const [answer, again] = useAnswer<Leakage>(`${path}/leakage`);
  return (
    <Panel title="Leakage by kind of record">
      <Loaded answer={answer} height={360} again={again}>
        {({ kinds, epsilon }) => {
          const drawn = kinds
            .map((k) => ({
              name: k.name,
              points: k.leakage.flatMap((p) =>
                typeof p.base === 'number' && typeof p.leak === 'number' ? [{ x: p.base, y: p.leak }] : [],
              ),
            }))
            .filter((s) => s.points.length > 0);
          const bases = kinds[0]?.leakage ?? [];
          const some = bases.filter(
            (_, k) => bases.length <= 5 || k % Math.ceil(bases.length / 5) === 0 || k === bases.length - 1,
          );
          if (drawn.length === 0) return <EmptyNotice icon="ties" title="Nothing leaks beyond each record's own part" />;
          return (
            <div class="columns">
              <Chart
                label={`What an attacker gains about a record, by what each record spends alone, for ${drawn.length} kinds of record.`}
                draw={lines(drawn, {
                  along: 'what a release tells of one record alone',
                  what: 'what it tells, ties included',
                  ...(typeof epsilon === 'number' && { limit: { at: epsilon, words: 'promised' } }),
                })}
              >
                <Key items={drawn.map((s, k) => ({ words: s.name, colour: seriesColours[k % seriesColours.length]! }))} />
                <figcaption>Both in epsilon. A line that rises faster belongs to records with more or stronger ties.</figcaption>
              </Chart>
              <DataTable
                caption="Leakage by kind of record"
                columns={[
                  { name: 'kind' },
                  { name: 'records', right: true },
                  ...some.map((p) => ({ name: `at ${formatNumber(p.base)}`, right: true })),
                ]}
                rows={kinds.map((k) => [
                  k.name,
                  k.records === undefined ? '' : formatNumber(k.records),
                  ...some.map((p) => formatNumber(k.leakage.find((x) => x.base === p.base)?.leak)),
                ])}
              />
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}
