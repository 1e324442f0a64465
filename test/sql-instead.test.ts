import { afterEach, describe, expect, it } from 'vitest';
import { registerEpsilonCommand as registerEpsilon } from '../src/app/cli/epsilon.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { registerStreamCommand as registerStream } from '../src/app/cli/stream.js';
import { open } from '../src/index.js';
import { runCommand } from './command.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop.remove());

const sentence =
  'MAX(age) is answered by the 99 % quantile of age: the largest value is that of one person, and no release tells it.';
const sql = 'SELECT MAX(age) AS oldest FROM people';

describe('SQL that is answered by a different statistic', () => {
  it('the plan, answer and receipt name the statistic, in text and in JSON', async () => {
    shop = openWorkshop();
    const words = [shop.policyFile, '--sql', sql, '--epsilon', '0.1'];
    expect(await runCommand(registerPlan, 'plan', ...words)).toContain(`Warning: ${sentence}`);
    expect(JSON.parse(await runCommand(registerPlan, 'plan', ...words, '--json')).warnings).toContain(sentence);
    expect(await runCommand(registerRelease, 'release', ...words)).toContain(`Warning: ${sentence}`);
    const [, ...sqlArgs] = words.slice(0, 3);
    expect(await runCommand(registerEpsilon, 'epsilon', shop.policyFile, ...sqlArgs)).toContain(`Warning: ${sentence}`);
    expect(JSON.parse(await runCommand(registerEpsilon, 'epsilon', shop.policyFile, ...sqlArgs, '--json')).warnings).toEqual([
      sentence,
    ]);
    // From the record, too.
    expect(await runCommand(registerPlan, 'plan', ...words)).toContain(`Warning: ${sentence}`);
    const { receipt, tables } = JSON.parse(await runCommand(registerRelease, 'release', ...words, '--json'));
    expect(receipt.ledger.replayed).toBe(true);
    expect(receipt.warnings).toContain(sentence);
    expect(tables[0].name).toBe('oldest (99 % quantile)');
  });

  it('a stream names the statistic once, and so does its plan', async () => {
    shop = openWorkshop(policyYaml({ extra: '  day: { type: integer, bounds: [1, 2], public: true }' }));
    shop.write(
      'people.csv',
      `id,day,party,age,weight,media\n${Array.from({ length: 400 }, (_, k) => `p${k},${1 + (k % 2)},dem,${20 + (k % 50)},1,tv\n`).join('')}`,
    );
    const words = ['stream', shop.policyFile, '--order', 'day', '--every', '1', '--sql', sql, '--epsilon', '0.1'];
    expect(await runCommand(registerStream, ...words, '--plan')).toContain(`Warning: ${sentence}`);
    const output = await runCommand(registerStream, ...words, '--through', '2', '--yes');
    expect(output.match(/Warning: MAX/g)).toHaveLength(1);
    expect(output).toContain(sentence);
  });

  it('a request for the quantile itself gets no such note, even after one in SQL', async () => {
    shop = openWorkshop();
    await using fugu = await open(shop.policyFile);
    await fugu.release({ sql }, { epsilon: 0.1 });
    const quantile = { kind: 'quantile' as const, column: 'age', at: [0.99] };
    const { receipt } = await fugu.release(quantile, { epsilon: 0.1 });
    expect([receipt.ledger.replayed, receipt.warnings ?? []]).toEqual([true, []]);
    expect((await fugu.plan({ sql: 'SELECT MIN(age), MEDIAN(age) FROM people' })).warnings).toEqual([
      expect.stringMatching(/^MIN\(age\) is answered by the 1 % quantile of age/),
    ]);
  });
});
