import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { publicData } from '../../../../experiments/data.js';
import { readCoded } from '../../../../experiments/tabular/anes.js';
import { bicScore } from '../../../../test/bic-score.js';
import { readBif, writeBif } from '../../../privacy/dependence/model/bif.js';
import { makeNetwork, type Network, type NetworkVariable, topologicalOrder } from '../../../privacy/dependence/model/network.js';
import { bestStructure } from './best-structure.js';
import type { CodedTable } from './coded.js';

/** Seeded generator: the networks must be varied, not secret. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A network of `size` variables with two to four values and up to three parents, listed before or after their children. */
function madeNetwork(size: number, seed: number): Network {
  const random = dice(seed);
  const pick = (n: number) => Math.floor(random() * n);
  const rank = Array.from({ length: size }, random);
  const values = Array.from({ length: size }, () => Array.from({ length: 2 + pick(3) }, (_, v) => `level ${v}`));
  const variables = values.map((own, x): NetworkVariable => {
    const before = rank.flatMap((r, p) => (r < rank[x]! ? [p] : []));
    const parents = Array.from({ length: Math.min(pick(4), before.length) }, () => before.splice(pick(before.length), 1)[0]!);
    const rows = parents.reduce((n, p) => n * values[p]!.length, 1);
    const table = Array.from({ length: rows }, () => {
      const weights = own.map(() => 0.05 + random() ** 3);
      const total = weights.reduce((a, b) => a + b, 0);
      return weights.map((w) => w / total);
    });
    return { name: `v${x}`, values: own, parents, table: Float64Array.from(table.flat()) };
  });
  return makeNetwork(`made ${seed}`, variables);
}

function sampled(network: Network, rows: number, seed: number): CodedTable {
  const random = dice(seed);
  const { variables } = network;
  const columns = variables.map(() => new Uint16Array(rows));
  const order = topologicalOrder(variables.map((v) => v.parents));
  for (let r = 0; r < rows; r++)
    for (const x of order) {
      const { parents, values, table } = variables[x]!;
      const row = parents.reduce((cell, p) => cell * variables[p]!.values.length + columns[p]![r]!, 0) * values.length;
      let left = random();
      let code = 0;
      while (code < values.length - 1 && left >= table[row + code]!) left -= table[row + code++]!;
      columns[x]![r] = code;
    }
  return { names: variables.map((v) => v.name), levels: variables.map((v) => v.values.length), rows, columns };
}

function expectSame(again: Network, network: Network): void {
  expect(again.variables.map((v) => [v.name, v.values, v.parents])).toEqual(
    network.variables.map((v) => [v.name, v.values, v.parents]),
  );
  again.variables.forEach((v, x) => {
    v.table.forEach((p, cell) => {
      expect(Math.abs(p - network.variables[x]!.table[cell]!)).toBeLessThan(1e-12);
    });
  });
}

describe('artificial networks', () => {
  it.each([1, 2, 3, 4])('the learned network scores at least as well as the true one on 20,000 samples: number %i', (seed) => {
    const network = madeNetwork(8, seed);
    const samples = sampled(network, 20_000, seed);
    const found = bestStructure(samples, 3);
    const truth = network.variables.map((v) => v.parents);
    expect(found.score).toBeGreaterThanOrEqual(bicScore(samples, truth) - 1e-6);
    expect(bicScore(samples, found.parents)).toBeCloseTo(found.score, 4);
    expect(found.parents.flat().length).toBeGreaterThan(0);
  });

  it.each([5, 8, 20, 37, 56])('a network of %i variables is unchanged after writing and reading', (size) => {
    for (let seed = 1; seed <= 5; seed++) {
      const network = madeNetwork(size, seed);
      expectSame(readBif(writeBif(network), network.name), network);
    }
  });
});

const networks = publicData('bn/');

describe.skipIf(!networks)('known networks (needs the public data)', () => {
  it.each(['asia', 'child'])(
    'the learned network scores at least as well as the true one on 20,000 samples: %s',
    async (name) => {
      const network = readBif(gunzipSync(readFileSync(new URL(`${name}.bif.gz`, networks))).toString(), `${name}.bif`);
      const samples = await readCoded(fileURLToPath(new URL(`samples/bif_${name}_20k.parquet`, networks)));
      const position = (p: number): number => samples.names.indexOf(network.variables[p]!.name);
      const truth = samples.names.map((n) => network.variables.find((v) => v.name === n)!.parents.map(position));
      // exact among networks with at most three parents, which the true ones are
      const found = bestStructure(samples, 3);
      expect(found.score).toBeGreaterThanOrEqual(bicScore(samples, truth) - 1e-6);
      expect(bicScore(samples, found.parents)).toBeCloseTo(found.score, 4);
    },
  );

  it.each(['asia', 'cancer', 'survey', 'child', 'alarm', 'insurance', 'hailfinder'])(
    'the network %s is unchanged after reading, writing and reading',
    (name) => {
      const network = readBif(gunzipSync(readFileSync(new URL(`${name}.bif.gz`, networks))).toString(), name);
      expectSame(readBif(writeBif(network), name), network);
    },
  );
});
