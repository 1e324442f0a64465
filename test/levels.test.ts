import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registerLearnCommand as registerLearn } from '../src/app/cli/learn.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { one, parseRational, toNumber } from '../src/base/exact/rational.js';
import { declaredAmplifiers } from '../src/data/ties/declared.js';
import { nothingSpent } from '../src/privacy/mechanism/privacy-cost.js';
import { bindBatch } from '../src/query/bind.js';
import { parseBatch } from '../src/query/parse.js';
import { chooseNoise } from '../src/release/accountant/choose.js';
import { openAccount } from '../src/release/accountant/open-account.js';
import { runCommand } from './command.js';
import { Fault, type PrivacySession, readPolicy } from './inside.js';
import { openNow } from './now.js';
import { openWorkshop, type Workshop } from './workshop.js';

/**
 * Tables over bins and pools, and releases over the values inside them. Every world here is one in which the value inside a level decides another
 * answer, which no table of levels shows; the loss of what is planned is enumerated from the planned noise, by nothing of the product.
 */
let shop: Workshop;
beforeEach(() => {
  shop = openWorkshop();
});
afterEach(() => shop.remove());

/** One possible person: how often people are so, whether the secret is the first or second of its two values, and in which cells they are counted. */
interface Person {
  readonly weight: number;
  readonly secret: 0 | 1;
  /** Per measure, the cell of its table (-1: not counted). */
  readonly cells: readonly number[];
}

/**
 * The largest log-likelihood ratio about the secret over all outputs of Laplace noise. A cell's noise multiplies the likelihood of being counted in it by
 * anything from e^(-1/scale) to e^(1/scale); the ratio is a quotient of linear functions in each such factor, so largest at their ends.
 */
function exactLoss(people: readonly Person[], scales: readonly number[]): number {
  const used = scales.map((_, k) => [...new Set(people.map((p) => p.cells[k]!))].filter((c) => c >= 0));
  const knobs = used.flatMap((cells, k) => cells.map((cell) => ({ k, cell })));
  const likelihood = (secret: 0 | 1, ends: number): number => {
    const mine = people.filter((p) => p.secret === secret);
    const total = mine.reduce((sum, p) => sum + p.weight, 0);
    const of = ({ cells }: Person) =>
      knobs.reduce((log, { k, cell }, i) => (cells[k] === cell ? log + ((ends >> i) & 1 ? 1 : -1) / scales[k]! : log), 0);
    return mine.reduce((sum, p) => sum + (p.weight / total) * Math.exp(of(p)), 0);
  };
  let worst = 0;
  for (let ends = 0; ends < 2 ** knobs.length; ends++)
    worst = Math.max(worst, Math.abs(Math.log(likelihood(0, ends) / likelihood(1, ends))));
  return worst;
}

const yaml = (columns: readonly string[], more: { dependence?: string; protect?: string } = {}): string =>
  shop.write(
    'policy.yaml',
    `data: { source: people.csv }
protect: ${more.protect ?? '{ secret: answer, adversary: uninformed }'}
budget: { epsilon: 1 }
population: town
ledger: ledger.db
dependence: ${more.dependence ?? 'none'}
columns:
${columns.map((c) => `  ${c}`).join('\n')}
`,
  );
const learned = '[{ kind: columns, network: learned.json }]';
const learn = (policy: string, ...words: string[]) =>
  runCommand(registerLearn, 'learn', 'columns', policy, '--public', '--out', `${shop.folder}/learned.json`, ...words);

interface PlanText {
  readonly route: string;
  readonly candidates: readonly { readonly route: string }[];
  readonly measures: readonly { readonly noise: { readonly scale: string } }[];
  readonly guarantee: { readonly assumptions: readonly string[]; readonly sentences: readonly string[] };
}
const plan = async (policy: string, queries: readonly object[], epsilon = '1'): Promise<PlanText> =>
  JSON.parse(
    await runCommand(registerPlan, 'plan', policy, '--query', JSON.stringify({ queries }), '--epsilon', epsilon, '--json'),
  );
/** True if the tables were among the candidates, best or not. */
const byTables = ({ candidates }: Pick<PlanText, 'candidates'>): boolean => candidates.some((c) => c.route !== 'independent');
const scalesOf = ({ measures }: PlanText) => measures.map((m) => toNumber(parseRational(m.noise.scale)));

