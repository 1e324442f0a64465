import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf as fault } from '../../../test/fault.js';
import { distance } from '../../policy/pairs/distance.js';
import { isPair } from '../../policy/pairs/pairs.js';
import { parsePolicy } from './read.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'fugu-pairs-')));
  writeFileSync(join(folder, 'pairs.csv'), 'a,b\n1,2\n2,3\n3,2\n');
  writeFileSync(join(folder, 'wrong.csv'), '1,2\n1,7\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const columns = `
  age: {type: integer, bounds: [17, 90], missing: [99]}
  income: {type: number, bounds: [0, 100], step: 10}
  grade: {type: category, values: [1, 2, 3, 4]}
  region: {type: category, values: [n, s, e, w]}
  country: {type: category, values: [x, y]}
  media: {type: multi, values: [tv, web]}
  lat: {type: number, bounds: [40, 50], step: 0.01}
  lon: {type: number, bounds: [-10, 20], step: 0.01}
  round: {type: number, bounds: [-180, 180], step: 0.01}`;
const policy = (pairs: string, protect = 'secret: row', more = columns) =>
  parsePolicy(
    `data: {source: survey.csv}\nprotect: {${protect}, pairs: ${pairs}}\nbudget: {epsilon: 1}\ndependence: none\ncolumns:${more}\n`,
    join(folder, 'policy.yaml'),
  );
const column = async (name: string, pairs: string) => (await policy(pairs)).protect.pairs!.columns.get(name)!;

describe('pairs in a policy', () => {
  it('pairs are numbers within a distance, and no answer with any of them', async () => {
    const age = await column('age', '{age: {within: 5}}');
    expect([isPair(age, 0, 5), isPair(age, 0, 6), isPair(age, 0, -1), distance(age, 0, 17)]).toEqual([true, false, true, 2]);
    const separated = await column('age', '{age: {within: 5, missing: apart}}');
    expect([isPair(separated, 0, -1), distance(separated, 0, 17)]).toEqual([false, 4]);
  });

  it('pairs round outward if numbers lie between steps', async () => {
    const steps = async (within: string) => {
      const income = await column('income', `{income: {within: ${within}}}`);
      return income.form === 'steps' ? income.steps : undefined;
    };
    // 4 and 6 are read as 0 and 10; 5 and 15 as 0 and 20.
    expect([await steps('2'), await steps('10'), await steps('19')]).toEqual([1, 2, 2]);
  });

  it('pairs are steps of an order, blocks, a graph and named secrets', async () => {
    const grade = await column('grade', '{grade: {within: 1}}');
    expect([isPair(grade, 0, 1), isPair(grade, 0, 2)]).toEqual([true, false]);
    const blocks = await column('region', '{region: {partition: {blocks: [[n, s], [e, w]]}, missing: apart}}');
    expect([isPair(blocks, 0, 1), isPair(blocks, 1, 2), distance(blocks, 0, 3)]).toEqual([true, false, Number.POSITIVE_INFINITY]);
    const ranges = await column('age', '{age: {partition: {edges: [30, 65]}, missing: apart}}');
    expect([isPair(ranges, 0, 12), isPair(ranges, 12, 13), isPair(ranges, 13, 47)]).toEqual([true, false, true]);
    const graph = await column('grade', '{grade: {graph: pairs.csv, missing: apart}}');
    expect([isPair(graph, 0, 1), isPair(graph, 1, 0), isPair(graph, 0, 2), distance(graph, 0, 2), distance(graph, 0, 3)]).toEqual(
      [true, true, false, 2, Number.POSITIVE_INFINITY],
    );
    const named = await column('grade', '{grade: {secrets: {ill: [1, 2], well: [3]}, missing: apart}}');
    expect([isPair(named, 0, 2), isPair(named, 1, 2), isPair(named, 0, 1), isPair(named, 2, 3)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('pairs agree in other columns, by name or because another column is partitioned by them', async () => {
    const same = await policy('{same: [country], age: {within: 5}}');
    const by = await policy('{region: {partition: by country}, age: {within: 5}}');
    expect(same.protect.pairs!.columns.get('country')).toEqual({ form: 'same', missing: 'apart', size: 2 });
    expect([by.protect.pairs!.digest, by.digest]).toEqual([same.protect.pairs!.digest, same.digest]);
    expect((await policy('{region: {partition: {by: country}}, country: all}').catch((e) => e)).message).toContain('twice');
  });

  it('pairs of places form a box of kilometres, and a longitude column around the earth pairs any two', async () => {
    const near = (await policy('{place: {columns: [lat, lon], within: 5 km, missing: apart}}')).protect.pairs!.columns;
    expect(near.get('lat')).toMatchObject({ form: 'steps', steps: 5 });
    // 5 km are 0.0704 degrees at 50 north.
    expect(near.get('lon')).toMatchObject({ form: 'steps', steps: 8 });
    const around = (await policy('{place: {columns: [lat, round], within: 5 km}}')).protect.pairs!.columns;
    expect(isPair(around.get('round'), 0, 36_000)).toBe(true);
  });

  it('pairs of every two values are the same as no pairs', async () => {
    expect((await policy('{age: all}')).protect.pairs).toBeUndefined();
    expect((await policy('{age: all}')).digest).toBe((await policy('{}')).digest);
  });

  it("pairs belong to the terms, with the reading of their columns' cells, and not otherwise", async () => {
    const digest = async (pairs: string, more = columns) => (await policy(pairs, 'secret: row', more)).digest;
    const five = await digest('{age: {within: 5}}');
    expect(await digest('{age: {within: 5.0}}')).toBe(five);
    expect(await digest('{age: {within: 6}}')).not.toBe(five);
    expect(await digest('{age: {within: 5, missing: apart}}')).not.toBe(five);
    expect(await digest('{age: {within: 5}}', columns.replace('[17, 90]', '[17, 95]'))).not.toBe(five);
    expect(await digest('{age: {within: 5}}', columns.replace('[99]', '[98]'))).not.toBe(five);
    expect(await digest('{age: {within: 5}}', columns.replace('[x, y]', '[x, y, z]'))).toBe(five);
    expect((await policy('{age: {within: 5}, same: [country]}')).terms!.join('; ')).toContain('age within 5');
  });

  it('pairs cannot be combined with a budget per step', async () => {
    writeFileSync(join(folder, 'weekly.json'), '{"matrix": [[0.9, 0.1], [0.1, 0.9]]}');
    const text = `data: {source: survey.csv}\nprotect: {secret: step, pairs: {age: {within: 5}}}\nbudget: {epsilon: 1, per: step}\ndependence: [{kind: sequence, by: id, order: age, state: country, transition: weekly.json}]\ncolumns:${columns}\n`;
    expect((await fault(parsePolicy(text, join(folder, 'policy.yaml')))).message).toMatch(/budget per step/);
  });

  it.each([
    ['{age: {within: 0}}', 'secret: row', 'no number above 0'],
    ['{age: {within: 0.5}}', 'secret: row', 'No two values'],
    ['{age: {within: 5, graph: pairs.csv}}', 'secret: row', 'said twice'],
    ['{age: {missing: apart}}', 'secret: row', 'not said'],
    ['{age: {withn: 5}}', 'secret: row', 'Unknown key "withn"'],
    ['{aeg: {within: 5}}', 'secret: row', 'not declared'],
    ['{grade: {within: 1.5}}', 'secret: row', 'whole steps only'],
    ['{grade: {partition: {blocks: [[1, 2], [3]]}}}', 'secret: row', 'code "4" is in no block'],
    ['{grade: {partition: {blocks: [[1, 2], [2, 3, 4]]}}}', 'secret: row', 'twice'],
    ['{grade: {partition: {blocks: [[1, 9]]}}}', 'secret: row', 'none of its codes'],
    ['{grade: {graph: wrong.csv}}', 'secret: row', 'no code of "grade"'],
    ['{grade: {graph: gone.csv}}', 'secret: row', 'cannot be read'],
    ['{grade: {secrets: {a: [1, 2], b: [2]}}}', 'secret: row', 'can hold at once'],
    ['{grade: {secrets: {a: [1], b: [2]}, between: [[a, c]]}}', 'secret: row', 'No secret is called "c"'],
    ['{age: {partition: {edges: [65, 30]}}}', 'secret: row', 'do not rise'],
    ['{media: {within: 1}}', 'secret: row', 'several answers at once'],
    ['{place: {columns: [lat, grade], within: 5 km}}', 'secret: row', 'holds no degrees'],
    ['{place: {columns: [lat, lon], within: 5}}', 'secret: row', 'go with a distance'],
    ['{age: [region]}', 'secret: row', 'not understood'],
    ['{age: {within: 5}, same: [age]}', 'secret: row', 'declared twice'],
    ['{age: {within: 5}}', 'secret: row, neighbours: add-remove', 'added or removed'],
    ['{age: {within: 5}}', 'secret: answer', 'secret "answer"'],
  ])('pairs %s under %s are refused: %s', async (pairs, protect, words) => {
    const { code, message, hint, place } = await fault(policy(pairs, protect));
    expect(message).toContain(words);
    expect(['POLICY_INVALID', 'DATA_MALFORMED']).toContain(code);
    expect([hint.length > 0, place?.line !== undefined]).toEqual([true, true]);
  });
});
