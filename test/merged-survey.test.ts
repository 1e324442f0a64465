import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { runCommand } from './command.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-merged-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const block = ['served', ...Array.from({ length: 7 }, (_, i) => `war${i}`)];
const rest = ['q0', 'q1', 'q2', 'q3'];
const rows = 3000;
/** One in five served, in one war each; those who did not serve skip the question. */
const answers = (r: number): string[] => {
  const war = r % 5 === 0 ? (r / 5) % 7 : -1;
  return [
    war >= 0 ? '1' : '2',
    ...Array.from({ length: 7 }, (_, i) => (war < 0 ? '' : i === war ? '1' : '2')),
    ...rest.map((_, i) => `${1 + ((r >> i) % 3)}`),
  ];
};
const support = [
  ['2', ...Array<string>(7).fill('')],
  ...Array.from({ length: 7 }, (_, war) => ['1', ...Array.from({ length: 7 }, (_, i) => (i === war ? '1' : '2'))]),
];

function survey(more: { protect?: string; budget?: string; merge?: boolean; support?: readonly string[][] } = {}): string {
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  put(
    'survey.csv',
    `${[...block, ...rest].join(',')}\n${Array.from({ length: rows }, (_, r) => answers(r).join(',')).join('\n')}\n`,
  );
  const codes = [...block.map((n) => [n, 2] as const), ...rest.map((n) => [n, 3] as const)];
  const lines = codes.flatMap(([n, v]) => Array.from({ length: v }, (_, k) => `${n},${k + 1},`));
  put('codebook.csv', `name,value,label\n${lines.join('\n')}\n`);
  put('skip.csv', `${block.join(',')}\n${(more.support ?? support).map((line) => line.join(',')).join('\n')}\n`);
  put(
    'policy.yaml',
    `data: { source: survey.csv, codebook: codebook.csv }
population: wave
ledger: ledger.db
protect: ${more.protect ?? '{ secret: row }'}
budget: ${more.budget ?? '{ epsilon: 1 }'}
dependence: none
${more.merge === false ? '' : 'merge: [{ support: skip.csv }]'}
`,
  );
  return join(folder, 'policy.yaml');
}
const json = async (register: typeof registerPlan, ...words: string[]) =>
  JSON.parse(await runCommand(register, ...words, '--json'));
interface Planned {
  readonly cells: number;
  readonly tables?: number;
}
interface Row {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly keys: readonly string[];
}
const tableOf = (release: { tables: { name: string; rows: Row[] }[] }, name: string) =>
  release.tables.find((t) => t.name === name)!.rows;

describe('a survey with a skip block', () => {
  it.each([
    ['Laplace', '{ epsilon: 1 }'],
    ['Gaussian', '{ epsilon: 1, delta: 0.01 }'],
  ])('the survey has one joint table for the block, and less error: %s', async (name, budget) => {
    const separate = await json(registerPlan, 'plan', survey({ budget, merge: false }), '--survey');
    const policy = survey({ budget });
    const plan = await json(registerPlan, 'plan', policy, '--survey');
    expect(plan.survey.chosen.name).toBe(`${name}, merged`);
    expect(plan.survey.chosen.error.l2).toBeLessThan(0.85 * separate.survey.chosen.error.l2);
    expect(plan.measures.map((m: Planned) => [m.cells, m.tables ?? 1])).toEqual([[9, 8], ...rest.map(() => [4, 1])]);

    const release = await json(registerRelease, 'release', policy, '--survey');
    // The receipt holds the expected errors of the plan.
    expect(release.together.l2).toBeCloseTo(plan.survey.chosen.error.l2, 1);
    expect(release.tables.map((t: { name: string }) => t.name)).toEqual([...block, ...rest]);
    expect(tableOf(release, 'war3').map((r) => r.keys[0])).toEqual(['1', '2', '(missing)']);
  });

  it('the joint table gives the same numbers as one table per column when noise is negligible', async () => {
    const budget = '{ epsilon: 100000 }';
    const merged = await json(
      registerRelease,
      'release',
      survey({ budget }),
      '--survey',
      '--epsilon',
      '40000',
      '--accept-no-protection',
    );
    const separate = await json(
      registerRelease,
      'release',
      survey({ budget, merge: false }),
      '--survey',
      '--epsilon',
      '40000',
      '--accept-no-protection',
    );
    expect(merged.receipt.measures[0].tables).toBe(8);
    const values = (release: typeof merged) => release.tables.map((t: { rows: Row[] }) => t.rows.map((r) => r.value));
    expect(values(merged)).toEqual(values(separate));
    expect(tableOf(merged, 'war0').map((r) => r.value)).toEqual([86, 514, 2400]);
  });

  it('the totals of all tables agree when tidied', async () => {
    const release = await json(registerRelease, 'release', survey(), '--survey', '--tidy');
    const totals = release.tables.map((t: { rows: Row[] }) => t.rows.reduce((sum, r) => sum + r.value, 0));
    expect(new Set(totals).size).toBe(1);
    for (const t of release.tables) for (const r of t.rows) expect(r.value).toBeGreaterThanOrEqual(0);
  });

  it('every answer of the block is charged when the secret is an answer', async () => {
    const policy = survey({ protect: '{ secret: answer }' });
    const { receipt } = await json(registerRelease, 'release', policy, '--survey');
    expect(receipt.measures[0].tables).toBe(8);
    const costs = receipt.profile.perRecord;
    expect(new Set(block.map((name) => costs[name])).size).toBe(1);
    expect(Object.keys(costs).sort()).toEqual(['*', ...block, ...rest].sort());
    expect(costs['*'].split('/').reduce((a: number, b: string) => a / Number(b))).toBeCloseTo(1, 8);
  });

  it('the survey is answered from the record when repeated, and is another request under another support', async () => {
    const first = await json(registerRelease, 'release', survey(), '--survey', '--epsilon', '0.5');
    const again = await json(registerRelease, 'release', survey(), '--survey', '--epsilon', '0.5');
    expect(again.receipt.ledger.replayed).toBe(true);
    expect(again.tables).toEqual(first.tables);
    const other = survey({ support: [...support, ['1', ...Array<string>(7).fill('2')]] });
    const anew = await json(registerRelease, 'release', other, '--survey', '--epsilon', '0.5');
    expect(anew.receipt.ledger.replayed).toBe(false);
  });

  it('the survey keeps one table per column when the declared support is too large to help', async () => {
    const all = ['1', '2'].map((gate) => [gate, ...Array<string>(7).fill('*')]);
    const plan = await json(registerPlan, 'plan', survey({ support: all }), '--survey');
    expect(plan.measures).toHaveLength(block.length + rest.length);
    expect(plan.survey.chosen.name).toBe('Laplace, split by size');
  });
});

describe('a recorded answer of a merged survey', () => {
  it('a recorded answer is not returned once the domain of its column has changed', async () => {
    const ask = (policy: string) =>
      json(registerRelease, 'release', policy, '--query', '{"kind":"histogram","column":"q0"}', '--epsilon', '0.1');
    const policy = survey({ merge: false });
    await ask(policy);
    expect((await ask(policy)).receipt.ledger.replayed).toBe(true);
    writeFileSync(join(folder, 'codebook.csv'), 'name,value,label,missing\nq0,1,,\nq0,2,,\nq0,3,,yes\n');
    const anew = await ask(policy);
    expect(anew.receipt.ledger.replayed).toBe(false);
    expect(anew.tables[0].rows).toHaveLength(3);
  });
});
