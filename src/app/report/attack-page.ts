import { fromNumber } from '../../base/exact/rational.js';
import type { ExposedRecord, PolicyAttack } from '../../evaluate/attack/policy/attack.js';
import type { BeliefChange } from '../../evaluate/attack/policy/beliefs.js';
import { oddsMove, posteriorAtLeast, posteriorAtMost } from '../../policy/belief.js';
import { percentText } from '../../release/accountant/belief-words.js';
import { mark } from './mark.js';
import { briefNumber } from './number.js';
import { pageHead } from './page.js';
import {
  clipText,
  colour,
  type Drawing,
  element,
  fitting,
  half,
  line,
  linear,
  narrow,
  escapeText as safe,
  smallest,
  textElement,
  textWidth,
} from './svg.js';

const ownStyle = `
.banner { background: var(--warn-soft); color: var(--warn); padding: 12px 18px; border-radius: 12px; margin-top: 24px; font-weight: 600; max-width: none; }
.records { display: grid; gap: 18px; }
.pair { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 470px), 1fr)); gap: 10px 30px; }
.pair h4 { margin: 8px 0 4px; font-size: 14px; font-weight: 600; }
.pair h4 span { display: block; font-weight: 400; font-size: 13px; }
h3 span { font-weight: 400; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; font-size: 14px; color: var(--muted); margin: 0 0 14px; max-width: none; }
td.over { color: var(--accent); font-weight: 650; }
`;

/** Posteriors of attackers, record by record. One file that loads nothing, marked as made from private data. */
export function attackPage(attack: PolicyAttack): string {
  return `${pageHead(`Attack on ${attack.column}`, ownStyle)}
<body>
<header><div>${mark}<div><h1>What an attacker makes of “${safe(attack.column)}”</h1>
<p class="sub">${safe(attack.label)} · ${attack.attacked.toLocaleString('en-US')} of ${attack.records.toLocaleString('en-US')} records attacked · <span class="badge warn">private</span></p></div></div></header>
<main>
<p class="banner" role="alert">Not for publication: this page was made from the private data. It is for the steward of the data only.</p>
${summary(attack)}
${records(attack)}
<h2>How to read this</h2><section class="card"><ul>${attack.notes.map((n) => `<li>${safe(n)}</li>`).join('')}</ul></section>
</main>
<footer>Made by Fugu. Beliefs are exact for the attackers described; other attackers believe other things.</footer>
</body>
</html>
`;
}

function summary({ attackers, promised }: PolicyAttack): string {
  const rows = attackers
    .map(
      (a) =>
        `<tr><td>${safe(a.name)}</td><td class="n">${briefNumber(a.median)}</td><td class="n${a.most > promised.epsilon ? ' over' : ''}">${briefNumber(a.most)}</td><td class="n${a.beyond > 0 ? ' over' : ''}">${a.beyond.toLocaleString('en-US')}</td></tr>`,
    )
    .join('');
  const promiseHeld = attackers.every((a) => a.beyond === 0);
  return `<h2>What the release added to their beliefs</h2><section class="card">
<p>The release promised that odds between two values of a record ${oddsMove(promised.epsilon, briefNumber)} (epsilon ${briefNumber(promised.epsilon)}${promised.delta > 0 ? `, delta ${promised.delta}` : ''}). <b>${promiseHeld ? 'Against these attackers it kept the promise.' : 'It did not keep the promise against all of these attackers: see the coloured numbers.'}</b></p>
<table><thead><tr><th>attacker</th><th class="n">median change of log-odds</th><th class="n">largest</th><th class="n">records beyond the promise</th></tr></thead><tbody>${rows}</tbody></table></section>`;
}

function records(attack: PolicyAttack): string {
  const cards = attack.exposed.map((r) => card(r, attack)).join('\n');
  return `<h2>The ${attack.exposed.length} most exposed records</h2>
<p class="legend"><span>○ before the release</span><span style="color:var(--accent)">● after it, beyond the promise</span><span style="color:var(--bar)">● after it</span><span>▬ where the promise lets it go</span></p>
<div class="records">${cards}</div>`;
}

function card(record: ExposedRecord, { values, promised }: PolicyAttack): string {
  const parts = record.beliefs.map((b) => {
    const title = `${b.ties ? 'Knows the ties' : 'Ignores the ties'}, knows ${b.knows}`;
    return `<div><h4>${safe(title)} <span class="small">log-odds moved by ${briefNumber(b.gain)}</span></h4>${fitting((width) => beliefChart(values, b, promised.epsilon, record.actual, width), [narrow, half])}</div>`;
  });
  return `<section class="card"><h3>${safe(record.name)} <span class="small">· really “${safe(record.actual)}” · tied to ${record.ties}</span></h3><div class="pair">${parts.join('')}</div></section>`;
}

/** One row per value: prior and posterior on one axis, and the band that the promise permits. */
function beliefChart(values: readonly string[], belief: BeliefChange, epsilon: number, actual: string, width: number): Drawing {
  const rowHeight = 24;
  const small = width < half;
  const left = small ? 78 : 110;
  const moves = values.map((_, k) => `${percentText(belief.prior[k]!)} → ${percentText(belief.posterior[k]!)}`);
  const labelWidth = Math.max(...moves.map((text) => textWidth(text, smallest))) + 10;
  const x = linear([0, 1], [left, width - labelWidth], 4);
  const bottom = values.length * rowHeight + 4;
  const grid = (small ? [0, 1] : [0, 0.25, 0.5, 0.75, 1]).flatMap((t) => [
    line(x(t), 0, x(t), bottom, { stroke: colour.rule }),
    textElement(x(t), bottom + 14, `${t * 100} %`, { 'text-anchor': 'middle', 'font-size': smallest, fill: colour.muted }),
  ]);
  const limit = fromNumber(epsilon);
  const rows = values.map((value, k) => {
    const y = k * rowHeight + rowHeight / 2 + 2;
    const prior = belief.prior[k]!;
    const posterior = belief.posterior[k]!;
    const open = prior > 0 && prior < 1;
    const exact = fromNumber(prior);
    const low = open ? posteriorAtLeast(exact, limit) : prior;
    const high = open ? posteriorAtMost(exact, limit) : prior;
    const beyond = posterior > high + 1e-9 || posterior < low - 1e-9;
    const fill = beyond ? colour.accent : colour.bar;
    return [
      textElement(left - 10, y + 4, clipText(value, left - 14), {
        'text-anchor': 'end',
        ...(value === actual && { 'font-weight': 700 }),
      }),
      line(x(low), y, x(high), y, { stroke: colour.soft, 'stroke-width': 9 }),
      line(x(prior), y, x(posterior), y, { stroke: fill, 'stroke-width': 2 }),
      element('circle', { cx: x(prior), cy: y, r: 4.3, fill: colour.paper, stroke: colour.ink, 'stroke-width': 1.6 }),
      element('circle', { cx: x(posterior), cy: y, r: 4.6, fill }),
      textElement(width, y + 4, moves[k]!, {
        'text-anchor': 'end',
        'font-size': smallest,
        fill: colour.muted,
        class: 'figure',
      }),
    ].join('');
  });
  return {
    width,
    height: bottom + 20,
    label: values
      .map((v, k) => `${v}: ${percentText(belief.prior[k]!)} before, ${percentText(belief.posterior[k]!)} after`)
      .join('; '),
    body: [...grid, ...rows].join(''),
  };
}
