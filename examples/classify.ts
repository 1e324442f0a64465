import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, predict } from '../src/index.js';

/** Made-up people in households of two: who would move to another town? Members of a household are tied. */
const people = `home,age,owns,town,moves\n${Array.from({ length: 8000 }, (_, i) => {
  const age = 20 + ((i * 37) % 60);
  const owns = (i * 13) % 5 < 2 ? 'yes' : 'no';
  const moves = age < 40 !== (owns === 'yes' && i % 3 > 0) ? 'yes' : 'no';
  return `h${i >> 1},${age},${owns},t${i % 6},${moves}`;
}).join('\n')}\n`;

const policy = `data: { source: people.csv }
protect: { secret: row }
budget: { epsilon: 2, delta: 1e-6 }
population: movers
ledger: ledger.db
dependence:
  - { kind: groups, by: home, oddsRatio: 4, maxSize: 2 }
columns:
  age: { type: integer, bounds: [18, 90], bins: [30, 40, 50, 65] }
  owns: { type: category, values: ["yes", "no"] }
  town: { type: category, values: [t0, t1, t2, t3, t4, t5] }
  moves: { type: category, values: ["yes", "no"] }
`;

/** Learns a private classifier and applies it. */
export async function learnMovers() {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-example-'));
  writeFileSync(join(folder, 'people.csv'), people);
  writeFileSync(join(folder, 'policy.yaml'), policy);
  const fugu = await open(join(folder, 'policy.yaml'));
  try {
    const classify = { label: 'moves', positive: ['yes'], features: ['age', 'owns', 'town'] };
    const { result, receipt } = await fugu.release({ classify }, { epsilon: 2 });
    return {
      result,
      receipt,
      young: predict(result, { age: 25, owns: 'no', town: 't1' }),
      old: predict(result, { age: 70, owns: 'no', town: 't1' }),
    };
  } finally {
    await fugu.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
