import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csvOf } from '../../src/app/report/csv.js';
import { lineChart } from '../../src/app/report/line-chart.js';
import { smallMultiples, standalone } from '../../src/app/report/svg.js';
import { degreeAccuracy } from './degrees.js';
import { readGraphs } from './graphs.js';
import { epsilons, type Measured, measureGraph, mechanisms } from './table1.js';

type Cell = string | number;
const markdown = (rows: readonly (readonly Cell[])[]): string => {
  const line = (cells: readonly Cell[]) => `| ${cells.join(' | ')} |`;
  return [line(rows[0]!), line(rows[0]!.map(() => '---')), ...rows.slice(1).map(line)].join('\n');
};
const short = (x: number): number => Number(x.toPrecision(3));

/** Table 1 of Rastogi et al. 2009 as measured errors, every mechanism, and the accuracy of degree distributions (Liu et al. 2016, VII-B.3). */
export async function run(out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const graphs = readGraphs();
  const report = ['# Relationships: measured errors', ''];
  const measured: Measured[] = [];
  for (const g of graphs) {
    console.error(`${g.name}: ${g.graph.nodes} nodes, ${g.graph.edges} edges`);
    measured.push(...(await measureGraph(g)));
  }
  const rows: Cell[][] = [
    ['graph', 'query', 'count', 'epsilon', 'mechanism', 'median error', 'relative', 'guarantee'],
    ...measured.map((m) => [
      m.graph,
      m.query,
      String(m.count),
      m.epsilon,
      m.mechanism,
      short(m.median),
      short(m.median / Math.max(1, Number(m.count))),
      m.guarantee,
    ]),
  ];
  writeFileSync(join(out, 'table-1.csv'), csvOf(rows));
  for (const epsilon of epsilons) {
    const wide: Cell[][] = [['graph', 'query', 'count', ...mechanisms]];
    const keys = [...new Set(measured.map((m) => `${m.graph}|${m.query}`))];
    for (const key of keys) {
      const mine = measured.filter((m) => `${m.graph}|${m.query}` === key && m.epsilon === epsilon);
      const of = (name: string) => mine.find((m) => m.mechanism === name)?.median;
      wide.push([
        mine[0]!.graph,
        mine[0]!.query,
        String(mine[0]!.count),
        ...mechanisms.map((n) => (of(n) === undefined ? '' : short(of(n)!))),
      ]);
    }
    report.push(`## Median error at epsilon ${epsilon}`, '', markdown(wide), '');
  }
  writeFileSync(join(out, 'triangles.svg'), standalone(trianglePicture(measured)));

  const degrees = degreeAccuracy(graphs);
  writeFileSync(join(out, 'degrees.csv'), csvOf(degrees));
  report.push(
    "## Degree distributions: accuracy 1 - |C - C'| / |C + C'|",
    '',
    markdown(degrees),
    '',
    '![Triangles](triangles.svg)',
    '',
  );
  report.push(
    'Algorithm 2.1 is shown as published (lambda, natural logarithm, directed reading) and corrected (min of lambda and global sensitivity). "Ladder" and "smooth" use the pattern\'s own local sensitivities, "residual" the bound for any join. All errors are medians over draws of the very samplers a release uses.',
    '',
  );
  writeFileSync(join(out, 'README.md'), report.join('\n'));
  console.log(report.join('\n'));
}

/** Few enough lines for a legend in one row. */
const drawn = [
  ['laplace', 'plain'],
  ['ladder', 'ladder'],
  ['smooth', 'smooth'],
  ['residual-ladder', 'residual'],
  ['elastic', 'elastic'],
  ['algorithm-2.1 as published', 'Alg. 2.1'],
] as const;

function trianglePicture(measured: readonly Measured[]) {
  const triangles = measured.filter((m) => m.query === 'triangles');
  const names = [...new Set(triangles.map((m) => m.graph))];
  return smallMultiples(
    names.map((graph) => ({
      caption: graph,
      drawing: lineChart({
        series: drawn
          .map(([name, label]) => ({
            name: label,
            points: triangles
              .filter((m) => m.graph === graph && m.mechanism === name)
              .map((m) => ({ x: m.epsilon, y: Math.max(0.5, m.median) })),
            dashed: name.startsWith('algorithm'),
          }))
          .filter((s) => s.points.length > 0),
        xLabel: 'epsilon',
        yLabel: 'median error of the triangle count',
        label: `Median error by mechanism on ${graph}`,
        logX: true,
        logY: true,
      }),
    })),
    2,
    'Median error of the triangle count by mechanism',
  );
}