/** Costs that would be planned if routes forgot their preconditions. */
async function forgetful(policy: string, queries: readonly object[]): Promise<readonly number[]> {
  const read = await readPolicy(policy);
  const engine = await openNow(read);
  const { amplifiers } = await declaredAmplifiers(read, engine);
  await engine.close();
  const account = openAccount(
    read,
    amplifiers.map((a) => ({ ...a, conditions: [] })),
  );
  const { measures } = bindBatch(parseBatch({ queries }), read);
  const [best] = chooseNoise(measures, account, one, nothingSpent);
  return best!.mechanisms.map(({ distribution }) =>
    distribution.kind === 'laplace' ? toNumber(distribution.scale) : Number.NaN,
  );
}

const rows = 12_000;
/** Members earn less than 30,000, the others more; everybody earns less than 100,000, which is the first bin. */
const isMember = (i: number) => i % 4 < 2;
const incomes = (i: number) => (isMember(i) ? [5, 15, 25][i % 3]! : [35, 65, 95][i % 3]!) * 1000;
const income = '{ type: integer, bounds: [0, 200000], step: 1000, bins: [100000] }';
const member = 'member: { type: category, values: [yes, no] }';
const people = (columns: number): readonly Person[] => [
  { weight: 1, secret: 0, cells: [0, ...new Array<number>(columns).fill(0)] },
  { weight: 1, secret: 1, cells: [1, ...new Array<number>(columns).fill(-1)] },
];
const below = (column: string) => ({ kind: 'count', where: [{ column, op: '<', value: 30000 }] });
const histogram = (column: string) => ({ kind: 'histogram', column });

function writeIncomes(columns: readonly string[]): void {
  const lines = Array.from({ length: rows }, (_, i) => [isMember(i) ? 'yes' : 'no', ...columns.map(() => incomes(i))].join());
  shop.write('people.csv', `member,${columns.join()}\n${lines.join('\n')}\n`);
}

