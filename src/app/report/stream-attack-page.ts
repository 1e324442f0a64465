import type { StreamAttack, Trajectory } from '../../evaluate/attack/stream/attack.js';
import { oddsMove } from '../../policy/belief.js';
import { lineChart } from './line-chart.js';
import { mark } from './mark.js';
import { briefNumber } from './number.js';
import { pageHead } from './page.js';
import { fitting, half, narrow, escapeText as safe } from './svg.js';

/** Posteriors of attackers about people's states over time. One file that loads nothing, marked as made from private data. */
export function streamAttackPage(attack: StreamAttack): string {
  const { promised, attackers, exposed, notes } = attack;
  const rows = attackers
    .map(
      (a) =>
        `<tr><td>${safe(a.name)}</td><td class="n">${briefNumber(a.median)}</td><td class="n">${briefNumber(a.most)}</td><td class="n">${a.beyond.toLocaleString('en-US')}</td><td class="n">${briefNumber(100 * a.right)} %</td></tr>`,
    )
    .join('');
  const promiseHeld = attackers.every((a) => a.beyond === 0);
  return `${pageHead(`Attack on ${attack.column} over time`, style)}
<body>
<header><div>${mark}<div><h1>Where an attacker believes people were: “${safe(attack.column)}”</h1>
<p class="sub">${attack.attacked.toLocaleString('en-US')} of ${attack.persons.toLocaleString('en-US')} persons attacked · <span class="badge warn">private</span></p></div></div></header>
<main>
<p class="banner" role="alert">Not for publication: this page was made from the private data. It is for the steward of the data only.</p>
<h2>What the stream added to their beliefs</h2><section class="card">
<p>The stream promised that odds between two values of a record ${oddsMove(promised.epsilon, briefNumber)} (epsilon ${briefNumber(promised.epsilon)}${promised.delta > 0 ? `, delta ${promised.delta}` : ''}). <b>${promiseHeld ? 'Against these attackers it kept the promise.' : 'It did not keep the promise against all of these attackers.'}</b></p>
<table><thead><tr><th>attacker</th><th class="n">median change of log-odds</th><th class="n">largest</th><th class="n">steps beyond the promise</th><th class="n">guessed right</th></tr></thead><tbody>${rows}</tbody></table></section>
<h2>The ${exposed.length} most exposed persons</h2>
${exposed.map((one) => `<section class="card"><h3>${safe(one.name)}</h3>${fitting((width) => trajectoryChart(one, width), [narrow, half, 860])}</section>`).join('\n')}
<h2>How to read this</h2><section class="card"><ul>${notes.map((n) => `<li>${safe(n)}</li>`).join('')}</ul></section>
</main>
<footer>Made by Fugu. Beliefs are exact for the attackers described; other attackers believe other things.</footer>
</body>
</html>
`;
}

const style = `
.banner { background: var(--warn-soft); color: var(--warn); padding: 12px 18px; border-radius: 12px; margin-top: 24px; font-weight: 600; max-width: none; }
`;

/** Posterior of the true state, step by step: the prior, from each step alone, along the sequence, and the bound of the promise. */
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
