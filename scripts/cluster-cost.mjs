// What a release on a cluster costs beside the plain statement, in one run, and the most memory this process takes. Asks a table of tpch that has `lineitem`.
//
//   npm run build && node scripts/cluster-cost.mjs trino://me@localhost:8080/tpch/sf1 [rounds]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../dist/index.js';

const [source, rounds = '5'] = process.argv.slice(2);
const { hostname, port, username, pathname } = new URL(source);
const [, catalog, schema] = pathname.split('/');
const table = `"${catalog}"."${schema}".lineitem`;
const cases = [
  [
    'histogram',
    `SELECT returnflag, count(*) FROM ${table} GROUP BY 1`,
    { kind: 'histogram', column: 'returnflag' },
  ],
  [
    'crosstab',
    `SELECT returnflag, shipmode, count(*) FROM ${table} GROUP BY 1, 2`,
    { kind: 'crosstab', columns: ['returnflag', 'shipmode'] },
  ],
  [
    'sums by group',
    `SELECT returnflag, sum(CAST(quantity AS BIGINT)) FROM ${table} GROUP BY 1`,
    { kind: 'sum', column: 'quantity', by: ['returnflag'] },
  ],
  [
    'middle',
    `SELECT CAST(quantity AS BIGINT), count(*) FROM ${table} GROUP BY 1`,
    { kind: 'quantile', column: 'quantity', at: [0.5] },
  ],
];

async function plain(sql) {
  const headers = { 'x-trino-user': username };
  let page = await (await fetch(`http://${hostname}:${port}/v1/statement`, { method: 'POST', body: sql, headers })).json();
  while (page.nextUri) page = await (await fetch(page.nextUri, { headers })).json();
  if (page.error) throw new Error(page.error.errorName);
}
const timed = async (work) => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};
const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

const folder = mkdtempSync(join(tmpdir(), 'fugu-cost-'));
try {
  const policy = join(folder, 'policy.yaml');
  writeFileSync(
    policy,
    `data: { source: "${source}", table: lineitem }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: cost
ledger: ledger.db
dependence: none
columns:
  returnflag: { type: category, values: [A, N, R] }
  shipmode: { type: category, values: [AIR, FOB, MAIL, RAIL, "REG AIR", SHIP, TRUCK] }
  quantity: { type: integer, bounds: [1, 50] }
`,
  );
  const fugu = await open(policy, { acceptNoProtection: true });
  for (const [name, sql, query] of cases) {
    const [theirs, ours] = [[], []];
    await plain(sql);
    for (let k = 0; k < Number(rounds); k++) {
      theirs.push(await timed(() => plain(sql)));
      ours.push(await timed(() => fugu.release(query, { epsilon: 1, fresh: true })));
    }
    const [a, b] = [middle(theirs), middle(ours)];
    console.log(`${name}: plain ${Math.round(a)} ms, release ${Math.round(b)} ms, ratio ${(b / a).toFixed(2)}`);
  }
  await fugu.close();
  console.log(`most memory of this process: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
