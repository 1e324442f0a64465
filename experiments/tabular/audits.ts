import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barChart } from '../../src/app/report/bar-chart.js';
import { type Drawing, smallMultiples, standalone } from '../../src/app/report/svg.js';
import { auditSubSurveys, subSurveys } from '../../src/evaluate/attack/survey/audit.js';
import { attackHeldOut } from '../../src/evaluate/attack/survey/survey.js';
import { mechanisms, type Prepared } from './mechanisms.js';
import { type Row, save } from './save.js';

/** Exact loss on sub-surveys, and the whole-survey attack, for every pure mechanism in the figures. */
export function audits(out: string, surveys: readonly Prepared[]): void {
  const rows: Row[] = [];
  for (const survey of surveys)
    for (const mechanism of mechanisms) {
      if (!mechanism.small) continue;
      const base = mechanism.grouped ? survey.pooled : survey.table;
      const found = auditSubSurveys(subSurveys(base, 60), 1, mechanism.small);
      const losses = found.map((a) => a.loss).sort((a, b) => a - b);
      const drawn = mechanism.draw(survey, 1, 10);
      const whole = attackHeldOut(
        base,
        base.names.map((name) => 2 / drawn.scales[survey.table.names.indexOf(name)]!),
        { pairs: 12, sweeps: 3 },
      );
      rows.push([
        survey.year,
        mechanism.name,
        mechanism.certified ? 'certified' : 'as published',
        found.length,
        found.filter((a) => a.loss > 1 + 1e-9).length,
        losses[Math.floor(losses.length / 2)]!,
        losses.at(-1)!,
        whole.inSample.loss,
        whole.heldOut,
      ]);
    }
  const broken = (year: string): Drawing =>
    barChart({
      label: `Sub-surveys in which an attacker gains more than epsilon, ANES ${year}`,
      width: 560,
      domain: [0, 60],
      bars: rows
        .filter((r) => r[0] === year)
        .map((r) => ({ label: String(r[1]), value: Number(r[4]), low: null, high: null, quiet: r[2] === 'as published' })),
    });
  writeFileSync(join(out, 'guide-audit.svg'), standalone(broken(surveys.at(-1)!.year)));
  save(
    out,
    'audit',
    [
      'survey',
      'mechanism',
      'label',
      'sub-surveys',
      'broken',
      'median loss/epsilon',
      'worst',
      'whole survey, in sample',
      'held out',
    ],
    rows,
    smallMultiples(
      surveys.map(({ year }) => ({ caption: `ANES ${year}: broken sub-surveys of 60`, drawing: broken(year) })),
      2,
      'Exact audits of 60 sub-surveys at epsilon 1',
    ),
  );
  for (const row of rows.filter((r) => r[2] === 'certified'))
    console.log(
      `${row[0]} ${row[1]}: ${row[4]} of ${row[3]} sub-surveys broken, worst ${Number(row[6]).toFixed(3)}; whole survey ${Number(row[7]).toFixed(2)} / ${Number(row[8]).toFixed(2)}`,
    );
}
