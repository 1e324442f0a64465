import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCheckCommand as registerCheck } from '../src/app/cli/check.js';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { registerStreamCommand as registerStream } from '../src/app/cli/stream.js';
import { amendTerms, attackStream, open, planStream, stream } from '../src/index.js';
import { publicSteps, rowsBefore, rowsOfSteps, rowsWithoutStep } from '../src/query/count/public-steps.js';
import { runCommand } from './command.js';
import { readPolicy } from './inside.js';
import { openNow } from './now.js';
import { openWorkshop, peopleCsv, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

const protect = '{ secret: row, unit: id, neighbours: add-remove }';
const refused = (work: Promise<unknown>) => work.then(() => undefined, (error: unknown) => error as { message: string }); // biome-ignore format: one line

/** All text about a release, in files and on the terminal, without its noisy numbers. */
async function outputFor(rows: number): Promise<string> {
  shop = openWorkshop(policyYaml({ protect }), 1);
  shop.write('people.csv', peopleCsv(rows));
  const histogram = ['--query', '{"kind":"histogram","column":"party"}', '--epsilon', '0.005'];
  const texts = [
    await runCommand(registerCheck, 'check', shop.policyFile),
    await runCommand(registerRelease, 'release', shop.policyFile, ...histogram, '--out', join(shop.folder, 'out')),
    ...readdirSync(join(shop.folder, 'out'))
      .filter((name) => /receipt|datapackage/.test(name))
      .map((name) => readFileSync(join(shop.folder, 'out', name), 'utf8')),
  ];
  await using fugu = await open(shop.policyFile);
  texts.push(JSON.stringify(await fugu.plan({ kind: 'count', by: ['party'] }, { epsilon: 0.01 })));
  shop.remove();
  return texts.join('\n');
}

describe('neighbouring data sets by add-remove', () => {
  it('add-remove halves the noise of a histogram, and its promise states presence by epsilon and values by twice that', async () => {
    const plan = async (how: string) => {
      shop = openWorkshop(policyYaml({ protect: how }), 300);
      await using fugu = await open(shop.policyFile);
      const plan = await fugu.plan({ kind: 'histogram', column: 'party' }, { epsilon: 0.1 });
      shop.remove();
      return plan;
    };
    const [replaced, added] = [await plan('{ secret: row, unit: id }'), await plan(protect)];
    expect(added.errors[0]!.halfWidth / replaced.errors[0]!.halfWidth).toBeCloseTo(0.5, 1);
    const words = added.guarantee.sentences.join(' ');
    expect(words).toMatch(
      /being in the data, with whatever values, and not being in it by at most a factor of 2\.72 \(epsilon 1\)/,
    );
    expect(words).toMatch(/any two values of a record that is in it by at most a factor of 7\.39 \(twice that\)/);
    expect(words).toMatch(/How many records there are is protected, too \(neighbouring data sets: one record added or removed\)/);
    expect(words).not.toMatch(/how many records there are is public/i);
    // Beliefs are about values: epsilon 2 bounds the posterior from a prior of 10 %.
    expect(words).toMatch(/with 10 % before may believe it with at most 46 % after/);
    expect(replaced.guarantee.sentences.join(' ')).toMatch(/with at most 24 % after/);
    expect(added.whatIf).toEqual([]);
  });

  it('no output discloses the number of records', async () => {
    const rows = 1237;
    const text = await outputFor(rows);
    expect(text).not.toMatch(/1,?237|1,?200/);
    expect(text).not.toMatch(/how many (rows|records) there are(?! is protected)/);
    // The same under replacing, where it is public.
    shop = openWorkshop(policyYaml(), rows);
    await using fugu = await open(shop.policyFile);
    expect(JSON.stringify(await fugu.plan({ kind: 'count', by: ['party'] }, { epsilon: 0.01 }))).toMatch(/about 1,200/);
  });

  it.each([
    ['ties', policyYaml({ protect, dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]' }), /Under ties nothing is promised/],
    ['a delta', policyYaml({ protect, budget: '{ epsilon: 1, delta: 1e-6 }' }), /epsilon alone/],
    ['a belief', policyYaml({ protect, budget: '{ belief: { prior: 0.1, posterior: 0.3 } }' }), /beliefs are about values/],
    ['answers', policyYaml({ protect: '{ secret: answer, neighbours: add-remove }' }), /does not go with the secret "answer"/],
  ])('add-remove is refused with %s', async (_, yaml, message) => {
    shop = openWorkshop(yaml, 30);
    expect((await refused(open(shop.policyFile)))!.message).toMatch(message);
  });

  it('add-remove has its own account: budget spent on presence never counts for replacing, nor the other way', async () => {
    const release = async () => {
      await using fugu = await open(shop.policyFile);
      return await fugu.release({ kind: 'count' }, { epsilon: 0.1 });
    };
    for (const [first, then] of [
      [policyYaml({ protect }), policyYaml()],
      [policyYaml(), policyYaml({ protect })],
    ] as const) {
      // biome-ignore format: one line
      shop = openWorkshop(first, 60);
      await release();
      shop.write('policy.yaml', then);
      expect(await refused(release())).toMatchObject({ code: 'LEDGER_MISMATCH' });
      expect(await refused(amendTerms(shop.policyFile, { reason: 'x' }))).toMatchObject({
        code: 'LEDGER_MISMATCH',
        message: expect.stringMatching(/counted for the secret .*presence of row|it cannot be counted for "presence of row"/),
      });
      shop.remove();
    }
  });

  it('a stream of steps or totals is refused, because the steps that have rows disclose presence', async () => {
    const age = (more: string) => policyYaml({ protect: more }).replace('bounds: [17, 90]', 'bounds: [20, 90], public: true');
    const count = { order: 'age', query: { kind: 'count' }, gaps: 'empty', epsilon: 0.01 } as const;
    shop = openWorkshop(age(protect), 60);
    const policy = await readPolicy(shop.policyFile);
    const engine = await openNow(policy);
    const steps = publicSteps(await readPolicy(shop.write('other.yaml', age('{ secret: row, unit: id }'))), 'age', 1);
    expect((await rowsOfSteps(engine, await readPolicy(join(shop.folder, 'other.yaml')), steps))[0]).toBe(1);
    await expect(rowsOfSteps(engine, policy, steps)).rejects.toThrow(/is protected/);
    await expect(rowsWithoutStep(engine, policy, steps)).rejects.toThrow(/is protected/);
    await expect(rowsBefore(engine, policy, 'age', 'age')).rejects.toThrow(/is protected/);
    await engine.close();
    // Nothing is read: there is nothing to read.
    rmSync(join(shop.folder, 'people.csv'));
    const refusal = {
      code: 'QUERY_UNSUPPORTED',
      message: expect.stringMatching(/which steps have rows/),
      hint: expect.anything(),
    };
    const cli = (...more: string[]) =>
      runCommand(
        registerStream,
        'stream',
        shop.policyFile,
        '--every',
        '1',
        '--order',
        'age',
        '--query',
        '{"kind":"count"}',
        ...more,
      );
    for (const work of [
      () => stream(shop.policyFile, count),
      () => stream(shop.policyFile, { ...count, totals: true }),
      () => planStream(shop.policyFile, count),
      () => planStream(shop.policyFile, { ...count, totals: true }),
      () => attackStream(shop.policyFile, { stream: join(shop.folder, 'none.jsonl') }),
      () => cli('--yes'),
      () => cli('--totals', '--yes'),
      () => cli('--plan'),
    ])
      expect(await refused(work())).toMatchObject(refusal);
    expect(readdirSync(shop.folder).sort()).toEqual(['other.yaml', 'policy.yaml']);
  });

  it('the ledger reports the privacy loss about presence, and twice that about values', async () => {
    const shown = async (how: string) => {
      shop = openWorkshop(policyYaml({ protect: how }), 60);
      await using fugu = await open(shop.policyFile);
      await fugu.release({ kind: 'count' }, { epsilon: 0.35 });
      const { gained: loss, gainedBetweenValues } = await fugu.spent();
      const text = await runCommand(registerLedger, 'ledger', shop.policyFile);
      shop.remove();
      return { gained: loss, gainedBetweenValues, text };
    };
    const added = await shown(protect);
    expect(added.gained).toBeCloseTo(0.35, 9);
    expect(added.gainedBetweenValues).toBe(2 * added.gained);
    expect(added.text).toMatch(/so far: at most 0\.35 \(epsilon\) about whether it is there, and at most 0\.7 about its values/);
    const replaced = await shown('{ secret: row, unit: id }');
    expect(replaced.gainedBetweenValues).toBeUndefined();
    expect(replaced.text).toMatch(/one record so far: at most 0\.35 \(epsilon\)\./);
  });
});
