import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicData } from '../../../../experiments/data.js';
import { duckdb } from '../../../data/engine/duckdb/dialect.js';
import { relationView } from '../../../data/engine/structure.js';
import { analysePatternText, schemaFromText } from '../query/analyse.js';
import { compilePattern } from '../query/compile.js';
import { choose } from '../query/ladders.js';
import { commonNeighbourPairs, maxCommonNeighbours } from './common-neighbours.js';
import { buildGraph, type Graph } from './csr.js';
import { cliqueLocalSensitivity, degreePairs, diamondLocalSensitivity } from './local-sensitivity.js';
import { countCliques, countDiamonds, countFourCycles, countStars, countTriangles } from './subgraph-counts.js';

const size = 8;
type Edge = readonly [number, number];
const build = (n: number, edges: readonly Edge[]): Graph =>
  buildGraph(
    n,
    Uint32Array.from(edges, (e) => e[0]),
    Uint32Array.from(edges, (e) => e[1]),
  );

const shapes: readonly (readonly [string, (g: Graph) => bigint])[] = [
  ['triangles', countTriangles],
  ['2-paths', (g) => countStars(g, 2)],
  ['3-stars', (g) => countStars(g, 3)],
  ['4-cliques', (g) => countCliques(g, 4)],
  ['5-cliques', (g) => countCliques(g, 5)],
  ['4-cycles', countFourCycles],
  ['2-triangles', countDiamonds],
];
const analysed = (name: string, domain: number) => analysePatternText(name, schemaFromText(name, domain, { symmetric: true }));

/** Injective maps of the pattern into the graph, divided by its symmetries. */
function brute(name: string, edges: readonly Edge[]): bigint {
  const { pattern, divisor } = analysed(name, size);
  const has = new Set(edges.flatMap(([a, b]) => (a === b ? [] : [`${a},${b}`, `${b},${a}`])));
  let found = 0n;
  const place = (at: number[]): void => {
    const full = at.length === pattern.variables.length;
    for (const g of pattern.goals) {
      const [a, b] = g.symbols as [number, number];
      if (a < at.length && b < at.length && !has.has(`${at[a]},${at[b]}`)) return;
    }
    if (full) {
      found++;
      return;
    }
    for (let v = 0; v < size; v++) if (!at.includes(v)) place([...at, v]);
  };
  place([]);
  return found / divisor;
}

const edge = fc.tuple(fc.nat(size - 1), fc.nat(size - 1));
const random = fc.sample(fc.array(edge, { maxLength: 40 }), { numRuns: 200, seed: 11 }) as Edge[][];

let instance: DuckDBInstance;
let connection: Awaited<ReturnType<DuckDBInstance['connect']>>;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
  await connection.run('CREATE TABLE pairs(a INTEGER, b INTEGER)');
  await connection.run(`CREATE TABLE ${relationView('R')}(c0 VARCHAR, c1 VARCHAR)`);
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});
const load = async (edges: readonly Edge[]) => {
  await connection.run('DELETE FROM pairs');
  await connection.run(`DELETE FROM ${relationView('R')}`);
  for (let i = 0; i < edges.length; i += 20_000)
    await connection.run(
      `INSERT INTO pairs VALUES ${edges
        .slice(i, i + 20_000)
        .map((e) => `(${e})`)
        .join()}`,
    );
  await connection.run(`INSERT INTO ${relationView('R')} SELECT a, b FROM pairs UNION SELECT b, a FROM pairs`);
};
const bySql = async (name: string, domain: number) => {
  const { pattern, divisor } = analysed(name, domain);
  return BigInt((await connection.runAndReadAll(compilePattern(pattern, duckdb).sql)).getRows()[0]![0] as bigint) / divisor;
};

