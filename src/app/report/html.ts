import { percentText, probabilityText } from '../../release/accountant/belief-words.js';
import { barChart, barDomain, columnChart } from './bar-chart.js';
import { beliefRanges, crowd } from './belief-picture.js';
import { briefNumber, estimateText, halfWidth } from './number.js';
import { badge, htmlTable, list, page } from './page.js';
import { pairsPicture } from './pairs-picture.js';
import type { AnswerSection, ReleaseReport } from './report.js';
import { fitting, half, inline, narrow, escapeText as safe } from './svg.js';

export function htmlReport(report: ReleaseReport): string {
  const { title, population, at, certified, protectsNothing, pairs } = report;
  const kind = protectsNothing ? 'protects nothing' : 'as published';
  return page({
    title,
    heading: safe(title),
    sub: `${safe(population)} · released ${safe(day(at))} · ${certified ? badge('good', 'certified') : badge('warn', kind)}`,
    body: `${promise(report)}
${answers(report)}
${receipt(report)}`,
    footer: `: private statistics for data whose records know each other. ${pairs ? 'Numbers here are noisy on purpose, but for those that are public under the policy' : 'Every number here is noisy on purpose'}; the error bars say by how much.`,
  });
}

const paragraph = (text: string, name = ''): string => `<p${name ? ` class="${name}"` : ''}>${safe(text)}</p>`;
const day = (at: string): string => at.slice(0, 16).replace('T', ' ').concat(' UTC');

function promise(report: ReleaseReport): string {
  const [first = '', ...rest] = report.promise;
  const assumptions =
    report.assumptions.length === 0 ? '' : `<div class="assume"><b>This holds if</b>${list(report.assumptions)}</div>`;
  return `<h2 id="promise">What is promised</h2>
<div class="promise">
<section class="card">${paragraph(first, 'lead')}${list(rest)}${assumptions}</section>
${beliefCard(report)}
</div>
<div class="two">${rangeCard(report)}${budgetCard(report)}</div>${pairsCard(report)}`;
}

/** Empty without a picture: columns in which rows agree are described in the text. */
function pairsCard({ pairs = [] }: ReleaseReport): string {
  if (pairs.length === 0) return '';
  return `
<section class="card below"><p class="label">Values that stay indistinguishable</p>${inline(pairsPicture(pairs))}
${paragraph('Between the dark value and another, odds move by at most that many times epsilon; "open": nothing is promised, the two may be distinguished.', 'small')}</section>`;
}

function beliefCard({ belief, failure, pairs }: ReleaseReport): string {
  const { people } = belief;
  const of = people.of.toLocaleString('en-US');
  const before = `${people.before.toLocaleString('en-US')} of ${of}`;
  const after = `${people.atMost.toLocaleString('en-US')} of ${of}`;
  const except = failure > 0 ? ` (except with probability ${probabilityText(failure)})` : '';
  return `<section class="card"><p class="label">What an attacker can come to believe</p>
<div class="crowds">
<div>${inline(crowd(people.before, people.of, `${before} people filled in`))}<p><b>${before}</b>rightly suspected by an attacker who starts at ${percentText(belief.prior).replace(' ', '&nbsp;')}</p></div>
<div class="arrow" aria-hidden="true">→</div>
<div>${inline(crowd(people.atMost, people.of, `${after} people filled in`))}<p><b>at most ${after}</b>among those whom all releases together make most suspect</p></div>
</div>
${paragraph(people.sentence)}
${paragraph(`${pairs ? 'Between two values that are a declared pair. ' : ''}Everything the attacker infers from tied records is included${except}.`, 'small')}</section>`;
}

const rangeCard = ({ belief }: ReleaseReport): string =>
  `<section class="card"><p class="label">How far a belief can move</p>${fitting((width) => beliefRanges(belief.rows, width), [narrow, half])}</section>`;

