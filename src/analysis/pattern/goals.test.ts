import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { publicData } from '../../../experiments/data.js';
import { rational } from '../../base/exact/rational.js';
import { laplaceSampler } from '../../privacy/noise/discrete-laplace.js';
import { ladderSampler } from '../../privacy/noise/ladder.js';
import { buildGraph } from './graph/csr.js';
import { shapeLadder } from './pattern-ladder.js';

const folder = publicData('graphs/');
const draws = 2001;
const median = (draw: () => bigint): number => {
  const errors = Array.from({ length: draws }, () => Math.abs(Number(draw()))).sort((a, b) => a - b);
  return errors[(draws - 1) / 2]!;
};

describe.skipIf(!folder)('undirected triangles at epsilon 1, on public graphs', () => {
  it.each([
    ['CA-CondMat', 20],
    ['facebook_combined', 6],
  ])('the median error on %s is at least %i times below plain noise', (name, times) => {
    const ids = new Map<string, number>();
    const id = (v: string) => ids.get(v) ?? ids.set(v, ids.size).get(v)!;
    const pairs = gunzipSync(readFileSync(new URL(`${name}.txt.gz`, folder)))
      .toString()
      .split('\n')
      .filter((line) => /^\d/.test(line))
      .map((line) => line.trim().split(/\s+/).map(id) as [number, number]);
    const graph = buildGraph(
      ids.size,
      Uint32Array.from(pairs, (p) => p[0]),
      Uint32Array.from(pairs, (p) => p[1]),
    );
    const ladder = shapeLadder(graph, { kind: 'clique', k: 3 }, graph.nodes);
    const plain = median(laplaceSampler(rational(graph.nodes - 2)));
    expect(plain / median(ladderSampler(ladder, rational(1, 2)))).toBeGreaterThan(times);
  });
});
