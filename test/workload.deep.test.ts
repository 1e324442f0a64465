import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { misplacedShare } from '../src/analysis/workload/synthesis-hint.js';
import { workload as kind } from '../src/app/api/kinds/workload.js';
import { registerPlanCommand as registerPlan } from '../src/app/cli/plan.js';
import { registerReleaseCommand as registerRelease } from '../src/app/cli/release.js';
import { runCommand } from './command.js';
import { heldByKind } from './held-by-kind.js';
import { openWorkshop, type Workshop } from './workshop.js';

// Seeded noise: every run draws the same.
vi.mock('../src/privacy/noise/bits.js', async (original) =>
  (await import('./seeded-source.js')).seededNoise(await original<typeof import('../src/privacy/noise/bits.js')>(), 7),
);

const shops: Workshop[] = [];
afterAll(() => {
  for (const shop of shops) shop.remove();
});

const columns = 8;
/** Answers that hang together, from a fixed generator. */
function survey(rows: number): string {
  let seed = 11;
  const next = (m: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % m;
  };
  const lines = Array.from({ length: rows }, (_, i) => {
    const own = next(3);
    return [
      `p${i >> 1}`,
      `h${i >> 2}`,
      ...Array.from({ length: columns }, (_, c) => (next(4) === 0 ? next(3) : (own + c) % 3)),
      'a;b',
    ].join();
  });
  return `${['id', 'home', ...Array.from({ length: columns }, (_, c) => `q${c}`), 'many'].join()}\n${lines.join('\n')}\n`;
}
const policy = (more: { protect?: string; budget?: string; dependence?: string } = {}) => `data: { source: survey.csv }
protect: ${more.protect ?? '{ secret: row }'}
budget: ${more.budget ?? '{ epsilon: 9, delta: 1e-6 }'}
population: town
ledger: ledger.db
dependence: ${more.dependence ?? 'none'}
columns:
${Array.from({ length: columns }, (_, c) => `  q${c}: { type: category, values: ["0", "1", "2"] }`).join('\n')}
  many: { type: multi, values: [a, b], separator: ";" }
`;
function open(text: string, rows = 300): Workshop {
  const shop = openWorkshop(text);
  shops.push(shop);
  shop.write('survey.csv', survey(rows));
  return shop;
}
const pairs = { workload: { tables: [{ all: 2, of: ['q*'] }] } };

