import type { ClassifyResult } from '../../analysis/learn/classify/predict.js';
import type { KmeansResult } from '../../analysis/learn/kmeans/kmeans.js';
import type { ClusteringResult } from '../../analysis/pattern/clustering.js';
import type { DegreeResult } from '../../analysis/pattern/degrees/release.js';
import type { AnyAnswer } from '../api/kinds.js';
import { intervalChart } from './interval-chart.js';
import { scatterChart } from './scatter-chart.js';
import type { Drawing } from './svg.js';
import { numberText, table } from './terminal-text.js';

/** Table for a CSV, with a picture where one helps. */
export interface ResultTable {
  readonly name: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  readonly drawing?: (width: number) => Drawing;
}

/** Answer that is more than tables of counts. */
export type ResultAnswer = Extract<AnyAnswer, { readonly result: unknown }>;

/** Answer as text for people, and its tables. */
export function showResult({ result }: ResultAnswer): { readonly text: string; readonly tables: readonly ResultTable[] } {
  if ('centres' in result) return centres(result);
  if ('weights' in result) return weights(result);
  if ('counts' in result) return one(`degrees of ${result.relation}`, ['ties', 'people'], degreeRows(result));
  if ('triangles' in result) return one('clustering coefficient', ['', 'value'], coefficientRows(result));
  if ('expectedError' in result)
    return one(
      'pattern',
      ['pattern', result.unit, 'mechanism', 'expected error'],
      [[result.query, result.value, result.mechanism, numberText(result.expectedError)]],
    );
  // A result without tables of its own is shown as JSON.
  return { text: JSON.stringify(result, null, 2), tables: [] };
}

const one = (name: string, header: readonly string[], rows: ResultTable['rows']) => ({
  text: table(
    header,
    rows.map((r) => r.map(String)),
  ),
  tables: [{ name, header, rows }],
});

const degreeRows = ({ counts }: DegreeResult): ResultTable['rows'] =>
  counts.map((c, d) => [d === counts.length - 1 ? `${d} or more` : `${d}`, c]);

const coefficientRows = ({ value, triangles, paths }: ClusteringResult): ResultTable['rows'] => [
  ['clustering coefficient', value === null ? '-' : numberText(value)],
  ['triangles', triangles.value],
  ['2-paths', paths.value],
];

function centres(result: KmeansResult) {
  const header = ['cluster', ...result.columns, ...(result.counts ? ['people (noisy)'] : [])];
  const rows = result.centres.map((centre, k) => [`${k + 1}`, ...centre, ...(result.counts ? [result.counts[k]!] : [])]);
  const text = table(
    header,
    rows.map((row) => row.map((x) => (typeof x === 'number' ? numberText(x) : x))),
  );
  const drawing = result.columns.length === 2 && { drawing: (width: number) => centresDrawing(result, width) };
  return { text, tables: [{ name: 'centres', header, rows, ...drawing }] };
}

const centresDrawing = ({ columns, centres, counts }: KmeansResult, width: number): Drawing =>
  scatterChart({
    points: centres.map(([x, y], k) => ({ x: x!, y: y!, name: `${k + 1}`, ...(counts && { size: counts[k]! }) })),
    xLabel: columns[0]!,
    yLabel: columns[1]!,
    label: `Centres of ${centres.length} clusters`,
    width: Math.min(width, 640),
  });

function weights(result: ClassifyResult) {
  const [low, high] = result.interceptInterval ?? [null, null];
  const terms = [
    { name: '(intercept)', weight: result.intercept, low, high },
    ...result.weights.map((w) => ({
      name: termName(w),
      weight: w.weight,
      low: w.interval?.[0] ?? null,
      high: w.interval?.[1] ?? null,
    })),
  ];
  const known = result.interceptInterval !== undefined;
  const strongest = terms.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const header = ['feature', 'weight', ...(known ? ['95 % interval'] : [])];
  const shown = strongest
    .slice(0, 20)
    .map((w) => [w.name, numberText(w.weight), ...(known ? [`${numberText(w.low!)} … ${numberText(w.high!)}`] : [])]);
  const rest = strongest.length > 20 ? `\n… and ${strongest.length - 20} weaker weights` : '';
  const drawing = (width: number): Drawing =>
    intervalChart({
      marks: strongest.slice(0, 20).map(({ name, weight, low, high }) => ({ label: name, value: weight, low, high })),
      label: 'The strongest weights',
      width,
    });
  const rows = terms.map((w) => [w.name, w.weight, ...(known ? [w.low!, w.high!] : [])]);
  return {
    text: `${table(header, shown)}${rest}\n${result.intervals}`,
    tables: [{ name: 'weights', header: ['feature', 'weight', ...(known ? ['low', 'high'] : [])], rows, drawing }],
  };
}

const termName = (term: ClassifyResult['weights'][number]): string => {
  if (term.kind === 'level') return `${term.column} = ${term.level}`;
  if (term.kind === 'sign') return `${term.column} = ${term.plus}, not ${term.minus}`;
  return term.kind === 'bin' ? `${term.column} in [${term.from ?? ''}, ${term.to ?? ''})` : term.column;
};
