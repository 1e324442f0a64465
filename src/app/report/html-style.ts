/** One sheet, no imports: system fonts, light and dark, paper. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f6f4ef; --card: #ffffff; --ink: #16232e; --muted: #566773; --rule: #e0e5e7;
  --bar: #1f6f8b; --bar-soft: #c4dce4; --accent: #cf5f22; --accent-soft: #fbeee5; --good: #2d7a4b; --good-soft: #e6f2ea;
  --warn: #8a5a00; --warn-soft: #fbf1da;
  --s1: #1f6f8b; --s2: #cf5f22; --s3: #6d5bae; --s4: #3f8f52; --s5: #b0872b; --s6: #a3456f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e151b; --card: #162029; --ink: #e8eef2; --muted: #9cadb9; --rule: #2a3843;
    --bar: #58b0cb; --bar-soft: #35505d; --accent: #f0935a; --accent-soft: #33241b; --good: #7cc796; --good-soft: #1a2e22;
    --warn: #e3b75f; --warn-soft: #302714;
    --s1: #58b0cb; --s2: #f0935a; --s3: #a696e0; --s4: #7cc796; --s5: #d9b45b; --s6: #dd86ad;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main, header > div, footer { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
header { background: var(--card); border-bottom: 1px solid var(--rule); }
header > div { padding-top: 34px; padding-bottom: 30px; display: flex; gap: 22px; align-items: flex-start; }
header .mark { flex: none; width: 58px; height: 58px; }
h1 { font-size: 31px; line-height: 1.18; margin: 0 0 6px; letter-spacing: -0.015em; text-wrap: balance; }
h2 { font-size: 21px; margin: 46px 0 14px; letter-spacing: -0.01em; }
h3 { font-size: 15.5px; margin: 0; line-height: 1.35; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 68ch; }
.sub { color: var(--muted); margin: 0; }
.badge { display: inline-block; padding: 1px 10px; border-radius: 99px; font-size: 13px; font-weight: 600; vertical-align: 2px; }
.badge.good { color: var(--good); background: var(--good-soft); }
.badge.warn { color: var(--warn); background: var(--warn-soft); }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 20px 22px; margin: 0; min-width: 0; }
.promise { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 18px; align-items: stretch; }
.promise .lead { font-size: 18px; line-height: 1.5; }
.promise ul { margin: 0; padding-left: 18px; }
.promise li { margin-bottom: 6px; }
.assume { border-left: 3px solid var(--accent); padding: 2px 0 2px 14px; margin: 16px 0 0; }
.assume b, .crowds b { font-weight: 650; }
.label { font-size: 12.5px; font-weight: 650; color: var(--muted); text-transform: uppercase; letter-spacing: 0.05em; margin: 0 0 8px; }
.crowds { display: grid; grid-template-columns: 1fr auto 1fr; gap: 12px; align-items: start; justify-items: center; margin: 12px 0 14px; text-align: center; }
.crowds .arrow { color: var(--muted); font-size: 26px; line-height: 150px; }
.crowds p { margin: 10px 0 0; font-size: 14px; line-height: 1.4; }
.crowds b { display: block; font-size: 19px; color: var(--accent); font-variant-numeric: tabular-nums; }
.small { font-size: 14px; color: var(--muted); }
.card.below { margin-top: 18px; }
.two { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 18px; margin-top: 18px; }
.meter { height: 14px; border-radius: 7px; background: var(--rule); overflow: hidden; display: flex; margin: 6px 0 8px; }
.meter i { background: var(--accent); display: block; min-width: 2px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 6px 10px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; color: var(--muted); }
td.n, th.n { text-align: right; padding-right: 0; padding-left: 10px; }
td.over { color: var(--accent); font-weight: 650; }
tr:last-child td { border-bottom: 0; }
.answers { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 18px; }
.answers.one { grid-template-columns: minmax(0, 1fr); }
.answers .wide { grid-column: 1 / -1; }
.answers figcaption { margin-bottom: 10px; }
.answers .note { font-size: 14px; color: var(--muted); margin: 2px 0 0; line-height: 1.4; }
.doubt { font-size: 14px; color: var(--warn); background: var(--warn-soft); border-radius: 6px; padding: 4px 10px; margin: 8px 0 0; line-height: 1.4; max-width: none; }
.banner { background: var(--warn-soft); color: var(--warn); padding: 12px 18px; border-radius: 12px; margin-top: 24px; font-weight: 600; max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; font-size: 14px; color: var(--muted); margin: 0 0 14px; max-width: none; }
h2 + .doubt, nav + .doubt { margin: 0 0 14px; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 14px 26px; }
.panels h4 { font-size: 13.5px; margin: 0 0 2px; }
.tile { font-size: 42px; font-weight: 680; letter-spacing: -0.02em; line-height: 1.1; font-variant-numeric: tabular-nums; }
.tile small { font-size: 18px; font-weight: 500; color: var(--muted); letter-spacing: 0; }
svg.chart { display: block; max-width: 100%; height: auto; font-family: inherit; }
/* One drawing per width (svg.ts): the widest where a browser knows no containers. */
.fit { container-type: inline-size; }
.fit svg.chart { width: 100%; }
.fit2 > .at0, .fit3 > .at0, .fit3 > .at1 { display: none; }
@container (max-width: 419px) { .fit2 > .at1, .fit3 > .at2 { display: none; } .fit > svg.at0 { display: block; } }
@container (min-width: 420px) and (max-width: 819px) { .fit3 > .at2 { display: none; } .fit3 > svg.at1 { display: block; } }
svg .figure { font-variant-numeric: tabular-nums; }
.crowds svg.chart { margin: 0 auto; }
details { margin-top: 10px; font-size: 14px; overflow-x: auto; }
summary { cursor: pointer; color: var(--muted); }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; border-radius: 3px; }
.index { columns: 6 160px; column-gap: 22px; list-style: none; padding: 0; margin: 0; font-size: 14px; }
.index li { break-inside: avoid; padding: 2px 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
a { color: var(--bar); text-decoration: none; }
a:hover { text-decoration: underline; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 6px 22px; margin: 0; font-size: 14px; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
footer { color: var(--muted); font-size: 14px; padding-top: 26px; padding-bottom: 44px; }
@media (max-width: 820px) {
  .promise, .two { grid-template-columns: minmax(0, 1fr); }
  main, header > div, footer { padding-left: 16px; padding-right: 16px; }
  h1 { font-size: 25px; }
  header .mark { width: 44px; height: 44px; }
  td:first-child { min-width: 8.5em; }
}
@media (max-width: 520px) {
  .card:has(> table) { overflow-x: auto; }
  details table { font-size: 12.5px; }
  details th, details td { padding-right: 6px; }
  details td.n, details th.n { padding-left: 6px; }
  details td:first-child { min-width: 5.5em; overflow-wrap: anywhere; }
}
@media print {
  :root { --page: #fff; --card: #fff; --ink: #111; --muted: #444; --rule: #ccc; }
  body { font-size: 11pt; }
  .card, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  main, header > div, footer { max-width: none; padding-left: 0; padding-right: 0; }
  .answers { grid-template-columns: 1fr 1fr; gap: 10px; }
  .answers.one { grid-template-columns: 1fr; }
  details:not([open]), .index { display: none; }
  a { color: inherit; }
}
`;
