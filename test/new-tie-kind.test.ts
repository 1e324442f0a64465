import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compare, multiply, rational, toNumber } from '../src/base/exact/rational.js';
import { explain } from '../src/data/terms/explain.js';
import { readPolicy } from '../src/data/terms/read.js';
import { declaredAmplifiers } from '../src/data/ties/declared.js';
import { tieKinds } from '../src/data/ties/kinds.js';
import type { Policy } from '../src/policy/policy.js';
import { fromPairs } from '../src/privacy/dependence/graph/factor-graph.js';
import { leakageBounds } from '../src/privacy/dependence/leakage.js';
import { nothingSpent } from '../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { bindBatch } from '../src/query/bind.js';
import { chooseNoise } from '../src/release/accountant/choose.js';
import { openAccount } from '../src/release/accountant/open-account.js';
import { seats } from './fixtures/new-tie-kind.js';
import { openNow } from './now.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** The registry with one line more. */
const kinds = [...tieKinds, seats];

let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop();
  // Seats 1, 2, 3 and 7, 8: one row of three, one of two.
  shop.write(
    'people.csv',
    'id,seat,party,age,weight,media\na,3,dem,20,1,\nb,1,rep,30,1,\nc,8,dem,40,1,\nd,2,rep,50,1,\ne,7,dem,60,1,\n',
  );
});
afterEach(() => shop.remove());
const read = (dependence: string, name = 'policy.yaml') => readPolicy(shop.write(name, policyYaml({ dependence })), kinds);
const tied = '[{ kind: seats, seat: seat, oddsRatio: 4 }]';

describe('a kind of tie that one file and one line add', () => {
  it('the new kind is read from a policy, and enters the digest of its terms', async () => {
    const policy = await read(tied);
    expect(policy.dependence).toEqual([{ kind: 'seats', seat: 'seat', oddsRatio: 4 }]);
    expect(policy.digest).not.toBe((await read(tied.replace('4', '5'))).digest);
    await expect(readPolicy(shop.write('x.yaml', policyYaml({ dependence: tied })))).rejects.toThrow(
      'A dependence needs a kind: groups, ties, columns, sequence, gaussian or factors.',
    );
    await expect(read('[{ kind: other }]')).rejects.toThrow(/gaussian, factors or seats/);
    await expect(read('[{ kind: seats, seat: seat, sat: 1 }]')).rejects.toThrow('Unknown key "sat".');
  });

  it('the new kind is explained, and its columns are looked up in the data', async () => {
    const policy = await read(tied);
    expect(explain(policy, kinds).find((e) => e.topic === 'assumption')?.text).toMatch(/^people in consecutive seats \(seat\)/);
    await expect(openNow(await read(tied.replace('seat: seat', 'seat: chair')), {}, kinds)).rejects.toThrow(
      'The data has no seat column "chair".',
    );
  });

  it('the new kind has an amplifier, with which a release is planned', async () => {
    const policy = await read(tied);
    const path = fromPairs(5, Uint32Array.of(0, 1, 3), Uint32Array.of(1, 2, 4), Math.log(4));
    const { amplifiers, readsData } = await withEngine(policy, (engine) => declaredAmplifiers(policy, engine, kinds));
    expect(readsData).toBe(true);
    expect(amplifiers[0]!.leakage(rational(3, 10))).toBeCloseTo(leakageBounds(path, 0.3, 'informed').worst.leakage, 12);
    expect(amplifiers[0]!.assumptions).toContain('Who sits beside whom (seat) is known to the attacker.');
    const account = openAccount(policy, amplifiers, undefined, kinds);
    const { measures } = bindBatch({ queries: [{ kind: 'histogram', column: 'party' }] }, policy);
    const [plan] = chooseNoise(measures, account, rational(1, 2), nothingSpent);
    expect(plan!.fits).toBe(true);
    const cost = plan!.cost.perRecord.get(everyRecord)!;
    expect(compare(cost, multiply(account.routes[0]!.pureCapacity, rational(1, 2)))).toBeLessThanOrEqual(0);
    // The budget is twice the planned cost, including the part for ties.
    expect(leakageBounds(path, 2 * toNumber(cost), 'informed').worst.leakage).toBeCloseTo(1, 6);
  });

  const withEngine = async <T>(policy: Policy, ask: (engine: Awaited<ReturnType<typeof openNow>>) => Promise<T>): Promise<T> => {
    const engine = await openNow(policy, {}, kinds);
    return ask(engine).finally(() => engine.close());
  };
});

describe('the kinds of ties', () => {
  it('every kind is registered under its own name', () => {
    for (const { kind, shape } of tieKinds) expect(shape.shape.kind.value).toBe(kind);
  });

  it('the names of the kinds occur in their own files only', () => {
    const root = join(import.meta.dirname, '..', 'src');
    // A noise distribution is called gaussian, too.
    const names = tieKinds.map(({ kind }) => kind).filter((kind) => kind !== 'gaussian');
    const answers = new RegExp(`kind\\W{1,3}(===|!==) '(${names.join('|')})'|\\.kind [!=]== '(${names.join('|')})'`);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (f) => f.endsWith('.ts') && !f.endsWith('.test.ts'),
    );
    expect(files.filter((f) => answers.test(readFileSync(join(root, f), 'utf8')))).toEqual([]);
  });
});
