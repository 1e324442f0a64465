import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { withFugu } from '../src/app/api/fugu.js';
import { type AnyKind, kinds as loaders } from '../src/app/api/kinds.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { type AnyPlan, Fault, type Fugu, open, type Question } from '../src/index.js';
import { runCommand } from './command.js';
import { readPolicy } from './inside.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

const kinds = (await Promise.all(Object.values(loaders).map((load) => load()))) as unknown as readonly AnyKind[];

let shop: Workshop;
afterEach(() => shop?.remove());

const friends = (hidden: boolean) =>
  `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 2000, symmetric: true, private: ${hidden} }\n`;
const pairs = `a,b\n${Array.from({ length: 100 }, (_, i) => `p${i},p${(i * 7 + 1) % 120}`).join('\n')}\n`;
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error as Fault).message,
  );

describe('a plan and the report of its release', () => {
  /** Earlier releases: none, pure noise, Gaussian noise. */
  const histories: Record<string, (fugu: Fugu) => Promise<unknown>> = {
    'nothing was spent': async () => undefined,
    'something was spent with pure noise': (fugu) =>
      fugu.release({ kmeans: { columns: ['age'], clusters: 2, variant: 'grid' } }, { epsilon: 0.9 }),
    'something was spent with Gaussian noise': (fugu) =>
      fugu.release(
        { queries: Array.from({ length: 8 }, (_, i) => ({ kind: 'histogram' as const, column: 'party', name: `p${i}` })) },
        { epsilon: 0.9 },
      ),
  };
  const worlds = [
    { protect: undefined, hidden: false },
    { protect: '{ secret: edge }', hidden: true },
  ];
  for (const [history, before] of Object.entries(histories))
    for (const { protect, hidden } of history === 'nothing was spent' ? worlds : worlds.slice(0, 1))
      it(`the plan matches the release of every kind of question where ${history}${hidden ? ' and single ties are secret' : ''}`, async () => {
        const extra = { extra: friends(hidden), ...(protect && { protect }) };
        const yaml = policyYaml({ budget: '{ epsilon: 4, delta: 1e-6 }', ...extra }).replace(
          'people.csv }',
          'people.csv, links: [home] }',
        );
        shop = openWorkshop(yaml, 120);
        shop.write('friends.csv', pairs);
        const policy = await readPolicy(shop.policyFile);
        let requested = 0;
        for (const { name, example } of kinds) {
          const question = example(policy) as Question | undefined;
          if (question === undefined) continue;
          requested++;
          // Each in an account of its own, so that all of them meet the same history.
          await using fugu = await open(shop.write(`${name}.yaml`, yaml.replace('population: town', `population: ${name}`)));
          await before(fugu);
          for (const epsilon of [1, 9]) {
            const plan = await fugu.plan(question, { epsilon });
            const refused = await refusal(fugu.release(question, { epsilon }));
            expect([name, plan.fits, plan.refusal]).toEqual([name, refused === undefined, refused]);
            // Three quarters of the budget are left in all of these histories.
            if (epsilon === 1) expect([name, refused]).toEqual([name, undefined]);
            else expect(refused).toMatch(/requested .* spent .* remaining/);
          }
        }
        expect(requested).toBe(hidden ? 1 : kinds.length - 1);
      });

  it('the command line prints the same', async () => {
    shop = openWorkshop(policyYaml(), 300);
    const text = await runCommand(registerPlan, 'plan', shop.policyFile, '--query', '{"kind":"count"}', '--epsilon', '3');
    expect(text).toMatch(/A release would say: The budget does not allow this: requested 3, spent 0 of 1, remaining 1/);
  });
});

