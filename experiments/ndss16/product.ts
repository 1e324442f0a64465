import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releaseKmeans } from '../../src/analysis/learn/kmeans/kmeans.js';
import { openEngine } from '../../src/data/terms/open.js';
import { readPolicy } from '../../src/data/terms/read.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { createSession, type PrivacySession } from '../../src/release/session/session.js';
import type { Vectors } from './cluster.js';

/** A folder with a policy, opened as the product opens it, and removed afterwards. */
export async function inWorkshop<T>(
  files: Readonly<Record<string, string>>,
  work: (session: PrivacySession) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-ndss16-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const policy = await readPolicy(join(folder, 'policy.yaml'));
    const engine = await openEngine(policy);
    const ledger = await openLedger(policy.ledger);
    try {
      return await work(await createSession({ policy, engine, ledger }));
    } finally {
      await ledger.close();
      await engine.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type Ties =
  | 'none'
  | { readonly oddsRatio: number; readonly friends: readonly (readonly [number, number])[]; readonly maxTies?: number };

/** Certified cluster centres from the whole product: policy, engine, ledger, session. */
export async function certifiedCentres(points: Vectors, clusters: number, epsilon: string, ties: Ties): Promise<Float64Array> {
  const names = Array.from({ length: points.width }, (_, d) => `x${d}`);
  const rows = Array.from({ length: points.count }, (_, i) =>
    [`p${i}`, ...points.at.subarray(i * points.width, (i + 1) * points.width)].join(','),
  );
  const policy = [
    'data: { source: people.csv }',
    `protect: { secret: row, unit: id${ties === 'none' ? '' : ', adversary: uninformed'} }`,
    `budget: { epsilon: ${epsilon} }`,
    'population: gowalla',
    'ledger: ledger.db',
    ...(ties === 'none'
      ? ['dependence: none']
      : [
          'relations:',
          `  friend: { table: friends.csv, columns: [a, b], domain: ${points.count}, symmetric: true }`,
          `dependence: [{ kind: ties, relation: friend, oddsRatio: ${ties.oddsRatio}, reach: direct${ties.maxTies === undefined ? '' : `, maxTies: ${ties.maxTies}`} }]`,
        ]),
    'columns:',
    ...names.map((n) => `  ${n}: { type: number, bounds: [0, 1], step: 0.0001 }`),
  ].join('\n');
  const files = {
    'people.csv': `${['id', ...names].join(',')}\n${rows.join('\n')}\n`,
    'policy.yaml': `${policy}\n`,
    ...(ties !== 'none' && { 'friends.csv': `a,b\n${ties.friends.map(([a, b]) => `p${a},p${b}`).join('\n')}\n` }),
  };
  return inWorkshop(files, async (session) => {
    const { result } = await releaseKmeans(session, { columns: names, clusters }, { all: true });
    return Float64Array.from(result.centres.flat());
  });
}
