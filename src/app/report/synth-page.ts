import type { PredictQuality } from '../../analysis/synth/predict.js';
import type { PairQuality } from '../../analysis/synth/quality.js';
import type { MeasuredTable, SynthResult } from '../../analysis/synth/release.js';
import type { Receipt } from '../../release/session/receipt.js';
import { type ChartRow, planeFrame, rowChart } from './chart-frame.js';
import { briefNumber, percentText } from './number.js';
import { badge, htmlTable, list, page } from './page.js';
import { colour, type Drawing, element, fitting, half, line, linear, narrow, escapeText as safe } from './svg.js';

const ownStyle = `
.pairs { align-items: start; }
.scroll { overflow-x: auto; }
td.rule, th.rule { padding-left: 24px; }
`;

/** Distance of synthetic rows from the measurements. Made from paid measurements alone, so it may be published with the rows. */
export function synthPage({ result, receipt }: { readonly result: SynthResult; readonly receipt: Receipt }): string {
  const { rows, columns, measured, mode } = result;
  const { certified, sentences, assumptions } = receipt.guarantee;
  return page({
    title: `Synthetic rows of ${receipt.population}`,
    heading: `Synthetic rows of ${safe(receipt.population)}`,
    sub: `${many(rows)} rows · ${columns.length} columns · made of ${measured.length} noisy tables (${safe(mode)}) · ${certified ? badge('good', 'certified') : badge('warn', 'as published')}`,
    style: ownStyle,
    body: `<p class="banner">No row is a person. Rows were drawn from noisy tables; everything on this page compares them with those tables, never with the data itself.</p>
<h2>What is promised about the people behind it</h2><section class="card">${list([...sentences, ...assumptions.map((a) => `Assumption: ${a}`)])}</section>
${uses}
${singles(result)}
${tables(result)}
${pairs(result)}
${predicted(result)}
${homes(result)}`,
    footer:
      '. Intervals and distances speak of the noise that was drawn; how well the tables describe the people is for the reader to judge.',
  });
}
const many = (n: number): string => n.toLocaleString('en-US');

const uses = `<h2>What it is good for, and what not</h2><div class="two">
<section class="card"><p class="label">Good for</p><ul><li>Trying out programs and questionnaires on rows of the right form.</li><li>Tables of the columns listed below, to about the distance that is shown there.</li><li>Teaching, and planning what to ask of the data itself.</li></ul></section>
<section class="card"><p class="label">Not good for</p><ul><li>Rare cells: where noise is larger than the count, the rows say nothing.</li><li>How columns go together that were never measured together: there the rows are as independent as they can be.</li><li>Standard errors as if these were people; small differences; anything about a single row.</li><li>Numbers inside a bin: they are drawn evenly.</li><li>Who lives with whom, unless the rows were made in households.</li></ul></section>
</div>`;

const most = 12;

/** Single columns: the noisy measurements, and the counts of the rows. */
function singles({ measured, rows, columns, total, quality }: SynthResult): string {
  const own = measured.filter((m) => m.columns.length === 1);
  const best = new Map<string, MeasuredTable>();
  for (const m of own) if ((best.get(m.columns[0]!)?.sd ?? Number.POSITIVE_INFINITY) > m.sd) best.set(m.columns[0]!, m);
  const shown = [...best.values()].filter(({ labels }) => labels[0]!.length <= 24).slice(0, most);
  if (shown.length === 0 || columns.length === 0 || rows === 0) return '';
  const columnQuality = new Map(quality.tables.filter((t) => t.columns.length === 1).map((t) => [t.columns[0]!, t]));
  const cards = shown.map(
    (m) =>
      `<figure class="card"><figcaption><h3>${safe(m.columns[0]!)}</h3></figcaption>${fitting((width) => dots(m, countsOf(quality, m.columns[0]!), total, width), [narrow, half])}<p class="note">Rows in other cells than measured: ${percentText(columnQuality.get(m.columns[0]!)?.distance ?? 0)}.</p></figure>`,
  );
  return `<h2>Every column by itself</h2><p class="legend"><span style="color:var(--bar)">● synthetic rows</span><span>▬ measured, with twice the deviation of its noise</span></p><div class="answers">${cards.join('')}</div>${best.size > shown.length ? `<p class="small">${best.size - shown.length} more columns are in the table below.</p>` : ''}`;
}

function dots(
  { labels, counts, sd, columns }: MeasuredTable,
  synthetic: readonly number[],
  total: number,
  width: number,
): Drawing {
  const share = (x: number) => Math.max(0, x) / total;
  const rows = labels[0]!.map((label, k): ChartRow => {
    const count = counts[k]!;
    return {
      label,
      draw: (x, y) =>
        [
          line([x(share(count - 2 * sd)), y], [x(share(count + 2 * sd)), y], { stroke: colour.soft, 'stroke-width': 9 }),
          line([x(share(count)), y - 5], [x(share(count)), y + 5], { 'stroke-width': 1.6 }),
          element('circle', { cx: x(share(synthetic[k] ?? 0)), cy: y, r: 4.4, fill: colour.bar }),
        ].join(''),
    };
  });
  const end = Math.max(0.01, ...counts.map((c) => share(c + 2 * sd)), ...synthetic.map(share));
  return rowChart({
    rows,
    label: `${columns[0]}: measured and synthetic shares`,
    width,
    domain: [0, end],
    tickLabel: percentText,
  });
}

const countsOf = ({ singles }: SynthResult['quality'], column: string): readonly number[] =>
  singles.find((own) => own.column === column)?.counts ?? [];

const mostRows = 60;

