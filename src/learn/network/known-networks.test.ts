import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { dataFolder, readCoded, sharedData } from '../../../experiments/tabular/anes.js';
import { readBif, writeBif } from '../../dependence/model/bif.js';
import { bestStructure } from './best-structure.js';
import { bicScore } from './fit.js';

const networks = new URL('bn/', dataFolder);

describe.skipIf(!existsSync(networks))('known networks (needs the shared data folder)', () => {
  it.each(['asia', 'child'])('%s: 20,000 samples score at least as well as the true network', async (name) => {
    const network = readBif(gunzipSync(readFileSync(new URL(`${name}.bif.gz`, networks))).toString(), `${name}.bif`);
    const samples = await readCoded(sharedData(`bn/samples/bif_${name}_20k.parquet`));
    const position = (p: number): number => samples.names.indexOf(network.variables[p]!.name);
    const truth = samples.names.map((n) => network.variables.find((v) => v.name === n)!.parents.map(position));
    // exact among networks with at most three parents, which the true ones are
    const found = bestStructure(samples, 3);
    expect(found.score).toBeGreaterThanOrEqual(bicScore(samples, truth) - 1e-6);
    expect(bicScore(samples, found.parents)).toBeCloseTo(found.score, 4);
  });

  it.each(['asia', 'cancer', 'survey', 'child', 'alarm', 'insurance', 'hailfinder'])(
    '%s is read, written and read back the same',
    (name) => {
      const network = readBif(gunzipSync(readFileSync(new URL(`${name}.bif.gz`, networks))).toString(), name);
      const again = readBif(writeBif(network), name);
      expect(again.variables.map((v) => [v.name, v.values, v.parents])).toEqual(
        network.variables.map((v) => [v.name, v.values, v.parents]),
      );
      again.variables.forEach((v, x) => {
        v.table.forEach((p, cell) => {
          expect(Math.abs(p - network.variables[x]!.table[cell]!)).toBeLessThan(1e-12);
        });
      });
    },
  );
});