describe('the decision to spend', () => {
  const asking = async <T>(answer: boolean, work: (fugu: Fugu) => Promise<T>) => {
    const shown: AnyPlan[] = [];
    const decide = async (plan: unknown) => {
      shown.push(plan as AnyPlan);
      if (!answer) throw new Fault('USAGE', 'no', 'no');
    };
    const done = await withFugu(shop.policyFile, { decide: decide as never }, work).catch((error: unknown) => error as Fault);
    return { shown, done };
  };

  it('the decision is requested once before anything is reserved, with the errors; a no spends nothing', async () => {
    shop = openWorkshop(policyYaml(), 300);
    const { shown, done } = await asking(false, (fugu) => fugu.release({ kind: 'histogram', column: 'party' }, { epsilon: 0.5 }));
    expect(done).toMatchObject({ code: 'USAGE', outcome: { state: 'not spent' } });
    expect(shown).toHaveLength(1);
    expect(shown[0]!.errors[0]!.halfWidth).toBeGreaterThan(1);
    await using fugu = await open(shop.policyFile);
    expect(await fugu.entries()).toEqual([]);
  });

  it('the decision covers records that arrive meanwhile: no answer is paid for that cannot be given', async () => {
    const yaml = policyYaml({ budget: '{ epsilon: 4, delta: 1e-6 }', extra: friends(false) });
    const refused: string[] = [];
    for (const { name, example } of kinds) {
      shop = openWorkshop(yaml.replace('people.csv }', 'people.csv, links: [home] }'), 120);
      shop.write('friends.csv', pairs);
      const question = example(await readPolicy(shop.policyFile)) as Question | undefined;
      const data = join(dirname(shop.policyFile), 'people.csv');
      const last = readFileSync(data, 'utf8').trimEnd().split('\n').at(-1)!;
      const decide = async () => appendFileSync(data, `${last.replace('p119', 'p120')}\n`);
      const work = (fugu: Fugu) => fugu.release(question!, { epsilon: 1 });
      const done =
        question &&
        (await withFugu(shop.policyFile, { decide: decide as never }, work).catch((error: unknown) => error as Fault));
      shop.remove();
      if (!(done instanceof Error)) continue;
      refused.push(name);
      expect([name, (done as Fault).message, (done as Fault).outcome?.state]).toEqual([
        name,
        'The number of records has changed since this was planned.',
        'not spent',
      ]);
    }
    expect(refused).toEqual(expect.arrayContaining(['synth', 'classify']));
  });

  it('no decision is requested for a question that is recorded, refused, or was paid for before', async () => {
    shop = openWorkshop(policyYaml(), 300);
    const ask = { kind: 'histogram' as const, column: 'party' };
    expect((await asking(true, (fugu) => fugu.release(ask, { epsilon: 0.5 }))).shown).toHaveLength(1);
    expect((await asking(false, (fugu) => fugu.release(ask, { epsilon: 0.5 }))).shown).toHaveLength(0);
    const refused = await asking(true, (fugu) => fugu.release(ask, { epsilon: 0.75 }));
    expect([refused.shown.length, (refused.done as Fault).code]).toEqual([0, 'BUDGET_EXCEEDED']);
  });

  it('an error is compared with the number counted: rows of persons, weights, records', async () => {
    const warned = async (question: Question, epsilon: number, protect?: string) => {
      shop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }', ...(protect !== undefined && { protect }) }), 300);
      await using fugu = await open(shop.policyFile);
      const { warnings = [], errors } = (await fugu.plan(question, { epsilon })) as AnyPlan & { errors: { halfWidth: number }[] };
      shop.remove();
      return { text: warnings.find((w) => w.startsWith('Mostly noise')), half: Math.max(...errors.map((e) => e.halfWidth)) };
    };
    const persons = '{ secret: person, unit: id, maxRows: 10 }';
    // 300 persons with ten rows at most: an error of 90 rows is a lot for persons, and little for 3,000 rows.
    const few = await warned({ kind: 'histogram', column: 'party' }, 1, persons);
    expect([few.half > 30, few.half < 300, few.text]).toEqual([true, true, undefined]);
    const many = await warned({ kind: 'histogram', column: 'party' }, 0.05, persons);
    expect(many.text).toMatch(/more than a tenth of the rows there can be, at most 3,000 \(about 300 persons\)/);
    const weighed = await warned({ kind: 'histogram', column: 'party', weight: 'weight' }, 0.05);
    expect(weighed.text).toMatch(/more than a tenth of what all weights can come to, at most 900 \(about 300 records\)/);
    const light = await warned({ kind: 'histogram', column: 'party', weight: 'weight' }, 0.28);
    expect([light.half > 30, light.half < 90, light.text]).toEqual([true, true, undefined]);
  });

  it('an error above a tenth of the records is reported, with the best alternatives', async () => {
    shop = openWorkshop(policyYaml(), 300);
    await using fugu = await open(shop.policyFile);
    const plan = await fugu.plan({ kind: 'count', by: ['party'] }, { epsilon: 0.05 });
    expect(plan.warnings!.join()).toMatch(/Mostly noise: .*±\d+.* more than a tenth of the records there are, about 300/);
    expect(plan.waysOut!.map((w) => w.change)).toEqual(expect.arrayContaining(['spend more of what is left: --epsilon 1']));
    expect((await fugu.plan({ kind: 'count', by: ['party'] }, { epsilon: 0.5 })).warnings).toBeUndefined();
    const { receipt } = await fugu.release({ kind: 'count', by: ['party'] }, { epsilon: 0.05 });
    expect(receipt.warnings).toEqual(plan.warnings);
  });

  it('a budget too small names three alternatives, the best first, with errors that come true', async () => {
    shop = openWorkshop(policyYaml({ budget: '{ epsilon: 0.25 }' }), 300);
    await using fugu = await open(shop.policyFile);
    const queries = Array.from({ length: 20 }, (_, i) => ({
      kind: 'histogram' as const,
      column: 'party',
      where: [{ column: 'age', op: '>' as const, value: 20 + i }],
    }));
    const plan = await fugu.plan({ queries }, { epsilon: 0.2 });
    const ways = plan.waysOut!;
    expect(ways).toHaveLength(3);
    expect(ways.map((w) => w.error)).toEqual(ways.map((w) => w.error).sort((a, b) => a - b));
    expect(ways.map((w) => w.change).join()).toMatch(/fewer questions.*|delta/);
    const worst = Math.max(...plan.errors.map((e) => e.halfWidth));
    for (const { error } of ways) expect(error).toBeLessThan(worst);
    const few = ways.find((w) => w.change.includes('fewer'))!;
    const fewer = await fugu.plan({ queries: queries.slice(0, 2) }, { epsilon: 0.2 });
    expect(Math.max(...fewer.errors.map((e) => e.halfWidth))).toBeCloseTo(few.error, 6);
    shop.write('policy.yaml', policyYaml({ budget: '{ epsilon: 0.25, delta: 0.000001 }' }));
    await using other = await open(shop.policyFile);
    const gaussian = await other.plan({ queries }, { epsilon: 0.2 });
    expect(Math.max(...gaussian.errors.map((e) => e.halfWidth))).toBeCloseTo(
      ways.find((w) => w.change.includes('delta'))!.error,
      6,
    );
  });

  it('the last remainder of a budget is never spent in silence', async () => {
    shop = openWorkshop(policyYaml(), 3000);
    await using fugu = await open(shop.policyFile);
    await fugu.release({ kind: 'count' }, { epsilon: '0.9901' });
    const plan = await fugu.plan({ kind: 'histogram', column: 'party' });
    expect(plan.epsilon).toBeCloseTo(0.0099, 6);
    expect(plan.warnings!.join()).toMatch(/takes all that is left to spend, epsilon 0\.0099.*less than the tenth/);
    const { receipt } = await fugu.release({ kind: 'histogram', column: 'party' });
    expect(receipt.warnings!.join()).toMatch(/all that is left/);
  });
});

