import type { ExposedRecord, PolicyAttack } from '../../evaluate/attack/policy/attack.js';
import type { StreamAttack, Trajectory } from '../../evaluate/attack/stream/attack.js';
import { oddsMove } from '../../policy/belief.js';
import { beliefChart } from './belief-picture.js';
import { lineChart } from './line-chart.js';
import { briefNumber } from './number.js';
import { badge, htmlTable, list, page } from './page.js';
import { fitting, half, narrow, escapeText as safe } from './svg.js';

const ownStyle = `
.records { display: grid; gap: 18px; }
.pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 470px), 1fr)); gap: 10px 30px; }
.pair h4 { margin: 8px 0 4px; font-size: 14px; font-weight: 600; }
.pair h4 span { display: block; font-weight: 400; font-size: 13px; }
h3 span { font-weight: 400; }
`;
const many = (n: number): string => n.toLocaleString('en-US');

/** Page that is marked as made from private data. */
const privatePage = (
  head: { readonly title: string; readonly heading: string; readonly sub: string },
  parts: readonly string[],
) =>
  page({
    ...head,
    sub: `${head.sub} · ${badge('warn', 'private')}`,
    style: ownStyle,
    body: `<p class="banner" role="alert">Not for publication: this page was made from the private data. It is for the steward of the data only.</p>
${parts.join('\n')}`,
    footer: '. Beliefs are exact for the attackers described; other attackers believe other things.',
  });

/** What the attackers reached beside what was promised, with a table of them. */
function results({ attackers, promised }: PolicyAttack | StreamAttack, what: string, unless: string, table: string): string {
  const kept = attackers.every((a) => a.beyond === 0);
  return `<h2>What the ${what} added to their beliefs</h2><section class="card">
<p>The ${what} promised that odds between two values of a record ${oddsMove(promised.epsilon, briefNumber)} (epsilon ${briefNumber(promised.epsilon)}${promised.delta > 0 ? `, delta ${promised.delta}` : ''}). <b>${kept ? 'Against these attackers it kept the promise.' : `It did not keep the promise against all of these attackers${unless}.`}</b></p>
${table}</section>`;
}

const howToRead = (notes: readonly string[]): string => `<h2>How to read this</h2><section class="card">${list(notes)}</section>`;

/** Posteriors of attackers, record by record. */
export function attackPage(attack: PolicyAttack): string {
  const { column, label, attackers, attacked, promised } = attack;
  const rows = attackers.map(({ name, median, most, beyond }) => [
    name,
    briefNumber(median),
    { text: briefNumber(most), over: most > promised.epsilon },
    { text: many(beyond), over: beyond > 0 },
  ]);
  const table = htmlTable(['attacker'], ['median change of log-odds', 'largest', 'records beyond the promise'], rows);
  const head = {
    title: `Attack on ${column}`,
    heading: `What an attacker makes of “${safe(column)}”`,
    sub: `${safe(label)} · ${many(attacked)} of ${many(attack.records)} records attacked`,
  };
  return privatePage(head, [
    results(attack, 'release', ': see the coloured numbers', table),
    records(attack),
    howToRead(attack.notes),
  ]);
}

function records(attack: PolicyAttack): string {
  return `<h2>The ${attack.exposed.length} most exposed records</h2>
<p class="legend"><span>○ before the release</span><span style="color:var(--accent)">● after it, beyond the promise</span><span style="color:var(--bar)">● after it</span><span>▬ where the promise lets it go</span></p>
<div class="records">${attack.exposed.map((record) => recordCard(record, attack)).join('\n')}</div>`;
}

function recordCard({ name, actual, ties, beliefs }: ExposedRecord, { values, promised: { epsilon } }: PolicyAttack): string {
  const parts = beliefs.map((belief) => {
    const title = `${belief.ties ? 'Knows the ties' : 'Ignores the ties'}, knows ${belief.knows}`;
    return `<div><h4>${safe(title)} <span class="small">log-odds moved by ${briefNumber(belief.gain)}</span></h4>${fitting((width) => beliefChart({ values, actual, epsilon, belief }, width), [narrow, half])}</div>`;
  });
  return `<section class="card"><h3>${safe(name)} <span class="small">· really “${safe(actual)}” · tied to ${ties}</span></h3><div class="pair">${parts.join('')}</div></section>`;
}

/** Posteriors of attackers about people's states over time. */
export function streamAttackPage(attack: StreamAttack): string {
  const { column, attackers, attacked, persons, exposed } = attack;
  const rows = attackers.map((a) => [
    a.name,
    briefNumber(a.median),
    briefNumber(a.most),
    many(a.beyond),
    `${briefNumber(100 * a.right)} %`,
  ]);
  const figures = ['median change of log-odds', 'largest', 'steps beyond the promise', 'guessed right'];
  const head = {
    title: `Attack on ${column} over time`,
    heading: `Where an attacker believes people were: “${safe(column)}”`,
    sub: `${many(attacked)} of ${many(persons)} persons attacked`,
  };
  return privatePage(head, [
    results(attack, 'stream', '', htmlTable(['attacker'], figures, rows)),
    `<h2>The ${exposed.length} most exposed persons</h2>`,
    ...exposed.map(
      (one) =>
        `<section class="card"><h3>${safe(one.name)}</h3>${fitting((width) => trajectoryChart(one, width), [narrow, half, 860])}</section>`,
    ),
    howToRead(attack.notes),
  ]);
}

/** Belief in the true state, step by step: before, from each step alone, along the sequence, and the bound of the promise. */
const trajectoryChart = ({ name, steps }: Trajectory, width: number) =>
  lineChart({
    series: [
      { name: 'where the promise lets it go', points: steps.map(({ at, limit }) => ({ x: at, y: limit })), dashed: true },
      { name: 'knows the sequence', points: steps.map(({ at, along }) => ({ x: at, y: along })) },
      { name: 'each step by itself', points: steps.map(({ at, apart: independent }) => ({ x: at, y: independent })) },
      { name: 'before the stream', points: steps.map(({ at, before }) => ({ x: at, y: before })), dashed: true },
    ],
    xLabel: 'step',
    yLabel: 'belief in the true state',
    label: `Belief in the true state of ${name} over time`,
    width,
    height: 280,
    yDomain: [0, 1],
    percentY: true,
  });
