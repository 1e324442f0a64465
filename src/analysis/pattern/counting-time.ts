import { Fault } from '../../base/errors.js';
import type { EngineLimits } from '../../data/engine/engine.js';
import type { Relation } from '../../policy/policy.js';
import type { ExecutionPlan } from '../../query/count/count.js';
import { residualPartsCounted } from './pattern-ladder.js';
import type { PatternAnalysis } from './query/analyse.js';
import { rowsJoined } from './query/compile.js';
import { domainSize } from './query/lambda.js';
import { type SubgraphShape, subgraphShape } from './query/shape.js';
import { bytesPerTie } from './read-graph.js';
import type { PatternMechanism } from './strategies/strategies.js';

/** Expected time of counting, from public facts alone: the pattern, the declared domain and the public guess of the most ties. */
export interface CountingWork {
  /** Rows that joins make, or steps of a count in the graph. */
  readonly steps: number;
  readonly seconds: number;
  /** The assumed degree: more ties take longer. */
  readonly degree: number;
}

/** Rows per second of a join with tests and groups on a slow machine; steps per second of a count in memory. */
const rowsPerSecond = 2e7;
const stepsPerSecond = 1e8;

export function countingWork(a: PatternAnalysis, mechanism: PatternMechanism, degree: number): CountingWork {
  const shape = subgraphShape(a.pattern);
  const joins = [...(shape ? [] : [[...a.pattern.goals.keys()]]), ...partsCounted(a, mechanism)];
  const rows = joins.reduce((sum, part) => sum + rowsJoined(a.pattern, part, degree), 0);
  const counted = shape ? shapeSteps(shape, domainSize(a.pattern), degree) : 0;
  return { steps: rows + counted, seconds: rows / rowsPerSecond + counted / stepsPerSecond, degree };
}

/** Goals of the statements besides the answer itself. */
const partsCounted = ({ pattern }: PatternAnalysis, mechanism: PatternMechanism): readonly (readonly number[])[] =>
  mechanism === 'residual-ladder' || mechanism === 'residual-smooth' ? residualPartsCounted(pattern) : [];

/** Cliques choose k - 1 neighbours in order; cycles, diamonds and ladders visit pairs of neighbours; stars visit degrees. */
function shapeSteps(shape: SubgraphShape, n: number, degree: number): number {
  const d = Math.min(degree, n - 1);
  const pairs = n * d * d;
  if (shape.kind === 'edge' || shape.kind === 'star') return n * d;
  if (shape.kind !== 'clique') return 2 * pairs;
  let [steps, chosen] = [n, 1];
  for (let k = 1; k < shape.k; k++) chosen *= d / k;
  steps *= chosen;
  return 2 * pairs + steps;
}

/** Refuses counts beyond the deadline, before anything is spent. */
export function refuseTooLong(work: CountingWork, limits: Pick<EngineLimits, 'deadline'>): void {
  const endless = endlessFault(work, limits);
  if (endless) throw endless;
}

/** Refusal of a release whose counting would not end in time. */
export function endlessFault({ seconds, degree }: CountingWork, { deadline }: Pick<EngineLimits, 'deadline'>): Fault | undefined {
  if (seconds * 1000 <= deadline) return undefined;
  return new Fault(
    'QUERY_UNSUPPORTED',
    `Counting would take about ${duration(seconds)} where people have ${degree} ties; the deadline is ${duration(deadline / 1000)}.`,
    'Give a smaller public "degree" if nobody has so many ties, name another mechanism, ask for a smaller pattern, or raise FUGU_DEADLINE.',
    { details: { seconds: Math.round(seconds), deadline: deadline / 1000 } },
  );
}

/** Counting time in a plan. `most` is the same for a complete graph. */
export function workText(work: CountingWork, most: CountingWork, { deadline }: Pick<EngineLimits, 'deadline'>): string {
  const limit = duration(deadline / 1000);
  if (work.seconds * 1000 > deadline)
    return `Counting would take about ${duration(work.seconds)} where people have ${work.degree} ties; the deadline is ${limit}: a release is refused.`;
  const typical = `Counting takes about ${duration(work.seconds)} where nobody has more than ${work.degree} ties.`;
  return most.seconds * 1000 <= deadline
    ? typical
    : `${typical} With more ties it may not end within the deadline of ${limit}; what it costs would then be spent.`;
}

/**
 * Execution of a pattern: a known shape is counted in the graph in memory, any other as a join in the database. It depends on the
 * pattern alone.
 */
export function patternExecution(a: PatternAnalysis, mechanism: PatternMechanism, memoryLimit: number): ExecutionPlan {
  const { relations } = a.pattern;
  if (subgraphShape(a.pattern)) return graphInMemory(relations[0]!, memoryLimit);
  // One statement counts the values of each relation.
  const statements = 1 + relations.length + partsCounted(a, mechanism).length;
  const each = mechanism === 'r2t' ? Math.max(...relations.map(({ domain }) => domain)) : 1;
  const database = { statements, rows: statements - 1 + each };
  if (mechanism !== 'truncation-ladder') return { where: 'database', database };
  return { ...graphInMemory(relations.find((r) => r.private)!, memoryLimit), database };
}

export const graphInMemory = ({ columns }: Relation, memoryLimit: number): ExecutionPlan => ({
  where: 'here',
  streamed: { columns },
  held: { upTo: Math.floor(memoryLimit / bytesPerTie) },
});

function duration(seconds: number): string {
  if (seconds < 1) return '1 second';
  if (seconds < 120) return `${Math.ceil(seconds)} seconds`;
  if (seconds < 7200) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds < 1e9 ? `${Math.ceil(seconds / 3600).toLocaleString('en-US')} hours` : 'many years';
}
