import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patternCandidates } from '../../src/analysis/pattern/candidates.js';
import { countShape, exactAnswer } from '../../src/analysis/pattern/exact-answer.js';
import { degreeOf } from '../../src/analysis/pattern/graph/csr.js';
import { hasShapeLadder, readResidualLadder, shapeLadder } from '../../src/analysis/pattern/pattern-ladder.js';
import { analysePatternText, type PatternAnalysis, schemaFromText } from '../../src/analysis/pattern/query/analyse.js';
import type { SensitivityLadder } from '../../src/analysis/pattern/query/ladders.js';
import { coin } from '../../src/analysis/pattern/query/lambda.js';
import { subgraphShape } from '../../src/analysis/pattern/query/shape.js';
import { adversarialGuarantee, approximateGuarantee, pureGuarantee } from '../../src/analysis/pattern/strategies/strategy.js';
import { divide, parseRational, type Rational, rational, toNumber } from '../../src/base/exact/rational.js';
import type { Snapshot } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { smoothDistribution, smoothScale } from '../../src/privacy/mechanism/smooth-sensitivity.js';
import { bernoulli } from '../../src/privacy/noise/bernoulli.js';
import { laplaceSampler } from '../../src/privacy/noise/discrete-laplace.js';
import { ladderSampler } from '../../src/privacy/noise/ladder.js';
import { quarticSampler } from '../../src/privacy/noise/quartic.js';
import { uniformBelow } from '../../src/privacy/noise/uniform.js';
import type { NamedGraph } from './graphs.js';

export const epsilons = [0.1, 1, 10] as const;
export const mechanisms = [
  'laplace',
  'ladder',
  'smooth',
  'residual-ladder',
  'residual-smooth',
  'elastic',
  'algorithm-2.1',
  'algorithm-2.1 as published',
] as const;
export type Mechanism = (typeof mechanisms)[number];

export interface Measured {
  readonly graph: string;
  readonly query: string;
  readonly count: bigint;
  readonly epsilon: number;
  readonly mechanism: Mechanism;
  readonly median: number;
  readonly guarantee: string;
}

const draws = 301;
const gamma = rational(1, 10);
/** Joins whose grouped parts stay within seconds on every graph here; 4-cycles are bounded on the smaller ones only. */
const light = new Set(['triangles', '2-paths']);
const fewEdges = 20_000;

export async function measureGraph(g: NamedGraph): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-relationships-'));
  const table = join(folder, 'edges.csv');
  writeFileSync(table, `a,b\n${g.edges.map(([a, b]) => `n${a},n${b}`).join('\n')}\n`);
  const engine = await openEngine({
    source: table,
    relations: [{ name: 'R', table, columns: ['a', 'b'], symmetric: true }],
    codes: new Set(),
  });
  try {
    const all: Measured[] = [];
    for (const query of ['triangles', '2-paths', '4-cycles', '4-cliques', '2-triangles'])
      all.push(...(await shapeErrors(g, await engine.snapshot(), query)));
    return [...all, ...(await walkErrors(g, await engine.snapshot()))];
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function shapeErrors(g: NamedGraph, engine: Snapshot, query: string): Promise<Measured[]> {
  const n = g.graph.nodes;
  const a = analysePatternText(query, schemaFromText(query, n, { symmetric: true }));
  const count = countShape(g.graph, subgraphShape(a.pattern)!);
  const own = hasShapeLadder(a) ? shapeLadder(g.graph, subgraphShape(a.pattern)!, n) : undefined;
  const residual =
    light.has(query) || (query === '4-cycles' && g.graph.edges < fewEdges)
      ? (await readResidualLadder(engine, a)).open()
      : undefined;
  const directed = analysePatternText(query, schemaFromText(query, n), { log: 'natural' });
  return errors(g, query, a, count, { own, residual, directed });
}

/** Distinct nodes two steps from the first node: the paper's d_{2,v}, each undirected tie read as two tuples. */
async function walkErrors(g: NamedGraph, engine: Snapshot): Promise<Measured[]> {
  const text = "q(y) :- R('n0', x), R(x, y)";
  const a = analysePatternText(text, schemaFromText(text, g.graph.nodes), { log: 'natural' });
  const count = (await exactAnswer(engine, a)).open();
  return errors(g, '2 steps from v', a, count, {
    own: undefined,
    residual: (await readResidualLadder(engine, a)).open(),
    directed: a,
  });
}

interface Known {
  readonly own: SensitivityLadder | undefined;
  readonly residual: SensitivityLadder | undefined;
  /** The same query in the paper's directed reading. */
  readonly directed: PatternAnalysis;
}

function errors(g: NamedGraph, query: string, a: PatternAnalysis, count: bigint, { own, residual, directed }: Known): Measured[] {
  const found: Measured[] = [];
  for (const e of epsilons) {
    const epsilon = parseRational(String(e));
    const add = (mechanism: Mechanism, guarantee: string, error: (() => bigint) | number) => {
      const median = typeof error === 'number' ? error : medianOf(Array.from({ length: draws }, () => Number(error())));
      found.push({ graph: g.name, query, count, epsilon: e, mechanism, median, guarantee });
    };
    // Without the clamp to possible answers, which would show every useless mechanism as off by exactly the count.
    const off = (sample: () => bigint) => () => magnitude(sample());
    add('laplace', pureGuarantee, off(laplaceSampler(divide(rational(a.bounds.globalSensitivity), epsilon))));
    for (const [ladder, names] of [
      [own, ['ladder', 'smooth']],
      [residual, ['residual-ladder', 'residual-smooth']],
    ] as const) {
      if (!ladder) continue;
      add(names[0], pureGuarantee, off(ladderSampler(ladder, divide(epsilon, rational(2)))));
      add(names[1], pureGuarantee, off(quarticSampler((digits) => smoothScale(smoothDistribution(epsilon), ladder, digits))));
    }
    const busiest = degreeOf(g.graph, g.graph.nodes - 1);
    const elastic = patternCandidates(a, { epsilon, delta: rational(1, 1_000_000), degree: busiest }).find(
      (c) => c.mechanism === 'elastic',
    );
    if (elastic) add('elastic', approximateGuarantee, Math.LN2 * elastic.scale);
    paper(add, epsilon, count, directed);
  }
  return found;
}

function paper(
  add: (m: Mechanism, g: string, e: () => bigint) => void,
  epsilon: Rational,
  count: bigint,
  d: PatternAnalysis,
): void {
  const draw = (spread: bigint, toss: Rational) => {
    const sample = laplaceSampler(divide(rational(spread), epsilon));
    const most = d.bounds.most * d.divisor;
    return () => magnitude(bernoulli(toss) ? uniformBelow(most + 1n) - count * d.divisor : sample()) / d.divisor;
  };
  const toss = coin(d.pattern.goals.length, d.pattern.relations[0]!.domain, gamma);
  const whole = d.bounds.globalSensitivity * d.divisor;
  const plain = whole <= d.lambda.used;
  add(
    'algorithm-2.1',
    plain ? pureGuarantee : adversarialGuarantee,
    draw(plain ? whole : d.lambda.used, plain ? rational(0) : toss),
  );
  if (toNumber(toss) < 1) add('algorithm-2.1 as published', 'as published', draw(d.lambda.used, toss));
}

const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);
const medianOf = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
