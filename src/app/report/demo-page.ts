import { percentText } from '../../release/accountant/belief-words.js';
import { barChart, barDomain } from './bar-chart.js';
import { crowd } from './belief-picture.js';
import { briefNumber } from './number.js';
import { htmlTable, page } from './page.js';
import { colour, type Drawing, element, fitting, half, inline, line, narrow, escapeText as safe, textElement } from './svg.js';

/** One survey released twice, as shown on the page. */
export interface DemoStory {
  readonly people: number;
  readonly households: number;
  readonly questions: number;
  readonly strangers: StoryRelease;
  readonly declared: StoryRelease;
}
interface StoryRelease {
  readonly error: number;
  readonly leakage: number;
  readonly ignoring: number;
  readonly knowing: number;
  readonly finding: readonly { readonly party: string; readonly value: number; readonly low: number; readonly high: number }[];
}

const ownStyle = `
.three { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 18px; }
.three .card { text-align: center; }
.three svg.chart { margin: 6px auto 10px; }
.three .tile { color: var(--accent); }
.three .good .tile { color: var(--good); }
.three p:not(.label, .tile) { margin: 8px auto 0; font-size: 14.5px; }
.three .tile { margin: 0 auto; }
.leak { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 10px 30px; align-items: center; }
@media (max-width: 820px) { .three, .leak { grid-template-columns: minmax(0, 1fr); } }
`;

/** Both releases of the demo next to each other: highest posteriors, costs, and the finding in both. */
export function demoPage(story: DemoStory): string {
  const { people, households, questions } = story;
  const many = (n: number) => n.toLocaleString('en-US');
  return page({
    title: 'One survey, released twice',
    heading: 'One survey, released twice',
    sub: `${many(people)} made-up people in ${many(households)} households · ${questions} questions · epsilon 1 both times`,
    style: ownStyle,
    body: [beliefs(story), leak(story), finding(story), price(story)].join('\n'),
    footer: ' from made-up people. Beliefs are the most that an attacker can reach, not what a certain one did reach.',
  });
}

function beliefs({ strangers, declared }: DemoStory): string {
  const card = (belief: number, title: string, text: string, { upTo = 'up to', look = '' } = {}) =>
    `<section class="card ${look}"><p class="label">${safe(title)}</p>${inline(crowd(belief, 1, `${percentText(belief, 'up')} filled in`))}
<p class="tile"><small>${upTo}</small> ${safe(percentText(belief, 'up'))}</p><p>${safe(text)}</p></section>`;
  const plain = `Promised were ${percentText(strangers.ignoring, 'up')}: true for an attacker who ignores your household. One who knows it reads your relatives' answers as well, and they resemble yours.`;
  const limited = 'The household was declared. The limit holds for an attacker who knows who lives with whom.';
  return `<h2>What somebody who knows your household can come to believe about you</h2>
<div class="three">
${card(0.1, 'Before', 'The attacker suspects you of one answer, rightly in one case of ten.', { upTo: '' })}
${card(strangers.knowing, 'After plain noise', plain)}
${card(declared.knowing, 'After Fugu', limited, { look: 'good' })}
</div>`;
}

function leak({ strangers }: DemoStory): string {
  return `<h2>How a household gives a person away</h2><section class="card"><div class="leak">
<div>${fitting(household, [narrow, half])}</div>
<div><p>Plain noise hides <b>one</b> record. But the leaning of a household shows in all six answers, and each of them is in the published counts: together they say much more about the leaning, and so about you, than your own answer does.</p>
<p>Calculated for six people tied to their leaning by an odds ratio of 10: what looks like epsilon 1 is up to <b>epsilon ${briefNumber(strangers.leakage)}</b> about each of them. Odds move up to ${briefNumber(Math.exp(strangers.leakage))} times, not ${briefNumber(Math.E)} times.</p></div>
</div></section>`;
}

