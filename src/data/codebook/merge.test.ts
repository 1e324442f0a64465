import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../base/errors.js';
import { explain } from '../terms/explain.js';
import { parsePolicy } from '../terms/read.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-merge-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (merge: string) =>
  parsePolicy(
    `data: {source: survey.csv}
protect: {secret: row, unit: id}
budget: {epsilon: 1}
dependence: none
columns:
  served: {type: category, values: [1, 2], missing: [-9]}
  branch: {type: category, values: [army, navy], missing: [-1, -9]}
  years: {type: category, values: [1, 2, 3], missing: [-1]}
  age: {type: integer, bounds: [17, 90]}
  id: {type: category, values: [a, b]}
merge: ${merge}
`,
    join(folder, 'policy.yaml'),
  );
const refused = async (merge: string): Promise<Fault> => {
  const error = await read(merge).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};

describe('columns the policy merges', () => {
  it('merged columns have the listed combinations; a missing code and an empty cell are no answer', async () => {
    const { merge } = await read('[{columns: [served, branch], support: [[1, army], [1.0, navy], [2, -1], [2, ""]]}]');
    expect(merge).toEqual([
      {
        columns: ['served', 'branch'],
        support: [
          ['1', 'army'],
          ['1', 'navy'],
          ['2', null],
        ],
      },
    ]);
  });

  it('the combinations may be listed in a CSV file whose header names the columns', async () => {
    writeFileSync(join(folder, 'skip.csv'), 'branch;served\narmy;1\nnavy;1\n;2\n');
    const { merge } = await read('[{support: skip.csv}]');
    expect(merge![0]).toEqual({
      columns: ['branch', 'served'],
      support: [
        ['army', '1'],
        ['navy', '1'],
        [null, '2'],
      ],
    });
    expect(await refused('[{columns: [served, years], support: skip.csv}]')).toMatchObject({ code: 'DATA_MALFORMED' });
  });

  it('a star stands for every answer and for none', async () => {
    const { merge } = await read('[{columns: [served, branch, years], support: [[1, "*", "*"], [2, "", ""], ["", "", ""]]}]');
    expect(merge![0]!.support).toHaveLength(3 * 4 + 2);
  });

  it('the explanation describes merged columns in one line', async () => {
    const policy = await read('[{columns: [served, branch], support: [[1, army], [2, ""]]}]');
    expect(explain(policy).map((l) => l.text)).toContainEqual(
      expect.stringMatching(/^the columns served, branch go together: the policy lists 2 combinations .* counts as missing/),
    );
  });

  it.each([
    ['an unknown column', '[{columns: [served, brunch], support: [[1, army]]}]', /"brunch" is not declared/],
    ['a code outside the domain', '[{columns: [served, branch], support: [[1, air]]}]', /"branch" the code "air"/],
    ['a combination listed twice', '[{columns: [served, branch], support: [[1, army], [1.0, army]]}]', /listed twice/],
    ['a combination that is too short', '[{columns: [served, branch], support: [[1]]}]', /another number of answers/],
    ['a column merged twice', '[{columns: [served, served], support: [[1, 1]]}]', /"served" is merged twice/],
    [
      'a column in two groups',
      '[{columns: [served, branch], support: [[1, army]]}, {columns: [branch, years], support: [[army, 1]]}]',
      /"branch" is merged twice/,
    ],
    ['a number', '[{columns: [served, age], support: [[1, 20]]}]', /"age" is not a question with fixed answers/],
    ['the unit', '[{columns: [served, id], support: [[1, a]]}]', /"id" is not a question with fixed answers/],
    ['one column alone', '[{columns: [served], support: [[1]]}]', /Fewer than two columns/],
    ['nothing allowed', '[{columns: [served, branch], support: []}]', /No combination/],
    ['a file that is not there', '[{support: nowhere.csv}]', /cannot be read/],
    ['columns without names', '[{support: [[1, army]]}]', /not named/],
  ])('merged columns refuse %s', async (_, merge, message) => {
    const fault = await refused(merge);
    expect(fault.message).toMatch(message);
    expect(fault.hint).not.toBe('');
    expect(fault.place?.file).toBeDefined();
  });

  it('a support too large for a table is refused without being expanded', async () => {
    const columns = Array.from({ length: 12 }, (_, i) => `q${i}`);
    const text = `data: {source: survey.csv}
protect: {secret: row}
budget: {epsilon: 1}
dependence: none
columns: {${columns.map((c) => `${c}: {type: category, values: [1, 2, 3, 4]}`).join(', ')}}
merge: [{columns: [${columns.join(', ')}], support: [[${columns.map(() => '"*"').join(', ')}]]}]`;
    await expect(parsePolicy(text, join(folder, 'large.yaml'))).rejects.toThrow(/more than 10000 combinations/);
  });
});
