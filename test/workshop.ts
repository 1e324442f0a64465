import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrivacySession } from './inside.js';
import { createSession, openEngine, openLedger, readPolicy } from './inside.js';

/** A folder with a CSV and a policy, and a session on them: for whole-product tests. */
export interface Workshop {
  readonly folder: string;
  readonly policyFile: string;
  write(name: string, text: string): string;
  session(policyFile?: string): Promise<PrivacySession & { close(): Promise<void> }>;
  remove(): void;
}

export const peopleCsv = (rows: number): string =>
  `id,home,party,age,weight,media\n${Array.from({ length: rows }, (_, i) => {
    const party = ['dem', 'rep', 'other', ''][i % 4];
    return `p${i},h${Math.floor(i / 3)},${party},${20 + (i % 60)},${1 + (i % 3)},${['tv', 'tv;web', ''][i % 3]}`;
  }).join('\n')}\n`;

export const policyYaml = (
  more: { budget?: string; dependence?: string; protect?: string; extra?: string } = {},
): string => `data: { source: people.csv }
protect: ${more.protect ?? '{ secret: row, unit: id }'}
budget: ${more.budget ?? '{ epsilon: 1 }'}
population: town
ledger: ledger.db
dependence: ${more.dependence ?? 'none'}
columns:
  party: { type: category, values: [dem, rep, other] }
  age: { type: integer, bounds: [17, 90] }
  weight: { type: weight, bounds: [1, 3] }
  media: { type: multi, values: [tv, web], separator: ";" }
${more.extra ?? ''}`;

export function openWorkshop(policy = policyYaml(), rows = 1200): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-test-'));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  write('people.csv', peopleCsv(rows));
  const policyFile = write('policy.yaml', policy);
  return {
    folder,
    policyFile,
    write,
    async session(file = policyFile) {
      const read = await readPolicy(file);
      const engine = await openEngine(read);
      const ledger = await openLedger(read.ledger);
      const session = await createSession({ policy: read, engine, ledger });
      return Object.assign(session, {
        close: async () => {
          await ledger.close();
          await engine.close();
        },
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