function tables({ quality }: SynthResult): string {
  const several = quality.tables.filter((t) => t.columns.length > 1);
  const rows = [...(several.length > 0 ? several : quality.tables)].sort((a, b) => b.distance / b.noise - a.distance / a.noise);
  const cells = rows
    .slice(0, mostRows)
    .map(({ columns, cells, distance, noise }) => [
      columns.join(' × '),
      many(cells),
      { text: percentText(distance), over: distance > 2 * noise },
      percentText(noise),
    ]);
  return `<h2>Tables that were measured</h2><section class="card"><p>How many of the rows would have to be in other cells for the synthetic table to be the measured one, and how many noise and the drawing of rows alone account for. Where the first is much larger (coloured), the rows do not follow the table; where both are large, the table was mostly noise.</p>
${htmlTable(['table'], ['cells', 'rows elsewhere', 'from noise and drawing'], cells)}${rows.length > mostRows ? `<p class="small">… and ${rows.length - mostRows} more.</p>` : ''}</section>`;
}

function pairs({ quality }: SynthResult): string {
  const ordered = [...quality.pairs].sort((a, b) => b.measured - a.measured);
  if (ordered.length === 0) return '';
  const strongest = ordered
    .slice(0, 20)
    .map((pair) => [pair.columns.join(' and '), rounded(pair.measured), rounded(pair.synthetic)]);
  return `<h2>How strongly columns go together</h2><div class="two pairs"><section class="card">${fitting((width) => plane(ordered, width), [narrow, half])}</section>
<section class="card"><p class="small">Cramér’s V of pairs that lie in a measured table, over the answers that stand out of the noise: 0 is independent, 1 is one telling the other. What noise adds is taken off.</p>${htmlTable(['pair'], ['measured', 'synthetic'], strongest)}${ordered.length > 20 ? `<p class="small">… and ${ordered.length - 20} weaker pairs in the picture.</p>` : ''}</section></div>`;
}
const rounded = (x: number): string => briefNumber(Math.round(1000 * x) / 1000);

function plane(pairs: readonly PairQuality[], width: number): Drawing {
  const box = { left: 44, right: width - 14, top: 12, bottom: width - 46 };
  const [x, y] = [linear([0, 1], [box.left, box.right]), linear([0, 1], [box.bottom, box.top])];
  return {
    width,
    height: width,
    label: `Association of ${pairs.length} pairs, measured and synthetic; on the diagonal both are the same`,
    body: [
      planeFrame(box, { x: { scale: x, name: 'measured' }, y: { scale: y, name: 'synthetic' } }),
      line([x(0), y(0)], [x(1), y(1)], { stroke: colour.muted, 'stroke-dasharray': '4 4' }),
      ...pairs.map(({ measured, synthetic }) =>
        element('circle', { cx: x(measured), cy: y(synthetic), r: 4.4, fill: colour.bar, 'fill-opacity': 0.7 }),
      ),
    ].join(''),
  };
}

/** Accuracy of a classifier: that claimed by the rows, and the part that measured tables can confirm. */
function predicted({ quality }: SynthResult): string {
  if (quality.predicted.length === 0) return '';
  const row = ({ column, common, claimed, tried }: PredictQuality) =>
    `<tr><td>${safe(column)}</td><td class="n">${percentText(common)}</td><td class="n">${percentText(claimed)}</td>${
      tried
        ? `<td class="rule">${safe(tried.by.join(' and '))}</td><td class="n">${percentText(tried.synthetic)}</td><td class="n${tried.measured + 2 * tried.sd < tried.synthetic || tried.measured - tried.flattered - 2 * tried.sd > tried.synthetic ? ' over' : ''}">${percentText(tried.measured)} ± ${percentText(2 * tried.sd)}</td><td class="n">${percentText(tried.flattered)}</td>`
        : '<td class="small rule">in no table with others</td><td></td><td></td><td></td>'
    }</tr>`;
  return `<h2>A classifier trained on the rows</h2><section class="card"><p>How often a column is predicted rightly: by its most common answer alone; by all other columns (naive Bayes, trained on these rows and tried on others of the same model), which is what the rows <em>claim</em>. No row of the data is here to try it on. What can be tried is the rule by the columns of one table that was paid for: its hits on the rows beside its hits in the noisy table, with twice the deviation. Rows were made of the same noise, so the noisy table flatters the rule, in the mean by no more than the last column; where that is large nothing was tested.</p>
<div class="scroll"><table><thead><tr><th>column</th><th class="n">most common</th><th class="n">by all others, claimed</th><th class="rule">rule by</th><th class="n">on the rows</th><th class="n">in the table</th><th class="n">flattered by up to</th></tr></thead><tbody>${quality.predicted.map(row).join('')}</tbody></table></div></section>`;
}

/** Two members of a household. */
function homes({ households, rows }: SynthResult): string {
  if (!households) return '';
  const members = households.quality.map(({ column, measured, sd, synthetic, strangers }) => [
    column,
    `${percentText(measured)} ± ${percentText(2 * sd)}`,
    { text: percentText(synthetic), over: Math.abs(synthetic - measured) > 3 * sd + 0.02 },
    percentText(strangers),
  ]);
  const tables = households.measured.map(({ columns, sd }) => [columns.join(' × '), rounded(sd)]);
  return `<h2>People of one household</h2><div class="two pairs"><section class="card"><p>${many(households.count)} made-up households (${safe(households.by)}) of ${rounded(rows / households.count)} members in the mean. How often two members say the same, of columns of which that was measured: noisy, with twice its deviation; in the rows; and what it would be among strangers.</p>${htmlTable(['column'], ['measured', 'synthetic', 'strangers'], members)}</section>
<section class="card"><p class="small">Tables of two members that were measured, and the deviation of a cell. Of columns that are in none of them, members of a household are like strangers of the same kind of household.</p>${htmlTable(['table'], ['noise'], tables)}</section></div>`;
}
