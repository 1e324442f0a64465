import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generatedSurvey } from '../bench/learn.js';
import { registerLearnCommand as registerLearn } from '../src/app/cli/learn.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { parseRational, toNumber } from '../src/base/exact/rational.js';
import { readBif } from '../src/privacy/dependence/model/bif.js';
import { readNetworkJson } from '../src/privacy/dependence/model/network-json.js';
import { runCommand } from './command.js';
import { Fault, openLedger } from './inside.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-survey-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const yaml = (more: { protect?: string; budget?: string; dependence?: string; columns?: string } = {}): string =>
  put(
    'policy.yaml',
    `data: { source: survey.csv, codebook: codebook.csv }
population: wave
ledger: ledger.db
protect: ${more.protect ?? '{ secret: row }'}
budget: ${more.budget ?? '{ epsilon: 1 }'}
dependence: ${more.dependence ?? 'none'}
${more.columns ?? ''}`,
  );

/** Twelve questions with five answers (or so), 2,000 people; the answers follow a random network. */
function writeSurvey(answers = 5): void {
  const { names, columns, rows } = generatedSurvey(12, 2000, answers);
  const lines = Array.from({ length: rows }, (_, r) => columns.map((codes) => codes[r]).join(','));
  put('survey.csv', `${names.join(',')}\n${lines.join('\n')}\n`);
  put(
    'codebook.csv',
    `name,value,label\n${names.flatMap((n) => Array.from({ length: answers }, (_, v) => `${n},${v},`)).join('\n')}\n`,
  );
}

const json = async (register: typeof registerPlan, ...words: string[]) =>
  JSON.parse(await runCommand(register, ...words, '--json'));
const entries = async (): Promise<number> => {
  const ledger = await openLedger(join(folder, 'ledger.db'));
  try {
    return (await ledger.entries('wave')).length;
  } finally {
    await ledger.close();
  }
};