function budgetCard({ epsilon, delta, spentHere, whatIf, how, belief }: ReleaseReport): string {
  const share = Math.min(100, (100 * spentHere) / epsilon);
  const rows = whatIf.map((w) => [w.change, w.epsilon, w.belief]);
  const table =
    whatIf.length === 0
      ? ''
      : `<p class="label" style="margin-top:22px">If the declaration were too weak</p>
${htmlTable(['if in truth'], ['epsilon', `${percentText(belief.prior)} becomes`], rows)}`;
  return `<section class="card"><p class="label">Budget</p>
<div class="meter" role="img" aria-label="${share.toFixed(1)} percent of the budget used by this release"><i style="width:${share.toFixed(2)}%"></i></div>
${paragraph(`This release used ${briefNumber(share)} % of the population's budget (epsilon ${briefNumber(spentHere)} of ${briefNumber(epsilon)}${delta > 0 ? `, delta ${delta}` : ''}).`)}
${paragraph(`How the noise was chosen: ${how}`, 'small')}${table}</section>`;
}

function answers(report: ReleaseReport): string {
  const { answers } = report;
  const index =
    answers.length > 12
      ? `<nav class="card" aria-label="Questions" style="margin-bottom:18px"><ul class="index">${answers
          .map((a, k) => `<li><a href="#a${k}">${safe(a.title)}</a></li>`)
          .join('')}</ul></nav>`
      : '';
  const one = answers.length === 1 ? ' one' : '';
  return `<h2 id="answers">${answers.length === 1 ? 'The answer' : `The ${answers.length} answers`}</h2>${index}
${doubtful(answers)}<div class="answers${one}">${answers.map((a, k) => answerCard(a, k, answers.length === 1)).join('\n')}</div>`;
}

/** Number of tables that are mostly noise, for the head of a report with many tables. */
function doubtful(answers: readonly AnswerSection[]): string {
  const noisy = answers.filter(({ mostlyNoise }) => mostlyNoise).length;
  if (noisy === 0 || answers.length === 1) return '';
  return paragraph(
    `${noisy === answers.length ? `All ${noisy}` : `${noisy} of these ${answers.length}`} tables are mostly noise: each says by how much.`,
    'doubt',
  );
}

function answerCard(answer: AnswerSection, k: number, wide: boolean): string {
  const note = answer.note ? `<p class="note">${safe(answer.note)}</p>` : '';
  const warning = answer.warning ? paragraph(answer.warning, 'doubt') : '';
  const texts = answer.columns.length - (answer.figures ?? 2);
  const table = htmlTable(answer.columns.slice(0, texts), answer.columns.slice(texts), answer.rows);
  return `<figure class="card${answer.panels.length > 1 ? ' wide' : ''}" id="a${k}"><figcaption><h3>${safe(answer.title)}</h3>${note}${warning}</figcaption>
${picture(answer, wide)}${answer.caveat ? paragraph(answer.caveat, 'small') : ''}
<details${answer.panels.length === 0 ? ' open' : ''}><summary>Numbers</summary>${table}<p class="small" style="margin-top:8px">${safe(answer.error)}</p></details></figure>`;
}

/** Size limit of a whole page. */
const full = 1016;

/** Number of levels from which upright columns read better than a tall list of bars. */
const manyLevels = 24;

function picture({ panels, title, measure, drawing, unit = '' }: AnswerSection, wide: boolean): string {
  if (drawing) return fitting(drawing, [narrow, half, wide ? full : half].slice(0, wide ? 3 : 2));
  // A single group that is left to draw still carries its name.
  const only = panels.length === 1 && panels[0]!.caption === undefined ? panels[0]! : undefined;
  if (only?.bars.length === 1) {
    const bar = only.bars[0]!;
    const { value, error } = estimateText(bar.value, halfWidth(bar));
    return `<p class="tile">${safe(value)} <small>${safe(bar.note ?? error)}</small></p><p class="small">${safe(measure)}</p>`;
  }
  if (only) {
    const { bars } = only;
    const label = `${measure} by ${title}, with 95 percent error bars; the numbers are in the table below`;
    const draw = (width: number) =>
      bars.length > manyLevels ? columnChart({ bars, label, width }) : barChart({ bars, label, width, unit });
    return fitting(draw, wide ? [narrow, half, full] : [narrow, half]);
  }
  const domain = barDomain(panels.flatMap((p) => p.bars));
  const drawn = panels.map(
    ({ caption = '', bars }) =>
      `<div><h4>${safe(caption)}</h4>${inline(barChart({ bars, label: `${measure}, ${caption}`, width: narrow, domain, unit }))}</div>`,
  );
  return `<div class="panels">${drawn.join('')}</div>`;
}

function receipt(report: ReleaseReport): string {
  const lines = report.receipt
    .map(
      ([name, value]) => `<dt>${safe(name)}</dt><dd>${name.includes('hash') ? `<code>${safe(value)}</code>` : safe(value)}</dd>`,
    )
    .join('');
  return `<h2 id="receipt">Receipt</h2><section class="card"><dl>${lines}</dl></section>`;
}