/** Six members of a household, all tied to its leaning; all are counted, one is the privacy unit. Text is larger for small widths. */
function household(shown: number): Drawing {
  const [width, height] = [460, 230];
  const size = Math.max(12, (12 * width) / shown);
  const box = Math.max(84, 7.4 * size);
  const at = (k: number) => [52 + k * 50, 150] as const;
  const [homeX, homeY] = [177, 72];
  const person = (x: number, y: number, own: boolean) =>
    [
      element('circle', { cx: x, cy: y, r: 9, fill: own ? colour.accent : colour.bar }),
      element('path', { d: `M${x - 13} ${y + 30}a13 17 0 0 1 26 0z`, fill: own ? colour.accent : colour.bar }),
    ].join('');
  const people = Array.from({ length: 6 }, (_, k) => {
    const [x, y] = at(k);
    return [
      line([homeX, homeY + 14], [x, y - 13], {
        stroke: k === 2 ? colour.accent : colour.muted,
        'stroke-width': k === 2 ? 2.4 : 1.4,
      }),
      person(x, y, k === 2),
      line([x + 4, y + 36], [400, 204], { stroke: colour.soft, 'stroke-width': 1.4 }),
    ].join('');
  });
  return {
    width,
    height,
    label:
      'Six members of a household, each tied to what the household is like, each counted in the published table; one of them is you',
    body: [
      element('path', { d: 'M14 62L177 10L340 62', fill: 'none', stroke: colour.ink, 'stroke-width': 2 }),
      element('path', { d: 'M26 60V192H328V60', fill: 'none', stroke: colour.rule, 'stroke-width': 2 }),
      ...people,
      element('circle', {
        cx: homeX,
        cy: homeY,
        r: 14,
        fill: colour.paper,
        stroke: colour.ink,
        'stroke-width': 1.8,
        'stroke-dasharray': '3 3',
      }),
      textElement(homeX, homeY + size / 3, '?', { 'text-anchor': 'middle', 'font-weight': 700, 'font-size': size }),
      textElement(homeX + 22, homeY - 2, 'leaning', { fill: colour.muted, 'font-size': size }),
      textElement(at(2)[0], 200 + size / 2, 'you', {
        'text-anchor': 'middle',
        fill: colour.accent,
        'font-weight': 700,
        'font-size': size,
      }),
      element('rect', { x: 456 - box, y: 190, width: box, height: 30, rx: 6, fill: colour.paper, stroke: colour.ink }),
      textElement(456 - box / 2, 205 + size / 3, 'noisy count', { 'text-anchor': 'middle', 'font-size': size }),
    ].join(''),
  };
}

function finding({ strangers, declared }: DemoStory): string {
  const bars = (r: StoryRelease) =>
    r.finding.map(({ party, value, low, high }) => ({ label: party === 'none' ? 'no party' : party, value, low, high }));
  const domain = barDomain([...bars(strangers), ...bars(declared)]);
  const chart = (title: string, r: StoryRelease) =>
    `<figure class="card"><figcaption><h3>${safe(title)}</h3></figcaption>${fitting((width) => barChart({ bars: bars(r), label: `No trust at all, by party: ${title}`, domain, width }), [narrow, half])}</figure>`;
  return `<h2>The finding survives: no party, no trust</h2>
<p>People who answered “1: no trust at all”, by party, with 95 % intervals of the noise. The group without a party is the smallest and has the most of them, in both releases.</p>
<div class="two">${chart('Households not declared', strangers)}${chart('Households declared', declared)}</div>`;
}

function price({ strangers, declared }: DemoStory): string {
  const up = (belief: number) => percentText(belief, 'up');
  const table = htmlTable(
    [''],
    ['not declared', 'declared'],
    [
      ['noise on a count (95 %)', ...[strangers, declared].map(({ error }) => `± ${briefNumber(error)}`)],
      ['attacker who ignores households: 10 % becomes at most', up(strangers.ignoring), up(declared.ignoring)],
      ['attacker who knows them: 10 % becomes at most', up(strangers.knowing), up(declared.knowing)],
    ],
  );
  return `<h2>What it costs</h2><section class="card">${table}</section>`;
}