describe('a survey from file to table', () => {
  it('the plan lists every way to release the survey and takes Gaussian noise when delta allows', async () => {
    writeSurvey();
    const policy = yaml({ budget: '{ epsilon: 1, delta: 1e-6 }' });
    const plan = await json(registerPlan, 'plan', policy, '--survey');
    expect(plan.survey.candidates.map((c: { name: string }) => c.name).sort()).toEqual([
      'Gaussian',
      'Laplace, equal',
      'Laplace, split by size',
    ]);
    expect(plan.mechanism).toBe(plan.survey.chosen.noise);
    const release = await json(registerRelease, 'release', policy, '--survey', '--tidy');
    expect(release.tables).toHaveLength(12);
    expect(release.together.maximum).toBeCloseTo(plan.survey.chosen.error.maximum, -1);
    expect(release.together.l1).toBeGreaterThan(release.together.l2);
    for (const table of release.tables) {
      const total = table.rows.reduce((sum: number, row: { value: number }) => sum + row.value, 0);
      expect(Math.abs(total - 2000)).toBeLessThan(200);
      for (const row of table.rows) expect(row.value).toBeGreaterThanOrEqual(0);
    }
  });

  it('two-column tables cost less than composition, for one answer and an uninformed attacker only', async () => {
    writeSurvey();
    const policy = yaml({ protect: '{ secret: answer, adversary: uninformed }' });
    const learned = await json(registerLearn, 'learn', 'columns', policy, '--pairwise', '--out', join(folder, 'pairs.json'));
    expect(learned.origin).toEqual({ kind: 'unpaid' });
    expect(learned.noiseOverComposition).toBeLessThan(0.95);
    expect(learned.attack.inSample).toBeLessThanOrEqual(1);
    const before = await json(registerPlan, 'plan', policy, '--survey');

    const declared = yaml({
      protect: '{ secret: answer, adversary: uninformed }',
      dependence: '[{ kind: columns, network: pairs.json }]',
    });
    const plan = await json(registerPlan, 'plan', declared, '--survey');
    expect(plan.survey.chosen.name).toBe('Laplace, pairwise bound');
    expect(plan.errors[0].halfWidth).toBeLessThan(0.97 * before.errors[0].halfWidth);
    expect(plan.guarantee.assumptions.join(' ')).toMatch(/not paid for/);
    const release = await json(registerRelease, 'release', declared, '--survey');
    expect(release.receipt.guarantee).toMatchObject({ secret: 'answer', adversary: 'uninformed' });

    const informed = yaml({ protect: '{ secret: answer }', dependence: '[{ kind: columns, network: pairs.json }]' });
    await expect(runCommand(registerPlan, 'plan', informed, '--survey')).rejects.toThrow(/knows no other answer/);
    const rows = yaml({ dependence: '[{ kind: columns, network: pairs.json }]' });
    await expect(runCommand(registerPlan, 'plan', rows, '--survey')).rejects.toThrow(/single answers/);
  });

  it.each(['{ secret: row }', '{ secret: answer }'])(
    'the plan states the error that the receipt then has, public columns or not: %s',
    async (protect) => {
      writeSurvey();
      const codes = '[0, 1, 2, 3, 4]';
      const { names } = generatedSurvey(12, 1, 5);
      const policy = yaml({ protect, columns: `columns: { ${names[0]}: { type: category, values: ${codes}, public: true } }` });
      const plan = await json(registerPlan, 'plan', policy, '--survey');
      const release = await json(registerRelease, 'release', policy, '--survey');
      expect(release.together.l2 / plan.survey.chosen.error.l2).toBeCloseTo(1, 3);
      expect(release.receipt.measures[0].noise.kind).toBe(protect.includes('answer') ? 'none' : 'laplace');
    },
  );

  it('the survey counts by weights, and reports the common error of the tables', async () => {
    put('survey.csv', `x,y,w\n${Array.from({ length: 200 }, (_, i) => `${i % 3},${i % 2},${(i % 4) / 4}`).join('\n')}\n`);
    put('codebook.csv', 'name,value,label\nx,0,\nx,1,\nx,2,\ny,0,\ny,1,\n');
    const policy = yaml({ columns: 'columns: { w: { type: weight, bounds: [0, 0.75], step: 0.25 } }' });
    const words = ['--survey', '--weight', 'w', '--epsilon', '0.5'];
    const plan = await json(registerPlan, 'plan', policy, ...words);
    const release = await json(registerRelease, 'release', policy, ...words);
    expect(release.tables.map(({ query }: { query: { weight?: string } }) => query.weight)).toEqual(['w', 'w']);
    for (const figure of ['l1', 'l2', 'maximum'])
      expect(release.together[figure] / plan.survey.chosen.error[figure]).toBeCloseTo(1, 2);
  });

  it.each([
    ['people of up to five rows', '{ secret: person, unit: who, maxRows: 5 }', '', 10],
    ['a multi-select column', '{ secret: row }', 'columns: { m: { type: multi, values: [a, b, c, d, e, f, g, h] } }', undefined],
  ])('the output states the error of the planned noise, not of another: %s', async (_, protect, columns, moved) => {
    const line = (i: number) => `p${i % 50},${i % 3},${i % 2},${['a;b', 'c', ''][i % 3]}`;
    put('survey.csv', `who,x,y,m\n${Array.from({ length: 200 }, (_, i) => line(i)).join('\n')}\n`);
    put('codebook.csv', 'name,value,label\nx,0,\nx,1,\nx,2,\ny,0,\ny,1,\n');
    const policy = yaml({ protect, columns });
    const plan = await json(registerPlan, 'plan', policy, '--survey');
    const scales = plan.measures.map((m: { noise: { scale: string } }) => toNumber(parseRational(m.noise.scale)));
    const variance = (scale: number) => 1 / (2 * Math.sinh(1 / (2 * scale)) ** 2);
    const l2 = Math.sqrt(
      plan.measures.reduce((sum: number, m: { cells: number }, k: number) => sum + m.cells * variance(scales[k]), 0),
    );
    const { chosen } = plan.survey;
    expect(chosen.error.l2).toBeCloseTo(l2, 6);
    expect(chosen.parts.map((p: { scale: number }) => p.scale)).toEqual(scales);
    // a table's worst cell cannot be surer than a single cell of it
    expect(chosen.error.maximum).toBeGreaterThanOrEqual(Math.max(...plan.errors.map((e: { halfWidth: number }) => e.halfWidth)));
    if (moved !== undefined) expect(scales.reduce((sum: number, b: number) => sum + moved / b, 0)).toBeCloseTo(1, 5);
    const text = await runCommand(registerPlan, 'plan', policy, '--survey');
    expect(text).toContain(`every cell of all tables is within ± ${Math.round(chosen.error.maximum).toLocaleString('en')}`);
    const release = await json(registerRelease, 'release', policy, '--survey');
    expect(release.together).toEqual(chosen.error);
  });

  it('one answer is protected against an informed attacker by composition when nothing is declared', async () => {
    writeSurvey();
    const plan = await json(registerPlan, 'plan', yaml({ protect: '{ secret: answer }' }), '--survey');
    expect(plan.mechanism).toBe('laplace');
    expect(plan.errors[0].halfWidth).toBeCloseTo(2 * 12 * Math.log(20), 0);
  });
});

