// Child of release-race.test.ts: whole releases, each a different question, against a shared ledger.
import { openEngine } from '../dist/data/terms/open.js';
import { openLedger } from '../dist/release/ledger/open.js';
import { readPolicy } from '../dist/data/terms/read.js';
import { createSession } from '../dist/release/session/session.js';

const [policyFile, name, count, first] = process.argv.slice(2);
// Ranges of ages: questions with the same count are the same question, under any name.
const ranges = Array.from({ length: 73 }, (_, i) => Array.from({ length: 73 - i }, (_, j) => [17 + i, 18 + i + j])).flat();
const policy = await readPolicy(policyFile);
const engine = await openEngine(policy, { threads: 1 });
const ledger = await openLedger(policy.ledger);
const session = await createSession({ policy, engine, ledger, analyst: name });
for (let k = 0; k < Number(count); k++) {
  try {
    const [from, to] = ranges[Number(first) + k];
    const where = [{ column: 'age', op: '>=', value: from }, { column: 'age', op: '<=', value: to }];
    const { receipt } = await session.release({ kind: 'count', where }, { epsilon: '0.001' });
    process.stdout.write(`${JSON.stringify({ entry: receipt.ledger.entry })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ refused: error.code, ...error.details })}\n`);
  }
}
await ledger.close();
await engine.close();
