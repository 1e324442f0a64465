import type { Engine } from '../engine/engine.js';
import { Exact } from '../engine/exact.js';
import { logUp } from '../exact/outward.js';
import { ceiling, divide, fromNumber, multiply, type Rational, rational } from '../exact/rational.js';
import { type Bits, cryptoBits } from '../noise/bits.js';
import { laplaceSampler } from '../noise/discrete-laplace.js';
import { countShape, refuseWide, scalar } from './exact-answer.js';
import { buildGraph, degreeOf, type Graph } from './graph/csr.js';
import { perPerson } from './person-candidates.js';
import type { PatternAnalysis } from './query/analyse.js';
import { compilePattern, compilePerValue } from './query/compile.js';
import { type Ladder, truncationLadder } from './query/ladders.js';
import { domainSize } from './query/lambda.js';
import { larger, smaller } from './query/sensitivity.js';
import { shapeOf } from './query/shape.js';
import { readGraph } from './read-graph.js';

/** The count without people of more than `degree` ties, and the ladder of all ties of one person (pattern/query/ladders.proof.md). */
export async function truncated(
  engine: Engine,
  a: PatternAnalysis,
  degree: number,
): Promise<Exact<{ count: bigint; ladder: Ladder }>> {
  const relation = a.pattern.relations.find((r) => r.private)!;
  const graph = (await readGraph(engine, relation.name)).open();
  const shape = shapeOf(a.pattern);
  if (!shape) refuseWide(a);
  const count = shape
    ? (countShape(withoutHubs(graph, degree), shape) * BigInt(a.automorphisms.count)) / a.divisor
    : (await scalar(engine, compilePattern(a.pattern, engine.dialect, degree))) / a.divisor;
  return new Exact({ count, ladder: personLadder(graph, perPerson(a, degree), degree, domainSize(a.pattern)) });
}

export function personLadder(graph: Graph, each: bigint, degree: number, people: number): Ladder {
  const many = new Map<number, number>([[0, people - graph.nodes]]);
  for (let v = 0; v < graph.nodes; v++) many.set(degreeOf(graph, v), (many.get(degreeOf(graph, v)) ?? 0) + 1);
  const near = (t: number): number => {
    let total = 0;
    for (const [d, people] of many) if (d >= degree - t && d <= degree + 1 + t) total += people;
    return total;
  };
  return truncationLadder(each, near, people);
}

export function withoutHubs(g: Graph, degree: number): Graph {
  const from: number[] = [];
  const to: number[] = [];
  for (let v = 0; v < g.nodes; v++) {
    if (degreeOf(g, v) > degree) continue;
    for (let e = g.forward[v]!; e < g.offsets[v + 1]!; e++)
      if (degreeOf(g, g.targets[e]!) <= degree) {
        from.push(v);
        to.push(g.targets[e]!);
      }
  }
  return buildGraph(g.nodes, Uint32Array.from(from), Uint32Array.from(to));
}

/** How many results belong to each person, when each result belongs to exactly one. */
export async function contributions(engine: Engine, a: PatternAnalysis, person: number): Promise<Exact<readonly bigint[]>> {
  const rows = (await engine.rows(compilePerValue(a.pattern, person, engine.dialect))).open();
  return new Exact(rows.map(([c]) => BigInt(typeof c === 'number' ? Math.trunc(c) : (c ?? 0))));
}

/** Chance that the race ends above the truth. */
const overshoot = rational(1, 20);

/**
 * Race to the top (Dong et al. 2022) with one person per result: Q(tau) = sum of min(tau, contribution), which one person moves by at most tau. Every level gets
 * the same part of epsilon, is lowered by what its noise may add, and the largest is taken; see person.proof.md.
 */
export function raceToTheTop(list: readonly bigint[], largest: bigint, epsilon: Rational, bits: Bits = cryptoBits): bigint {
  const levels = Math.max(1, largest.toString(2).length);
  const each = divide(epsilon, rational(levels));
  const allowance = fromNumber(logUp(Math.ceil(levels / (Number(overshoot.num) / Number(overshoot.den)))));
  let best = 0n;
  for (let i = 1; i <= levels; i++) {
    const tau = 1n << BigInt(i);
    const scale = divide(rational(tau), each);
    const cut = list.reduce((sum, c) => sum + smaller(c, tau), 0n);
    best = larger(best, cut + laplaceSampler(scale, bits)() - ceiling(multiply(scale, allowance)));
  }
  return best;
}