describe('the published mechanism', () => {
  it('the published mechanism is shown on request with its audit, labelled, and never released', async () => {
    writeSurvey(3);
    const policy = yaml();
    const plan = await json(registerPlan, 'plan', policy, '--survey', '--as-published');
    const [first] = plan.published;
    expect(first).toMatchObject({ name: 'Tabular-DDP, conditional', certified: false, chunks: 2 });
    const clipped = plan.published.find((f: { reading: string }) => f.reading === 'clipped');
    // less noise than Laplace, paid for with a broken promise
    expect(clipped.ratio).toBeLessThan(1);
    expect(clipped.audit.broken).toBeGreaterThan(clipped.audit.surveys / 2);
    expect(plan.survey.candidates.map((c: { name: string }) => c.name).join()).not.toMatch(/Tabular/);
    const text = await runCommand(registerPlan, 'plan', policy, '--survey', '--as-published');
    expect(text).toMatch(/as published, not sound: Tabular-DDP, max-row/);
    expect(text).toMatch(/not paid for/);
    expect(await entries()).toBe(0);
    await expect(runCommand(registerRelease, 'release', policy, '--survey', '--as-published')).rejects.toThrow(/unknown option/);
    await expect(runCommand(registerPlan, 'plan', policy, '--query', '{"kind":"count"}', '--as-published')).rejects.toThrow(
      /goes with --survey/,
    );
  });

  it('the published mechanism refuses a survey without edges: its sensitivity is zero and it would add no noise', async () => {
    const rows = Array.from({ length: 600 }, (_, i) => [
      i % 2,
      (i >> 1) % 3,
      Math.floor(i / 6) % 2,
      Math.floor(i / 12) % 2,
      Math.floor(i / 24) % 2,
    ]);
    put('survey.csv', `a,b,c,d,e\n${rows.map((r) => r.join(',')).join('\n')}\n`);
    put(
      'codebook.csv',
      `name,value,label\n${['a', 'b', 'c', 'd', 'e'].flatMap((n) => [0, 1, 2].map((v) => `${n},${v},`)).join('\n')}\n`,
    );
    const plan = await json(registerPlan, 'plan', yaml(), '--survey', '--as-published');
    const ignored = plan.published.find((f: { reading: string }) => f.reading === 'zeros-ignored');
    expect(ignored).toMatchObject({ small: 1, bareColumns: 5, l2: 0 });
    expect(ignored.refused).toMatch(/sensitivity below one/);
    expect(ignored.audit).toMatchObject({ broken: ignored.audit.surveys, worst: null });
  });
});

