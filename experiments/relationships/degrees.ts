import {
  accuracy,
  cumulate,
  fromCumulative,
  personDegreeSensitivity,
  tieDegreeSensitivity,
} from '../../src/analysis/pattern/degrees/distribution.js';
import { degreeCounts, projectedDegrees } from '../../src/analysis/pattern/degrees/projection.js';
import { degreeOf } from '../../src/analysis/pattern/graph/csr.js';
import { parseRational, type Rational } from '../../src/base/exact/rational.js';
import { tupleLeakage } from '../../src/data/ties/tuples.js';
import { largestBelow } from '../../src/privacy/dependence/largest-below.js';
import { isotonic } from '../../src/privacy/mechanism/ordered/isotonic.js';
import { drawDegrees } from './draw-degrees.js';
import type { NamedGraph } from './graphs.js';

const epsilons = ['0.1', '1', '10'];
const rounds = 9;
const theta = 50;
/** Ties that depend on twenty others with an odds ratio of 1.1: friends of friends become friends. */
const ties = { logOdds: Math.log(1.1), ties: 20, reach: 'any' } as const;

/** Mean accuracy of every form, over repeated draws; the last column is the cost of dependence between ties. */
export function degreeAccuracy(graphs: readonly NamedGraph[]): (string | number)[][] {
  const rows: (string | number)[][] = [
    [
      'graph',
      'epsilon',
      'histogram',
      'histogram, clipped',
      'histogram, cumulated and ordered',
      'sequence, ordered',
      'cumulative, ordered',
      `cumulative, person (theta ${theta})`,
      'cumulative, tied ties',
    ],
  ];
  for (const { name, graph, edges } of graphs) {
    const degrees = Array.from({ length: graph.nodes }, (_, v) => degreeOf(graph, v));
    const last = Math.min(graph.nodes - 1, 1000);
    const exact = degreeCounts(degrees, graph.nodes, last);
    const projected = degreeCounts(projectedDegrees(graph.nodes, inFixedOrder(edges), theta), graph.nodes, theta);
    for (const text of epsilons) {
      const epsilon = parseRational(text);
      const base: Rational = largestBelow((b) => tupleLeakage(b, ties), Number(text), Number(text));
      const mean = (make: () => readonly number[]) => {
        let total = 0;
        for (let i = 0; i < rounds; i++) total += accuracy(exact, make());
        return Number((total / rounds).toFixed(3));
      };
      const raw = () => drawDegrees(exact, 'histogram', tieDegreeSensitivity(true), epsilon);
      rows.push([
        name,
        text,
        mean(raw),
        mean(() => raw().map((x) => Math.max(0, x))),
        mean(() => fromCumulative(isotonic(cumulate(raw()).slice(0, -1)), graph.nodes)),
        mean(() => drawDegrees(exact, 'sequence', tieDegreeSensitivity(true), epsilon)),
        mean(() => drawDegrees(exact, 'cumulative', tieDegreeSensitivity(true), epsilon)),
        mean(() => drawDegrees(projected, 'cumulative', personDegreeSensitivity(theta), epsilon)),
        mean(() => drawDegrees(exact, 'cumulative', tieDegreeSensitivity(true), base)),
      ]);
    }
  }
  return rows;
}

/** Each tie once, in an order that depends on its own two ends only. */
function inFixedOrder(edges: NamedGraph['edges']): readonly (readonly [number, number])[] {
  const spread = ([a, b]: readonly [number, number]) => (Math.imul(a + 1, 0x9e3779b1) ^ Math.imul(b + 1, 0x85ebca6b)) >>> 0;
  const once = new Map(edges.map(([a, b]) => (a < b ? ([a, b] as const) : ([b, a] as const))).map((e) => [e.join(), e] as const));
  return [...once.values()].sort((x, y) => spread(x) - spread(y) || x[0] - y[0] || x[1] - y[1]);
}
