import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, describe, expect, it } from 'vitest';
import { emptyPure } from '../src/mechanism/profile.js';
import { releasePattern } from '../src/pattern/release.js';
import { amendTerms } from '../src/release/amend.js';
import { openLedger, readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** What was released exactly, because the terms called it public, cannot be made a secret afterwards. */
let shop: Workshop;
afterEach(() => shop?.remove());

const answers = (open: boolean, secret = 'answer') =>
  policyYaml({ protect: `{ secret: ${secret} }` }).replace('[dem, rep, other]', `[dem, rep, other], public: ${open}`);
const amended = async (yaml: string): Promise<string> => {
  const policy = await readPolicy(shop.write('policy.yaml', yaml));
  const ledger = await openLedger(policy.ledger);
  try {
    await amendTerms(ledger, policy, 'because');
    return 'amended';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  } finally {
    await ledger.close();
  }
};
const released = async (yaml: string, ...queries: object[]) => {
  shop?.remove();
  shop = openWorkshop(yaml, 40);
  const session = await shop.session();
  for (const query of queries) await session.release(query, { epsilon: '0.1' });
  await session.close();
};
const refusal = /^LEDGER_MISMATCH: Entry \d+ was released for nothing/;
const party = { kind: 'histogram', column: 'party' };
const age = { kind: 'histogram', column: 'age' };

describe('an amendment from answers to rows', () => {
  it('is refused after a public column was released exactly', async () => {
    await released(answers(true), age, party);
    expect(await amended(answers(true, 'row'))).toMatch(refusal);
    expect(await amended(answers(true, 'step').replace('secret: step', 'secret: row, unit: id'))).toMatch(refusal);
  });

  it('is refused after the rows were counted exactly', async () => {
    await released(answers(true), { kind: 'count' });
    expect(await amended(answers(true, 'row'))).toMatch(refusal);
  });

  it('is possible as long as every release paid for the row as a whole', async () => {
    await released(answers(true), age, { kind: 'mean', column: 'age', by: ['party'] });
    // The mean over ages by party: its counts and sums move with ages, so that rows paid.
    expect(await amended(answers(true, 'row'))).toBe('amended');
  });

  it('may change the budget whatever was given away', async () => {
    await released(answers(true), party, { kind: 'count' });
    expect(await amended(answers(true).replace('epsilon: 1', 'epsilon: 2'))).toBe('amended');
  });
});

describe('a public column', () => {
  it('cannot become a secret once it was released, alone or as a key or a filter of something that was paid for', async () => {
    const queries = [
      party,
      { kind: 'mean', column: 'age', by: ['party'] },
      { kind: 'count', where: [{ column: 'party', op: '=', value: 'dem' }] },
    ];
    for (const query of queries) {
      await released(answers(true), query);
      expect(await amended(answers(false)), JSON.stringify(query)).toMatch(refusal);
    }
  });

  it('can, while nothing has relied on it', async () => {
    await released(answers(true), age);
    expect(await amended(answers(false))).toBe('amended');
  });
});

describe('a public relation', () => {
  const ties = (open: boolean) =>
    policyYaml({
      protect: '{ secret: edge }',
      extra: `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 50, private: ${!open} }\n  call: { table: calls.csv, columns: [a, b], domain: 50 }\n`,
    });
  const asked = async (text: string): Promise<void> => {
    shop?.remove();
    shop = openWorkshop(ties(true), 40);
    for (const table of ['friends.csv', 'calls.csv']) shop.write(table, 'a,b\np1,p2\np2,p3\np3,p1\n');
    const session = await shop.session();
    await releasePattern(session, text, { epsilon: '0.1' });
    await session.close();
  };

  it('cannot become private once a pattern has read it without paying for its tuples', async () => {
    await asked('q(x, y) :- friend(x, y), call(x, y)');
    expect(await amended(ties(false))).toMatch(refusal);
    await asked('q(x, y) :- call(x, y)');
    expect(await amended(ties(false))).toBe('amended');
  });
});

describe('an entry from which somebody took what it gave away', () => {
  it('stops the amendment, because the chain does not fit', async () => {
    // Not the latest entry, which every amendment looks at.
    await released(answers(true), party, age);
    const file = new Database(join(shop.folder, 'ledger.db'));
    const { changes } = file
      .prepare('UPDATE link SET body = replace(body, \'"relied":["rows","column party"],\', \'\') WHERE sequence = 2')
      .run();
    file.close();
    expect(changes).toBe(1);
    expect(await amended(answers(true).replace('epsilon: 1', 'epsilon: 2'))).toMatch(/^LEDGER_CORRUPT/);
  });
});

describe('an entry that says nothing of what it gave away', () => {
  it('is taken at its cost: none', async () => {
    await released(answers(true), age);
    const policy = await readPolicy(shop.policyFile);
    const ledger = await openLedger(policy.ledger);
    const [known] = await ledger.entries('town');
    await ledger.reserve({
      population: 'town',
      terms: { digest: policy.digest, summary: 'whatever' },
      analyst: 'earlier',
      key: known!.key,
      label: 'from before',
      profile: emptyPure,
      admit: () => undefined,
    });
    await ledger.close();
    expect(await amended(answers(true, 'row'))).toMatch(refusal);
  });
});

describe('an amendment that makes one of several public columns a secret', () => {
  const rows = (party: boolean, age: boolean) =>
    policyYaml({ protect: '{ secret: row }' })
      .replace('[dem, rep, other]', `[dem, rep, other], public: ${party}`)
      .replace('[17, 90]', `[17, 90], public: ${age}`);
  const ofThirty = [{ column: 'age', op: '=', value: 30 }];
  const byParty = { kind: 'count', by: ['party'], where: ofThirty };
  const refused = /^LEDGER_MISMATCH: Entry \d+ was released for less because it was known to everybody \(place in party\)/;

  it('is refused where tables by it were booked by the values of another: a row that changes it moves two of their cells', async () => {
    await released(rows(true, true), byParty);
    expect(await amended(rows(false, true))).toMatch(refused);
    // Where nothing is public any more, everybody pays for both cells.
    expect(await amended(rows(false, false))).toBe('amended');
    expect(await amended(rows(false, true))).toMatch(refused);
    expect(await amended(rows(true, false))).toBe('amended');
  });

  it('is refused also where the table asked about no value of the other', async () => {
    await released(rows(true, true), { kind: 'count', by: ['party'] });
    expect(await amended(rows(false, true))).toMatch(refused);
  });

  it('is possible where no table took a place in it for known', async () => {
    await released(rows(true, true), { kind: 'histogram', column: 'media', where: ofThirty });
    expect(await amended(rows(false, true))).toBe('amended');
  });
});