describe('the graph kernel', () => {
  it('the kernel counts what brute force and SQL count on 200 random graphs with loops and repeats', async () => {
    for (const edges of random) {
      const g = build(size, edges);
      const simple = new Set(edges.filter(([a, b]) => a !== b).map(([a, b]) => [Math.min(a, b), Math.max(a, b)].join()));
      expect(g.edges).toBe(simple.size);
      await load(edges);
      for (const [name, count] of shapes) {
        const expected = brute(name, edges);
        expect(count(g), name).toBe(expected);
        if (name !== '5-cliques') expect(await bySql(name, size), name).toBe(expected);
      }
    }
  });

  it('the local statistics equal those of a search over all pairs', () => {
    for (const edges of random) {
      const g = build(size, edges);
      const near = Array.from({ length: size }, (_, v) => new Set(g.targets.subarray(g.offsets[v]!, g.offsets[v + 1]!)));
      const pairs: { a: number; b: number; d: [number, number]; k4: number; fans: number }[] = [];
      for (let i = 0; i < size; i++)
        for (let j = i + 1; j < size; j++) {
          const shared = [...near[i]!].filter((u) => near[j]!.has(u));
          const x = Number(near[i]!.has(j));
          const common = (p: number, q: number) => [...near[p]!].filter((u) => near[q]!.has(u)).length;
          pairs.push({
            a: shared.length,
            b: near[i]!.size + near[j]!.size - 2 * shared.length - 2 * x,
            d: [near[i]!.size - x, near[j]!.size - x].sort((p, q) => q - p) as [number, number],
            k4: shared
              .filter((u) => shared.some((w) => w > u && near[u]!.has(w)))
              .reduce((s, u) => s + shared.filter((w) => w > u && near[u]!.has(w)).length, 0),
            fans: Number(choose(BigInt(shared.length), 2)) + shared.reduce((s, u) => s + common(i, u) + common(j, u) - 2 * x, 0),
          });
        }
      const most = Math.max(...pairs.map((p) => p.a));
      expect(maxCommonNeighbours(g)).toBe(most);
      expect(cliqueLocalSensitivity(g, 4)).toBe(BigInt(Math.max(...pairs.map((p) => p.k4))));
      expect(diamondLocalSensitivity(g, most)).toBe(BigInt(Math.max(...pairs.map((p) => p.fans))));
      const reach = (list: readonly { a: number; b: number }[], t: number) =>
        Math.max(0, ...list.filter((p) => p.a > 0).map((p) => p.a + Math.floor((t + Math.min(t, p.b)) / 2)));
      const kept = commonNeighbourPairs(g).map((p) => ({ a: p.common, b: p.single }));
      for (let t = 0; t < 12; t++) expect(reach(kept, t)).toBe(reach(pairs, t));
      const degrees = degreePairs(g);
      for (const [h, l] of pairs.map((p) => p.d)) expect(degrees.some(([a, b]) => a >= h && b >= l)).toBe(true);
      for (const [a, b] of degrees) expect(pairs.some((p) => p.d[0] === a && p.d[1] === b)).toBe(true);
    }
  });

  it('the kernel is exact beyond 2^53', () => {
    const leaves = 200_000;
    const hub = build(
      leaves + 1,
      Array.from({ length: leaves }, (_, i) => [leaves, i] as const),
    );
    expect(countStars(hub, 4)).toBe(choose(BigInt(leaves), 4));
    expect(maxCommonNeighbours(hub)).toBe(1);
  });
});

const folder = publicData('graphs/');
const files = folder ? readdirSync(folder).filter((f) => f.endsWith('.txt.gz') || f.endsWith('.parquet')) : [];
describe.skipIf(files.length === 0)('the public graphs', () => {
  const read = async (file: string): Promise<Edge[]> => {
    if (file.endsWith('.txt.gz')) return readText(file);
    const rows = await connection.runAndReadAll('SELECT src, dst FROM read_parquet($1)', [fileURLToPath(new URL(file, folder))]);
    return rows.getRows().map(([a, b]) => [Number(a), Number(b)] as const);
  };
  const readText = (file: string): Edge[] =>
    gunzipSync(readFileSync(new URL(file, folder)))
      .toString()
      .split('\n')
      .filter((line) => /^\d/.test(line))
      .map((line) => line.split(/\s+/).slice(0, 2).map(Number) as unknown as Edge);
  /** Joins that finish within seconds on every graph; longer ones are compared on the smallest. */
  const small = 'CA-GrQc.txt.gz';
  it.each(files)('the kernel and SQL agree on %s', async (file) => {
    const edges = await read(file);
    const n = edges.reduce((most, e) => Math.max(most, ...e), 0) + 1;
    const g = build(n, edges);
    await load(edges);
    for (const [name, count] of shapes)
      if (
        name === 'triangles' ||
        (name === '2-paths' && file !== 'Wiki-Vote.txt.gz') ||
        (file === small && name !== '3-stars' && name !== '5-cliques')
      )
        expect(await bySql(name, n), name).toBe(count(g));
  });
});