describe('a budget that protects nothing', () => {
  it.each(['{ epsilon: 1000 }', '{ epsilon: 1, delta: 0.5 }'])(
    'the budget %s is refused unless accepted, and is never certified',
    async (budget) => {
      shop = openWorkshop(policyYaml({ budget }), 300);
      {
        await using fugu = await open(shop.policyFile);
        for (const work of [fugu.plan({ kind: 'count' }), fugu.release({ kind: 'count' })])
          expect(await work.catch((error: unknown) => error)).toMatchObject({
            code: 'BUDGET_INVALID',
            message: expect.stringContaining('protects nothing') as string,
            outcome: { state: 'not spent' },
          });
        expect((await fugu.spent()).budget.spent).toBe(0);
      }
      await using fugu = await open(shop.policyFile, { acceptNoProtection: true });
      const { receipt } = await fugu.release({ kind: 'count' });
      expect(receipt.guarantee).toMatchObject({ certified: false, protectsNothing: true });
      expect(receipt.guarantee.sentences[0]).toMatch(/protects nothing/);
    },
  );

  it('other budgets are certified, with their neighbouring data sets', async () => {
    shop = openWorkshop(policyYaml(), 300);
    await using fugu = await open(shop.policyFile);
    const { guarantee } = await fugu.plan({ kind: 'count' });
    expect(guarantee.certified).toBe(true);
    expect(guarantee.sentences.join(' ')).toMatch(/How many records there are is public.*one record replaced by any other/);
  });
});

describe('a survey of some questions', () => {
  const columns = `columns:
  q1: { type: category, values: [dem, rep] }
  page_timing: { type: integer, bounds: [0, 900] }
  home: { type: category, values: [h0, h1] }
`;
  const yaml = () =>
    policyYaml({ dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]' })
      .replace('columns:\n', columns)
      .replace('source: people.csv', 'source: more.csv');

  it('the survey covers the named or matching questions, and by default no timings, ids and keys of groups', async () => {
    shop = openWorkshop(yaml(), 60);
    const [head, ...rows] = readFileSync(`${shop.folder}/people.csv`, 'utf8').trim().split('\n');
    shop.write('more.csv', `${head},q1,page_timing\n${rows.map((r, i) => `${r},dem,${i}`).join('\n')}\n`);
    await using fugu = await open(shop.policyFile);
    const names = async (question: object) => (await fugu.plan(question as { survey: true })).errors.map((e) => e.name);
    expect(await names({ survey: true })).toEqual(['q1', 'party', 'age', 'media']);
    expect(await names({ survey: true, columns: ['*'] })).toEqual(['q1', 'party', 'age', 'media']);
    expect(await names({ survey: true, columns: ['p*'] })).toEqual(['party']);
    expect(await names({ survey: true, except: ['a*', 'media'] })).toEqual(['q1', 'party']);
    expect(await names({ survey: true, columns: ['page_timing', 'home'] })).toEqual(['page_timing', 'home']);
    expect((await fugu.plan({ survey: true })).survey.leftOut).toEqual(['page_timing', 'home']);
    expect(await refusal(names({ survey: true, columns: ['nothing'] }))).toMatch(/no column "nothing"/);
    const text = await runCommand(registerPlan, 'plan', shop.policyFile, '--survey', '--columns', 'q1,party');
    expect(text).toMatch(/one histogram per column \(2 chosen\)/);
    expect(
      await refusal(runCommand(registerPlan, 'plan', shop.policyFile, '--query', '{"kind":"count"}', '--columns', 'q1')),
    ).toMatch(/go with --survey/);
    expect(readdirSync(shop.folder)).not.toContain('report');
  });
});