describe('the command fugu learn columns', () => {
  it('the command marks unpaid results, in JSON and in BIF, and states whose rows were public', async () => {
    writeSurvey();
    const policy = yaml();
    const out = (name: string) => join(folder, name);
    await runCommand(registerLearn, 'learn', 'columns', policy, '--out', out('forest.json'));
    const forest = readNetworkJson(readFileSync(out('forest.json'), 'utf8'), 'forest.json');
    expect(forest.origin).toEqual({ learned: 'unpaid' });
    expect(forest.variables.every((v) => v.parents.length <= 1)).toBe(true);
    const output = await runCommand(registerLearn, 'learn', 'columns', policy, '--chunk', '6', '--out', out('net.bif'));
    expect(output).toMatch(/NOT PAID FOR/);
    const chunks = readBif(readFileSync(out('net.bif'), 'utf8'), 'net.bif');
    expect(chunks.origin).toEqual({ learned: 'unpaid' });
    expect(chunks.variables.some((v) => v.parents.length > 0)).toBe(true);
    await runCommand(registerLearn, 'learn', 'columns', policy, '--public', '--out', out('wave1.json'));
    expect(readNetworkJson(readFileSync(out('wave1.json'), 'utf8'), '').origin).toEqual({
      learned: 'public',
      from: 'survey.csv',
    });
    expect(await entries()).toBe(0);
  });

  it('the command with a budget pays before it reads, once for the same request, and stops at the budget', async () => {
    writeSurvey();
    const policy = yaml();
    const paid = ['learn', 'columns', policy, '--epsilon', '0.6', '--out', join(folder, 'paid.json')] as const;
    const first = await json(registerLearn, ...paid);
    expect(first.origin).toEqual({ learned: 'paid', epsilon: '0.6', delta: '0' });
    const text = readFileSync(join(folder, 'paid.json'), 'utf8');
    await json(registerLearn, ...paid);
    expect(readFileSync(join(folder, 'paid.json'), 'utf8')).toBe(text);
    expect(await entries()).toBe(1);
    await expect(
      runCommand(registerLearn, 'learn', 'columns', policy, '--epsilon', '0.7', '--out', join(folder, 'more.json')),
    ).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
  });

  it('the command pays for the one number the pairwise bound needs, and another wave may use it', async () => {
    writeSurvey();
    const policy = yaml();
    const words = [
      'learn',
      'columns',
      policy,
      '--pairwise',
      '--epsilon',
      '1',
      '--least',
      '200',
      '--out',
      join(folder, 'pairs.json'),
    ];
    const first = await json(registerLearn, ...words);
    expect(first.origin).toEqual({ kind: 'paid' });
    expect(first.receipt.profile).toEqual({ noise: 'pure', perRecord: { '*': '1' } });
    expect(first.noiseOverComposition[1].noise).toBeLessThan(1);
    const text = readFileSync(join(folder, 'pairs.json'), 'utf8');
    await json(registerLearn, ...words);
    expect(readFileSync(join(folder, 'pairs.json'), 'utf8')).toBe(text);
    expect(await entries()).toBe(1);
    expect(JSON.parse(text)).toMatchObject({ origin: { kind: 'paid' }, least: 200, confidence: 0.95 });
    expect(JSON.parse(text)).not.toHaveProperty('attack');

    const next = put(
      'next.yaml',
      `data: { source: survey.csv, codebook: codebook.csv }
population: next wave
ledger: ledger.db
protect: { secret: answer, adversary: uninformed }
budget: { epsilon: 1 }
dependence: [{ kind: columns, network: pairs.json }]`,
    );
    const plan = await json(registerPlan, 'plan', next, '--survey');
    expect(plan.survey.chosen.name).toBe('Laplace, pairwise bound');
    expect(plan.guarantee.assumptions.join(' ')).toMatch(/released privately.*at least 200 people/);
  });

  it('the command finds the strong ties of a survey when the budget is large', async () => {
    writeSurvey();
    const policy = yaml({ budget: '{ epsilon: 100000 }' });
    await json(
      registerLearn,
      'learn',
      'columns',
      policy,
      '--epsilon',
      '100000',
      '--accept-no-protection',
      '--out',
      join(folder, 'paid.json'),
    );
    const paid = readNetworkJson(readFileSync(join(folder, 'paid.json'), 'utf8'), '');
    expect(paid.variables.filter((v) => v.parents.length === 1)).toHaveLength(11);
    for (const v of paid.variables.slice(1, 3)) expect(Math.max(...v.table)).toBeGreaterThan(0.3);
  });

  it.each([
    [['--chunk', '21'], /from 1 to 20/],
    [['--confidence', '1'], /between 0 and 1/],
    [['--epsilon', '0.1', '--pairwise'], /how many people must have given/],
    [['--epsilon', '0.1', '--chunk', '5'], /A paid model is a tree/],
    [['--least', '5'], /--least goes with/],
    [['--pool', 'x'], /--pool/],
  ])('the command refuses %s', async (words, message) => {
    writeSurvey();
    await expect(
      runCommand(registerLearn, 'learn', 'columns', yaml(), '--out', join(folder, 'n.json'), ...words),
    ).rejects.toThrow(message);
  });
});

describe('a survey that differs from its declaration', () => {
  const release = (policy: string) => json(registerRelease, 'release', policy, '--survey', '--epsilon', '0.5');

  it('the survey releases a column with one value, an empty one, and one with ten thousand undeclared values', async () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => `same,,v${i}`);
    put('survey.csv', `one,none,many\n${rows.join('\n')}\n`);
    put('codebook.csv', 'name,value,label\none,same,\nnone,a,\nnone,b,\nmany,v1,\nmany,v2,\n');
    const { tables } = await release(yaml());
    expect(tables.map((t: { rows: unknown[] }) => t.rows.length)).toEqual([2, 3, 3]);
    const missing = tables[2].rows.at(-1);
    expect(missing.keys).toEqual(['(missing)']);
    expect(missing.value).toBeGreaterThan(9000);
  });

  it('the survey refuses a codebook with a column that the data lacks, at no cost', async () => {
    put('survey.csv', 'a,b\n1,2\n');
    put('codebook.csv', 'name,value,label\na,1,\nc,1,\n');
    await expect(release(yaml())).rejects.toBeInstanceOf(Fault);
    expect(await entries()).toBe(0);
  });

  it('the survey counts codes missing from the codebook as missing answers instead of showing them', async () => {
    put('survey.csv', `a\n${'1\n7\n'.repeat(500)}`);
    put('codebook.csv', 'name,value,label\na,1,one\na,2,two\n');
    const { tables } = await release(yaml());
    expect(tables[0].rows.map((r: { keys: string[] }) => r.keys[0])).toEqual(['1', '2', '(missing)']);
    expect(JSON.stringify(tables)).not.toContain('"7"');
  });
});
