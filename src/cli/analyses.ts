import { planClassify, releaseClassify } from '../learn/classify/classify.js';
import type { ClassifyResult } from '../learn/classify/predict.js';
import { type KmeansResult, planKmeans, releaseKmeans } from '../learn/kmeans/kmeans.js';
import type { Plan } from '../release/plan.js';
import type { Receipt } from '../release/receipt.js';
import type { AskOptions, Session } from '../release/session.js';
import { barChart } from '../report/bar-chart.js';
import { scatterChart } from '../report/scatter-chart.js';
import type { Drawing } from '../report/svg.js';
import { figure, table } from './output.js';
import { patternAsk } from './pattern-analysis.js';
import { readJson } from './read-input.js';

/** A release that is more than a table: asked by its own flag, answered by plain data. */
export interface AnalysisAsk {
  readonly flag: string;
  readonly argument: string;
  readonly description: string;
  /** `words` are the other options of the command line. */
  plan(session: Session, text: string, options: AskOptions, words: Readonly<Record<string, unknown>>): Promise<Plan>;
  release(session: Session, text: string, options: AskOptions, words: Readonly<Record<string, unknown>>): Promise<AnalysisAnswer>;
}

export interface AnalysisAnswer {
  readonly result: unknown;
  readonly receipt: Receipt;
  readonly text: string;
  /** Tables worth a CSV, with a picture where one helps. */
  readonly tables: readonly {
    readonly drawing?: Drawing;
    readonly name: string;
    readonly header: readonly string[];
    readonly rows: readonly (readonly (string | number)[])[];
  }[];
}

const kmeans: AnalysisAsk = {
  flag: 'kmeans',
  argument: '<json>',
  description: 'cluster centres: {"columns": ["x", "y"], "clusters": 8}',
  plan: (session, text, options) => planKmeans(session, readJson(text), options),
  async release(session, text, options) {
    const { result, receipt } = await releaseKmeans(session, readJson(text), options);
    const header = ['cluster', ...result.columns, ...(result.counts ? ['people (noisy)'] : [])];
    const rows = result.centres.map((centre, k) => [`${k + 1}`, ...centre, ...(result.counts ? [result.counts[k]!] : [])]);
    const shown = table(
      header,
      rows.map((row) => row.map((x) => (typeof x === 'number' ? figure(x) : x))),
    );
    return {
      result,
      receipt,
      text: shown,
      tables: [{ name: 'centres', header, rows, ...(result.columns.length === 2 && { drawing: centresDrawing(result) }) }],
    };
  },
};

const centresDrawing = ({ columns, centres, counts }: KmeansResult): Drawing =>
  scatterChart({
    points: centres.map(([x, y], k) => ({ x: x!, y: y!, name: `${k + 1}`, ...(counts && { size: counts[k]! }) })),
    xLabel: columns[0]!,
    yLabel: columns[1]!,
    label: `Centres of ${centres.length} clusters`,
  });

const classify: AnalysisAsk = {
  flag: 'classify',
  argument: '<json>',
  description: 'a linear classifier: {"label": "income", "positive": [">50K"], "features": ["age", "education"]}',
  plan: (session, text, options) => planClassify(session, readJson(text), options),
  async release(session, text, options) {
    const { result, receipt } = await releaseClassify(session, readJson(text), options);
    const weights = [['(intercept)', result.intercept] as const, ...result.weights.map((w) => [termName(w), w.weight] as const)];
    const strongest = weights.toSorted((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const header = ['feature', 'weight'];
    const shown = strongest.slice(0, 20).map(([name, weight]) => [name, figure(weight)]);
    const rest = strongest.length > 20 ? `\n… and ${strongest.length - 20} weaker weights` : '';
    const drawing = barChart({
      bars: strongest.slice(0, 20).map(([label, value]) => ({ label, value, low: null, high: null })),
      label: 'The strongest weights',
      width: 1016,
    });
    return { result, receipt, text: table(header, shown) + rest, tables: [{ name: 'weights', header, rows: weights, drawing }] };
  },
};

const termName = (term: ClassifyResult['weights'][number]): string => {
  if (term.kind === 'level') return `${term.column} = ${term.level}`;
  if (term.kind === 'sign') return `${term.column} = ${term.plus}, not ${term.minus}`;
  return term.kind === 'bin' ? `${term.column} in [${term.from ?? ''}, ${term.to ?? ''})` : term.column;
};

export const analyses: readonly AnalysisAsk[] = [patternAsk, kmeans, classify];
