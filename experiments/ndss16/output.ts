import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { type LineSeries, lineChart } from '../../src/app/report/line-chart.js';
import { type Drawing, standalone } from '../../src/app/report/svg.js';

export type Cell = string | number;
export type Rows = readonly (readonly Cell[])[];

export const short = (x: number): number => (Number.isFinite(x) ? Number(x.toPrecision(4)) : x);

/** CSV and SVG of one figure, and its paragraph in the README. */
export class Book {
  readonly #out: string;
  readonly #lines: string[] = [];
  constructor(out: string) {
    this.#out = out;
  }
  say(...lines: string[]): void {
    this.#lines.push(...lines, '');
  }
  table(name: string, rows: Rows): void {
    writeFileSync(join(this.#out, `${name}.csv`), csvOf(rows));
    const line = (cells: readonly Cell[]) => `| ${cells.join(' | ')} |`;
    this.#lines.push(line(rows[0]!), line(rows[0]!.map(() => '---')), ...rows.slice(1).map(line), '');
  }
  figure(name: string, drawing: Drawing, rows: Rows): void {
    writeFileSync(join(this.#out, `${name}.csv`), csvOf(rows));
    writeFileSync(join(this.#out, `${name}.svg`), standalone(drawing));
    this.#lines.push(`![${drawing.label}](${name}.svg)`, '');
  }
  /** Lines over one axis, with their numbers as a CSV in long form. */
  lines(
    name: string,
    series: readonly LineSeries[],
    axes: { x: string; y: string; label: string; logY?: boolean; percent?: boolean },
  ): void {
    const drawing = lineChart({
      series,
      xLabel: axes.x,
      yLabel: axes.y,
      label: axes.label,
      width: 900,
      height: 380,
      ...(axes.logY && { logY: true }),
      ...(axes.percent && { percentY: true, yDomain: [0, 1] as const }),
    });
    this.figure(name, drawing, [
      ['line', axes.x, axes.y, 'low', 'high'],
      ...series.flatMap((s) =>
        s.points.map((p) => [
          s.name,
          p.x,
          short(p.y),
          p.low === undefined ? '' : short(p.low),
          p.high === undefined ? '' : short(p.high),
        ]),
      ),
    ]);
  }
  close(): string {
    const text = `${this.#lines.join('\n').trimEnd()}\n`;
    writeFileSync(join(this.#out, 'README.md'), text);
    return text;
  }
}