describe('a release that reads inside a bin', () => {
  it('tables of bins do not plan it: a member decides income below 30,000', async () => {
    writeIncomes(['income']);
    const columns = [member, `income: ${income}`];
    await learn(yaml(columns), '--pairwise');
    const policy = yaml(columns, { dependence: learned });
    const queries = [histogram('member'), below('income')];
    const planned = await plan(policy, queries);
    expect(exactLoss(people(1), scalesOf(planned))).toBeLessThanOrEqual(1 + 1e-9);
    expect(byTables(planned)).toBe(false);
    expect(exactLoss(people(1), await forgetful(policy, queries))).toBeCloseTo(1.75, 1);
    // by bins the tables speak, and say so
    const whole = await plan(policy, [histogram('member'), histogram('income')]);
    expect(whole.route).toMatch(/Pairwise/);
    expect(whole.guarantee.assumptions.join(' ')).toMatch(/know "income" by levels only/);
    expect(whole.guarantee.sentences[0]).toMatch(/one answer of one person \(of "income" the range or pool/);
  });

  it('tables of bins do not plan it with twenty columns either', async () => {
    const names = Array.from({ length: 19 }, (_, k) => `income${k}`);
    writeIncomes(names);
    const columns = [member, ...names.map((name) => `${name}: ${income}`)];
    await learn(yaml(columns), '--pairwise');
    const policy = yaml(columns, { dependence: learned });
    const queries = [histogram('member'), ...names.map(below)];
    // the two kinds of people differ in every table, so the loss is the sum of what each costs
    const loss = (scales: readonly number[]) => scales.reduce((sum, s, k) => sum + (k === 0 ? 2 : 1) / s, 0);
    expect(loss(scalesOf(await plan(policy, queries)))).toBeLessThanOrEqual(1 + 1e-9);
    expect(loss(await forgetful(policy, queries))).toBeGreaterThan(2.6);
  });

  it('a network of bins without an edge does not plan it', async () => {
    writeIncomes(['income']);
    const columns = [member, `income: ${income}`];
    await learn(yaml(columns));
    const policy = yaml(columns, { dependence: learned });
    const queries = [histogram('member'), below('income')];
    expect(exactLoss(people(1), scalesOf(await plan(policy, queries)))).toBeLessThanOrEqual(1 + 1e-9);
    expect(exactLoss(people(1), await forgetful(policy, queries))).toBeCloseTo(2, 6);
    expect((await plan(policy, [histogram('member'), histogram('income')])).route).toMatch(/ties between columns/);
    await learn(yaml(columns), '--out', `${shop.folder}/learned.bif`);
    const bif = yaml(columns, { dependence: learned.replace('json', 'bif') });
    expect(byTables(await plan(bif, [histogram('member'), histogram('income')]))).toBe(true);
    expect(byTables(await plan(bif, queries))).toBe(false);
    const anew = yaml([member, `income: ${income.replace('step', 'missing: [-1], step')}`], { dependence: learned });
    await expect(plan(anew, queries)).rejects.toThrow(/learned over other declared values/);
    const informed = yaml(columns, { dependence: learned, protect: '{ secret: answer }' });
    await expect(plan(informed, queries)).rejects.toThrow(/by levels only, and an informed attacker may know/);
  });

  it('a mean, a sum, a variance, a quantile or a test of one value reads inside a bin, too; a test at an edge does not', async () => {
    writeIncomes(['income']);
    const columns = [member, `income: ${income}`];
    await learn(yaml(columns), '--pairwise');
    const session = await shop.session(yaml(columns, { dependence: learned }));
    const test = (op: string, value: number) => ({ kind: 'count', where: [{ column: 'income', op, value }] });
    for (const query of [
      { kind: 'mean', column: 'income' },
      { kind: 'sum', column: 'income' },
      { kind: 'variance', column: 'income' },
      { kind: 'quantile', column: 'income', at: [0.5] },
      test('=', 150000),
      test('<=', 100000),
    ])
      expect(byTables(await session.plan(query))).toBe(false);
    for (const query of [test('>=', 100000), test('>', 99000), test('<', 100000), histogram('income')])
      expect(byTables(await session.plan(query))).toBe(true);
    await session.close();
  });
});

describe('a release that reads inside a pool', () => {
  const party = 'party: { type: category, values: [dem, rep, green, lib], pools: [[dem, rep, green]] }';
  const one = { kind: 'count', where: [{ column: 'party', op: '=', value: 'green' }] };

  it('tables of pools do not plan it: members vote green', async () => {
    const line = (i: number) => (isMember(i) ? 'yes,green' : `no,${['dem', 'rep'][i % 2]}`);
    shop.write('people.csv', `member,party\n${Array.from({ length: rows }, (_, i) => line(i)).join('\n')}\n`);
    await learn(yaml([member, party]), '--pairwise');
    const policy = yaml([member, party], { dependence: learned });
    const queries = [histogram('member'), one];
    expect(exactLoss(people(1), scalesOf(await plan(policy, queries)))).toBeLessThanOrEqual(1 + 1e-9);
    expect(exactLoss(people(1), await forgetful(policy, queries))).toBeGreaterThan(1.7);
    expect(byTables(await plan(policy, [histogram('party')]))).toBe(true);
    const pool = { kind: 'count', where: [{ column: 'party', op: 'in', values: ['dem', 'rep', 'green'] }] };
    expect(byTables(await plan(policy, [pool]))).toBe(true);
  });
});

describe('all releases together', () => {
  const columns = [member, `income: ${income}`];
  const spentOn = async (session: PrivacySession, query: object, epsilon: string): Promise<number> => {
    const { receipt } = await session.release(query, { epsilon });
    const { noise } = receipt.measures[0]!;
    return (query as { kind: string }).kind === 'histogram' && noise.kind === 'laplace'
      ? 2 / toNumber(parseRational(noise.scale))
      : 1 / toNumber(parseRational((noise as { scale: string }).scale));
  };

  it.each([
    ['after tables of bins', [histogram('member'), below('income'), histogram('income'), below('income')]],
    ['before tables of bins', [below('income'), histogram('member'), histogram('income'), histogram('member')]],
  ])('the releases keep epsilon when one of them reads inside a bin %s', async (_, wanted) => {
    writeIncomes(['income']);
    await learn(yaml(columns), '--pairwise');
    const session = await shop.session(yaml(columns, { dependence: learned }));
    const paid: number[] = [];
    for (const [k, query] of wanted.entries()) {
      const epsilon = ['0.3', '0.25', '0.2', '0.15'][k]!;
      if (!(await session.plan(query, { epsilon })).fits) {
        await expect(session.release(query, { epsilon })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
        continue;
      }
      paid.push(await spentOn(session, query, epsilon));
    }
    // member and income decide each other here, so that everything paid adds up
    expect(paid.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(1 + 1e-9);
    expect(paid.length).toBeGreaterThanOrEqual(3);
    expect(byTables(await session.plan(histogram('member'), { epsilon: '0.01' }))).toBe(false);
    await session.close();
  });

  it('the releases count by the values declared when they were made', async () => {
    writeIncomes(['income']);
    await learn(yaml(columns), '--pairwise');
    const session = await shop.session(yaml(columns, { dependence: learned }));
    await session.release(histogram('member'), { epsilon: '0.3' });
    expect(byTables(await session.plan(histogram('income'), { epsilon: '0.3' }))).toBe(true);
    await session.close();
    // finer bins: the file still speaks about the old ones
    const finer = yaml([member, `income: ${income.replace('[100000]', '[30000, 100000]')}`], { dependence: learned });
    const again = await shop.session(finer);
    expect(byTables(await again.plan(histogram('income'), { epsilon: '0.3' }))).toBe(false);
    expect(byTables(await again.plan(histogram('member'), { epsilon: '0.3' }))).toBe(true);
    await again.close();
    for (const other of ['[0, 300000]', '[0, 200000], missing: [-1]']) {
      const changed = yaml([member, `income: ${income.replace('[0, 200000]', other)}`], { dependence: learned });
      await expect(shop.session(changed)).rejects.toThrow(Fault);
    }
  });
});

describe('a public column', () => {
  const form = (more = '') => `form: { type: category, values: [a, b], public: true${more} }`;
  const bit = (name: string) => `${name}: { type: category, values: [0, 1] }`;
  /** On one form the second answer repeats the first, on the other it contradicts it; over both there is no tie. */
  const writeForms = (more = '') => {
    const line = (i: number) => `${'ab'[(i >> 1) % 2]},${(i >> 2) % 2},${((i >> 2) + (i >> 1)) % 2}${more}`;
    shop.write('people.csv', `form,x,y${more && ',w'}\n${Array.from({ length: rows }, (_, i) => line(i)).join('\n')}\n`);
  };
  const inForm: readonly Person[] = [
    { weight: 1, secret: 0, cells: [0, 0] },
    { weight: 1, secret: 1, cells: [1, 1] },
  ];
  const queries = [histogram('x'), histogram('y')];

  it('a public column is identified by its value, not by the pool that shows it', async () => {
    writeForms();
    const columns = [form(', pools: [[a, b]]'), bit('x'), bit('y')];
    await learn(yaml(columns), '--pairwise');
    const policy = yaml(columns, { dependence: learned });
    expect(exactLoss(inForm, scalesOf(await plan(policy, queries)))).toBeLessThanOrEqual(1 + 1e-9);
    // as if the two forms were one
    await learn(yaml([bit('x'), bit('y')]), '--pairwise');
    const hidden = yaml([bit('x'), bit('y')], { dependence: learned });
    expect(exactLoss(inForm, scalesOf(await plan(hidden, queries)))).toBeGreaterThan(1.7);
    await expect(plan(yaml(columns, { dependence: learned }), queries)).rejects.toThrow(/other public columns.*"form"/);
  });

  it('a public column without a small set of values is refused, in the tables and in the policy', async () => {
    writeForms(',1');
    const weight = 'w: { type: weight, bounds: [0, 2], public: true }';
    await expect(learn(yaml([form(), bit('x'), bit('y'), weight]), '--pairwise')).rejects.toThrow(/public column "w"/);
    await learn(yaml([form(), bit('x'), bit('y')]), '--pairwise');
    await expect(plan(yaml([form(), bit('x'), bit('y'), weight], { dependence: learned }), queries)).rejects.toThrow(/"w"/);
    await expect(plan(yaml([bit('x'), bit('y')], { dependence: learned }), queries)).rejects.toThrow(/"form"/);
  });
});