/** The exact tables, from the file itself. */
function exactCounts(rows: number): (names: readonly string[]) => Map<string, number> {
  const known = new Map<string, Map<string, number>>();
  const [head, ...lines] = survey(rows)
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  return (names) => {
    const at = names.map((name) => head!.indexOf(name));
    const counts = known.get(names.join()) ?? new Map<string, number>();
    if (counts.size > 0) return counts;
    known.set(names.join(), counts);
    for (const line of lines) {
      const text = at.map((k) => line[k]!).join();
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    return counts;
  };
}

describe('a workload', () => {
  it.each([300, 3_000, 100_000])('the intervals of a workload cover the truth at their level, of %i rows', async (rows) => {
    const session = await open(policy(), rows).session();
    const exact = exactCounts(rows);
    let [held, cells] = [0, 0];
    for (let turn = 0; turn < 8; turn++) {
      const { tables } = await kind.release(session, pairs, { epsilon: '1', fresh: true });
      expect(tables.length).toBe(28);
      for (const { columns: names, rows: list } of tables) {
        const truth = exact(names.slice(0, -1));
        for (const { keys, low, high } of list) {
          const x = truth.get(keys.join()) ?? 0;
          held += Number(x >= low! && x <= high!);
          cells++;
        }
      }
    }
    expect(held / cells).toBeGreaterThan(0.93);
    expect(held / cells).toBeLessThan(0.98);
    await session.close();
  });

  it.each([
    ['rows', policy()],
    ['rows that come and go', policy({ protect: '{ secret: row, neighbours: add-remove }', budget: '{ epsilon: 8 }' })],
    ['persons of two rows', policy({ protect: '{ secret: person, unit: id, maxRows: 2 }' })],
    ['answers', policy({ protect: '{ secret: answer }' })],
    ['households that are tied', policy({ dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]' })],
    ['a budget without delta', policy({ budget: '{ epsilon: 8 }' })],
  ])('the workload is planned, paid for and recorded: %s', async (_, text) => {
    const session = await open(text).session();
    const plan = await kind.plan(session, pairs, { epsilon: '2' });
    expect(plan.fits).toBe(true);
    expect(plan.errors.length).toBe(28);
    expect(plan.mechanism).toBe(
      text.includes('epsilon: 8 }') ? 'laplace, every table by itself' : 'gaussian, without smaller tables',
    );
    const released = await kind.release(session, pairs, { epsilon: '2' });
    expect(released.tables[0]!.rows[0]!.standardError).toBeCloseTo(plan.errors[0]!.standardError, 8);
    const again = await kind.release(session, pairs, { epsilon: '2' });
    expect(again.receipt.ledger.replayed).toBe(true);
    expect(again.tables).toEqual(released.tables);
    // All tables agree: every one has the same number of rows, and q0 is q0.
    const sums = released.tables.map((t) => t.rows.reduce((sum, r) => sum + r.value!, 0));
    for (const sum of sums) expect(sum).toBeCloseTo(sums[0]!, 5);
    const ofZero = released.tables
      .filter((t) => t.columns[0] === 'q0')
      .map((t) => t.rows.filter(({ keys }) => keys[0] === '1').reduce((sum, r) => sum + r.value!, 0));
    expect(ofZero.length).toBe(7);
    for (const x of ofZero) expect(x).toBeCloseTo(ofZero[0]!, 5);
    const tidied = await kind.release(session, pairs, { epsilon: '2', tidy: true });
    expect(tidied.receipt.ledger.replayed).toBe(true);
    for (const [t, { rows }] of tidied.tables.entries())
      for (const [r, { value, low, high, standardError }] of rows.entries()) {
        const raw = released.tables[t]!.rows[r]!;
        expect(value).toBeGreaterThanOrEqual(0);
        expect([low! <= Math.max(0, Math.min(raw.low!, value!)), high! >= Math.max(raw.high!, value!)]).toEqual([true, true]);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(standardError).toBe(raw.standardError);
      }
    const totals = tidied.tables.map((t) => t.rows.reduce((sum, r) => sum + r.value!, 0));
    for (const sum of totals) expect(sum).toBeCloseTo(totals[0]!, 5);
    // Replacing a row keeps the number of rows; a person may have had fewer.
    if (!/add-remove|person/.test(text)) expect(totals[0]).toBeCloseTo(300, 5);
    await session.close();
  });

  it('the entry of a workload keeps which public columns paid nothing, and public parts are released exactly', async () => {
    const text = policy({ protect: '{ secret: answer }' }).replace(/(q[01]: \{ type: category)/g, '$1, public: true');
    const session = await open(text).session();
    await kind.release(session, { workload: { tables: [{ by: ['q0', 'q2'] }] } }, { epsilon: '1' });
    const public_ = { workload: { tables: [{ by: ['q0', 'q1'] }] } };
    expect(await kind.plan(session, public_, {})).toMatchObject({ mechanism: 'none', epsilon: 0, fits: true });
    const { tables } = await kind.release(session, public_, { tidy: true });
    const truth = exactCounts(300)(['q0', 'q1']);
    for (const { keys, value } of tables[0]!.rows) expect(value).toBeCloseTo(truth.get(keys.join()) ?? 0, 6);
    const relied = (await session.entries()).map((entry) => entry.relied);
    expect(relied).toEqual([['column q0'], ['rows', 'column q0', 'column q1']]);
    await session.close();
  });

  it.each([
    ['rows', policy()],
    ['answers', policy({ protect: '{ secret: answer }' })],
    ['a budget without delta', policy({ budget: '{ epsilon: 8 }' })],
  ])('coarser levels of a column agree with its own values: %s', async (_, text) => {
    const session = await open(text, 2000).session();
    const exact = exactCounts(2000);
    const request = {
      workload: {
        tables: [{ by: ['half', 'q1'] }, { by: ['q0', 'q1'] }, { by: ['half'] }, { all: 2, of: ['q0', 'third'] }],
        levels: { q0: { half: { low: ['1', '0'], high: ['2'] } }, q2: { third: { few: [0], many: [2, 1] } } },
      },
    };
    let [held, cells] = [0, 0];
    const squares = { one: 0, two: 0 };
    for (let turn = 0; turn < 25; turn++) {
      const { tables } = await kind.release(session, request, { epsilon: '0.2', fresh: true });
      expect(tables.map(({ columns: names }) => names.slice(0, -1))).toEqual([
        ['half', 'q1'],
        ['q0', 'q1'],
        ['half'],
        ['q0', 'third'],
      ]);
      const [half, own, alone, both] = tables.map(({ rows }) => new Map(rows.map((row) => [row.keys.join(), row])));
      expect([...own!.keys()].slice(0, 5)).toEqual(['0,0', '0,1', '0,2', '0,(missing)', '1,0']);
      expect([half!.size, own!.size, alone!.size, both!.size]).toEqual([12, 16, 3, 12]);
      for (const q1 of ['0', '1', '2', '(missing)']) {
        const value = (key: string) => own!.get(`${key},${q1}`)!.value!;
        expect(half!.get(`low,${q1}`)!.value).toBeCloseTo(value('0') + value('1'), 6);
        expect(half!.get(`high,${q1}`)!.value).toBeCloseTo(value('2'), 6);
        expect(own!.get(`2,${q1}`)!.standardError).toBeCloseTo(half!.get(`high,${q1}`)!.standardError!, 8);
      }
      const truth = exact(['q0', 'q1']);
      for (const [key, { value, low, high, standardError }] of own!) {
        const x = truth.get(key) ?? 0;
        held += Number(x >= low! && x <= high!);
        cells++;
        squares[key.startsWith('2') ? 'one' : 'two'] += ((value! - x) / standardError!) ** 2 / (key.startsWith('2') ? 100 : 300);
      }
      const coarse = exact(['q0']);
      expect(Math.abs(alone!.get('low')!.value! - (coarse.get('0') ?? 0) - (coarse.get('1') ?? 0))).toBeLessThan(
        6 * alone!.get('low')!.standardError!,
      );
    }
    expect(held / cells).toBeGreaterThan(0.9);
    expect(held / cells).toBeLessThan(0.99);
    for (const mean of Object.values(squares)) expect(Math.abs(mean - 1)).toBeLessThan(0.45);
    const plan = await kind.plan(session, request, { epsilon: '0.2' });
    expect(plan.errors.map(({ name, cells: n }) => [name, n])).toEqual([
      ['half x q1', 12],
      ['q0 x q1', 16],
      ['half', 3],
      ['q0 x third', 12],
    ]);
    const { tables } = await kind.release(session, request, { epsilon: '0.2', fresh: true, tidy: true });
    for (const row of tables.flatMap(({ rows }) => rows)) expect(row.value).toBeGreaterThanOrEqual(0);
    await session.close();
  });

  it.each([
    [{ q0: { half: { low: ['0'], high: ['2'] } } }, 'a value stands in no group'],
    [{ q0: { half: { low: ['0', '1'], high: ['1', '2'] } } }, 'a value stands in two groups'],
    [{ q0: { half: { low: ['0', '1', '7'], high: ['2'] } } }, 'a value that the column has not'],
    [{ q0: { q1: { low: ['0', '1'], high: ['2'] } } }, 'a name that nothing else has'],
    [{ q9: { half: { low: ['0', '1'], high: ['2'] } } }, 'a column of the policy'],
  ])('the workload refuses levels %j', async (levels, words) => {
    const session = await open(policy()).session();
    const request = { workload: { tables: [{ by: ['q0', 'q1'] }], levels } };
    await expect(kind.plan(session, request, {})).rejects.toMatchObject({
      code: 'QUERY_INVALID',
      message: expect.stringContaining(words),
    });
    await session.close();
  });

  it.each([300, 3_000, 100_000])('intervals of levels of levels and of ranges cover the truth, of %i rows', async (rows) => {
    const session = await open(policy({ budget: '{ epsilon: 10000, delta: 1e-6 }' }), rows).session();
    const exact = exactCounts(rows);
    const request = {
      workload: {
        tables: [{ by: ['half', 'q1'] }, { by: ['all of it'] }, { by: ['q0'] }, { by: ['span', 'third'] }, { by: ['q3', 'q4'] }],
        levels: {
          q0: { half: { low: ['1', '0'], high: ['2'] }, 'all of it': { answered: ['low', 'high'] } },
          q2: { third: { few: [0], many: [2, 1] } },
        },
        ranges: { q5: { span: 'all' as const } },
        complete: ['q3'],
      },
    };
    /** The rows of one answer. */
    const values: Readonly<Record<string, readonly [string, (value: string) => string]>> = {
      half: ['q0', (v) => (v === '2' ? 'high' : 'low')],
      'all of it': ['q0', () => 'answered'],
      third: ['q2', (v) => (v === '0' ? 'few' : 'many')],
      q3: ['q3', (v) => (v === '2' ? '2 or (missing)' : v)],
    };
    const inside = (key: string, v: string) => {
      const [from, to] = key.split(' to ');
      return key !== '(missing)' && v >= from! && v <= (to ?? from)!;
    };
    let [held, tidy, answers, squares] = [0, 0, 0, 0];
    const kinds = heldByKind();
    const turns = Number(process.env.FUGU_COVERAGE ?? 12);
    for (let turn = 0; turn < turns; turn++) {
      const ask = { epsilon: '0.5', label: `turn ${turn}` };
      const raw = await kind.release(session, request, { ...ask, fresh: true });
      const tidied = await kind.release(session, request, { ...ask, tidy: true });
      for (const [t, { columns: names, rows: list }] of raw.tables.entries()) {
        const own = names.slice(0, -1);
        const truth = exact(own.map((name) => (name === 'span' ? 'q5' : (values[name]?.[0] ?? name))));
        for (const [r, { keys, value, low, high, standardError }] of list.entries()) {
          let x = 0;
          for (const [text, count] of truth) {
            const cells = text.split(',');
            const holds = own.every((name, k) =>
              name === 'span' ? inside(keys[k]!, cells[k]!) : (values[name]?.[1](cells[k]!) ?? cells[k]) === keys[k],
            );
            if (holds) x += count;
          }
          const other = tidied.tables[t]!.rows[r]!;
          held += Number(x >= low! && x <= high!);
          tidy += Number(x >= other.low! && x <= other.high!);
          kinds.count(own.join(' x '), 'as noised', x >= low! && x <= high!);
          kinds.count(own.join(' x '), 'tidied', x >= other.low! && x <= other.high!);
          squares += ((value! - x) / standardError!) ** 2;
          answers++;
        }
      }
    }
    if (process.env.FUGU_COVERAGE) kinds.tell(rows);
    const tolerance = process.env.FUGU_COVERAGE ? 0 : 0.015;
    for (const count of [held, tidy]) {
      expect(count / answers).toBeGreaterThan(0.93 - tolerance);
      expect(count / answers).toBeLessThan(0.98 + tolerance);
    }
    expect(Math.abs(squares / answers - 1)).toBeLessThan(0.25);
    await session.close();
  });

  it('the plan states where synthetic rows would be closer, and how far off the tables will be', async () => {
    const outputFor = async (text: string, workload: object, epsilon: string, rows = 300) => {
      const session = await open(text, rows).session();
      const { warnings = [], errors } = await kind.plan(session, { workload } as typeof pairs, { epsilon });
      await session.close();
      return { text: warnings.find((own) => own.includes('fugu synth')), errors };
    };
    const noisy = await outputFor(policy(), pairs.workload, '1');
    const part = Number(/about (\d+) of 100 rows/.exec(noisy.text!)![1]) / 100;
    expect(noisy.text).toContain('--columns q0,q1,q2,q3,q4,q5,q6,q7 --out synth.csv');
    expect(part).toBeCloseTo(misplacedShare(noisy.errors, 300), 2);
    // The expected error is the actual one.
    const session = await open(policy()).session();
    const exact = exactCounts(300);
    let off = 0;
    for (let turn = 0; turn < 8; turn++)
      for (const { columns: names, rows } of (await kind.release(session, pairs, { epsilon: '1', fresh: true })).tables)
        for (const { keys, value } of rows)
          off += Math.abs(value! - (exact(names.slice(0, -1)).get(keys.join()) ?? 0)) / 2 / 300 / 28 / 8;
    await session.close();
    expect(Math.abs(off / part - 1)).toBeLessThan(0.1);
    expect((await outputFor(policy(), pairs.workload, '0.02')).text).toContain('more rows than there are');
    // Little noise, few tables, another aim, answers as the secret, ranges: nothing of the kind.
    for (const own of [
      await outputFor(policy(), pairs.workload, '8', 3000),
      await outputFor(policy(), { tables: [{ all: 2, of: ['q0', 'q1', 'q2'] }] }, '0.1'),
      await outputFor(policy(), { ...pairs.workload, aim: 'largest' }, '0.1'),
      await outputFor(policy({ protect: '{ secret: answer }' }), pairs.workload, '0.1'),
      await outputFor(
        policy(),
        { ...pairs.workload, ranges: { q0: { span: 'all' } }, tables: [{ all: 2 }, { by: ['span'] }] },
        '0.1',
      ),
    ])
      expect(own.text).toBeUndefined();
  });

  it('the plan states the cost before it starts', async () => {
    const session = await open(policy()).session();
    const { workload } = await kind.plan(session, pairs, {});
    expect(workload.memory).toBeGreaterThan(600 * workload.noised);
    await session.close();
  });

  it('the largest error is smaller if that is the aim', async () => {
    const session = await open(policy()).session();
    const tables = [{ all: 1 }, { by: ['q0', 'q1', 'q2'], weight: 1 }];
    const largest = async (aim: 'mean' | 'largest') =>
      Math.max(...(await kind.plan(session, { workload: { tables, aim } }, { epsilon: '1' })).errors.map((e) => e.standardError));
    expect(await largest('largest')).toBeLessThan(0.97 * (await largest('mean')));
    await session.close();
  });

  it('tables with more weight get less noise', async () => {
    const session = await open(policy()).session();
    const plan = await kind.plan(
      session,
      {
        workload: {
          tables: [
            { all: 2, of: ['q*'] },
            { by: ['q0', 'q1'], weight: '50' },
          ],
        },
      },
      {},
    );
    const [first, ...others] = plan.errors;
    expect(first!.name).toBe('q0 x q1');
    for (const { standardError } of others) expect(standardError).toBeGreaterThan(1.2 * first!.standardError);
    await session.close();
  });

  it.each([
    ['takes several answers', { tables: [{ by: ['many', 'q0'] }] }],
    ['There is no column', { tables: [{ all: 2, of: ['nobody'] }] }],
    ['no tables of 5 columns of 2', { tables: [{ all: 5, of: ['q0', 'q1'] }] }],
    ['tables[0]: there is no "every" here.', { tables: [{ every: 2 }] }],
    ['tables', {}],
  ])('the workload is refused with a sentence before anything is spent: %s', async (words, form) => {
    const session = await open(policy()).session();
    await expect(kind.plan(session, { workload: form } as never, {})).rejects.toThrow(words);
    await session.close();
  });

  it('a workload that would be too large is refused, with tables to drop', async () => {
    const codes = Array.from({ length: 30 }, (_, k) => `"${k}"`).join(', ');
    const wide = policy().replaceAll('"0", "1", "2"', codes);
    const session = await open(wide).session();
    await expect(kind.plan(session, { workload: { tables: [{ all: 5 }] } }, {})).rejects.toMatchObject({
      code: 'DOMAIN_EXCEEDED',
      message: expect.stringMatching(/^The table of ("q\d", ){4}"q\d" has \d+ cells/),
      hint: expect.stringMatching(/^Leave "q\d" \(31 places\) out of it/),
    });
    const columns = (except: string[]) => ({ workload: { tables: [{ all: 4, ...(except.length > 0 && { except }) }] } });
    const refused = await kind.plan(session, columns([]), {}).catch((error) => error);
    expect(refused).toMatchObject({ code: 'DOMAIN_EXCEEDED', message: expect.stringMatching(/^The tables of the workload/) });
    const drop = [...refused.hint.matchAll(/"(q\d)"/g)].map(([, name]) => name as string);
    expect(drop.length).toBeLessThan(5);
    expect((await kind.plan(session, columns(drop), {})).fits).toBe(true);
    await session.close();
  });
});

describe('the commands fugu plan and fugu release with --workload', () => {
  it('the commands read a YAML file, and print and write every table', async () => {
    const shop = open(policy());
    const file = shop.write('w.yaml', 'tables:\n  - all: [1, 2]\n    of: [q0, q1, q2]\n  - by: [q3, q4, q5]\n    weight: 2\n');
    const plan = JSON.parse(await runCommand(registerPlan, 'plan', shop.policyFile, '--workload', file, '--json'));
    expect(plan.workload).toMatchObject({ tables: 7, cells: 3 * 4 + 3 * 16 + 64 });
    expect(plan.workload.ways[0]).toMatchObject({ name: 'without smaller tables', noise: 'gaussian' });
    const words = await runCommand(registerPlan, 'plan', shop.policyFile, '--workload', file);
    expect(words).toContain('7 tables, 124 cells in all');
    expect(words).toMatch(/3 columns +1 +64 +±/);
    expect(words).toMatch(/numbers are noised; about \d+ MB of memory/);
    const out = mkdtempSync(join(tmpdir(), 'fugu-out-'));
    const text = await runCommand(
      registerRelease,
      'release',
      shop.policyFile,
      '--workload',
      file,
      '--yes',
      '--out',
      out,
      '--overwrite',
    );
    expect(text).toMatch(/q3 x q4 x q5/);
    expect(readdirSync(out).filter((f) => f.endsWith('.csv')).length).toBe(7);
    expect(readFileSync(join(out, 'report.html'), 'utf8')).toMatch(/q0 x q2/);
    rmSync(out, { recursive: true });
  });

  it('the commands report an invalid file', async () => {
    const shop = open(policy());
    const file = shop.write('w.yaml', 'tables: [\n');
    await expect(runCommand(registerPlan, 'plan', shop.policyFile, '--workload', file)).rejects.toThrow(
      'The workload is not valid YAML',
    );
  });
});
