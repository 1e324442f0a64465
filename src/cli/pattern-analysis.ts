import { Fault } from '../errors.js';
import type { PatternMechanism } from '../pattern/candidates.js';
import { planClustering, releaseClustering } from '../pattern/clustering.js';
import { type DegreeOptions, degreeRelation, planDegrees, releaseDegrees } from '../pattern/degrees/release.js';
import type { PatternOptions } from '../pattern/prepare.js';
import { isClusteringCoefficient } from '../pattern/query/shortcut.js';
import { planPattern, releasePattern } from '../pattern/release.js';
import type { AskOptions, Session } from '../release/session.js';
import type { AnalysisAnswer, AnalysisAsk } from './analyses.js';
import { figure, table } from './output.js';

type Words = Readonly<Record<string, unknown>>;

/** Counts over relations: written patterns, shortcuts, SQL with joins, degree distributions and the clustering coefficient. */
export const patternAsk: AnalysisAsk = {
  flag: 'pattern',
  argument: '<query>',
  description: "a count over relations: triangles, degrees, 2-paths from 'v', or 'q(x,y) :- friend(x,y), friend(y,x), x != y'",
  async plan(session, text, options, words) {
    const degrees = degreeRelation(text);
    if (degrees) return planDegrees(session, degreeOptions(options, words, degrees.relation));
    const asked = patternOptions(options, words);
    return isClusteringCoefficient(text) ? planClustering(session, text, asked) : planPattern(session, text, asked);
  },
  async release(session, text, options, words) {
    const degrees = degreeRelation(text);
    if (degrees) return releaseDegreeTable(session, degreeOptions(options, words, degrees.relation));
    if (isClusteringCoefficient(text)) return releaseCoefficient(session, text, patternOptions(options, words));
    const { result, receipt } = await releasePattern(session, text, patternOptions(options, words));
    return answer(
      'pattern',
      ['pattern', result.unit, 'mechanism', 'expected error'],
      [[result.query, result.value, result.mechanism, figure(result.expectedError)]],
      { result, receipt },
    );
  },
};

async function releaseDegreeTable(session: Session, options: DegreeOptions): Promise<AnalysisAnswer> {
  const { result, receipt } = await releaseDegrees(session, options);
  const last = result.counts.length - 1;
  return answer(
    `degrees of ${result.relation}`,
    ['ties', 'people'],
    result.counts.map((c, d) => [d === last ? `${d} or more` : `${d}`, c]),
    { result, receipt },
  );
}

async function releaseCoefficient(session: Session, text: string, options: PatternOptions): Promise<AnalysisAnswer> {
  const { result, receipt } = await releaseClustering(session, text, options);
  const rows = [
    ['clustering coefficient', result.value === null ? '-' : figure(result.value)],
    ['triangles', result.triangles.value],
    ['2-paths', result.paths.value],
  ];
  return answer('clustering coefficient', ['', 'value'], rows, { result, receipt });
}

const answer = (
  name: string,
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  released: Pick<AnalysisAnswer, 'result' | 'receipt'>,
): AnalysisAnswer => ({
  ...released,
  text: table(
    header,
    rows.map((r) => r.map(String)),
  ),
  tables: [{ name, header, rows }],
});

function patternOptions(options: AskOptions, { gamma, mechanism, degree }: Words): PatternOptions {
  return {
    ...options,
    ...(typeof gamma === 'string' && { gamma }),
    ...(typeof mechanism === 'string' && { mechanism: mechanism as PatternMechanism }),
    ...(typeof degree === 'string' && { degree: wholeNumber(degree) }),
  };
}

function degreeOptions(options: AskOptions, { form, degree }: Words, relation: string | undefined): DegreeOptions {
  if (form !== undefined && form !== 'cumulative' && form !== 'sequence' && form !== 'histogram')
    throw new Fault('USAGE', 'The form is cumulative, sequence or histogram.', 'Leave --form out for cumulative.');
  return {
    ...options,
    ...(relation !== undefined && { relation }),
    ...(form !== undefined && { form }),
    ...(typeof degree === 'string' && { degree: wholeNumber(degree) }),
  };
}

function wholeNumber(text: string): number {
  const n = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (n < 1) throw new Fault('USAGE', 'The degree must be a whole number of at least 1.', 'Write for example --degree 100.');
  return n;
}
