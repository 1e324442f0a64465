import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Fault } from '../src/base/errors.js';
import { checkPolicy, draftPolicy } from '../src/index.js';
import { corpus } from './statfile/corpus.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-drafts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const write = (text: string | Buffer, end: string): string => {
  const file = join(folder, `data-${++files}${end}`);
  writeFileSync(file, text);
  return file;
};

/** Outcome of a draft: read again by check, or refused for a reason in the data; never a policy that Fugu itself refuses. */
async function drafted(data: string, codebook?: string): Promise<string> {
  const out = join(folder, `policy-${++files}.yaml`);
  try {
    const { policy, unconfirmed } = await draftPolicy(data, { out, ...(codebook !== undefined && { codebook }) });
    const checked = await checkPolicy(policy);
    expect(checked.unconfirmed).toEqual(unconfirmed);
    return 'read';
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code;
  }
}

/** pyreadstat: text "a" missing in var1, the range 1 to 2 in var2, 8 and 9 in var3. */
const missingTest = Buffer.from(
  'JEZMMkAoIykgU1BTUyBEQVRBIEZJTEUgLSBodHRwczovL2dpdGh1Yi5jb20vV2l6YXJkTWFjL1JlYWRTdGF0IAIAAAADAAAAAAAAAAAAAAADAAAAAAAAAAAAWUAxOCBOb3YgMjYxNDoxMDoxNCAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAAAAACAAAAAQAAAAAAAAABAAAAAAEBAAABAQBWQVIxICAgIGEgICAgICAgAgAAAAAAAAAAAAAA/v///wIIBQACCAUAVkFSMiAgICAAAAAAAADwPwAAAAAAAABAAgAAAAAAAAAAAAAAAgAAAAIIBQACCAUAVkFSMyAgICAAAAAAAAAgQAAAAAAAACJAAwAAAAEAAAAAAAAAAADwPwF4ICAgICAgBAAAAAEAAAADAAAABwAAAAMAAAAEAAAACAAAABQAAAAAAAAAAAAAAP////8BAAAAAQAAAAIAAADp/QAABwAAAAQAAAAIAAAAAwAAAP///////+//////////73/+///////v/wcAAAAUAAAAAQAAAAUAAABVVEYtOAcAAAALAAAABAAAAAkAAAAAAAAACAAAAAAAAAAAAAAACAAAAAEAAAAAAAAACAAAAAEAAAAHAAAADQAAAAEAAAAdAAAAVkFSMT12YXIxCVZBUjI9dmFyMglWQVIzPXZhcjMHAAAAEAAAAAgAAAACAAAAAQAAAAAAAAADAAAAAAAAAOcDAAAAAAAAYSAgICAgICAAAAAAAADwPwAAAAAAAPA/YiAgICAgICAAAAAAAAAAQAAAAAAAACBAYyAgICAgICAAAAAAAAAIQAAAAAAAACJA',
  'base64',
);

describe('every draft that init writes', () => {
  it.each(readdirSync(corpus).filter((name) => /\.(sav|zsav|dta|xpt|xlsx)$/.test(name)))(
    'check reads the draft: %s',
    async (name) => {
      expect(await drafted(join(corpus, name))).toMatch(/^(read|DATA_MALFORMED)$/);
    },
  );

  it('check reads a draft of a file whose missing codes occur in the data', async () => {
    expect(await drafted(write(missingTest, '.sav'))).toBe('read');
  });

  it('check reads a draft with any column names, even if the names span several lines', async () => {
    const names = fc.constantFrom(
      'a\nb',
      'day\nno',
      'x: y',
      '# z',
      '- q',
      '\nbudget: {epsilon: 9}',
      'household\nid',
      'person\r\nid',
      "it's",
      '[w',
      'k',
    );
    const cells = fc.constantFrom<((row: number) => string)[]>(
      (row) => `${row >> 2}`,
      (row) => `p${row % 20}`,
      (row) => `${row % 5}`,
      (row) => `${row}`,
      (row) => `text ${row}, of one`,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(names, { minLength: 3, maxLength: 3 }),
        fc.tuple(cells, cells, cells),
        async (heads, made) => {
          const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
          const rows = Array.from({ length: 100 }, (_, row) => made.map((cell) => quoted(cell(row))).join(','));
          expect(await drafted(write([heads.map(quoted).join(','), ...rows, ''].join('\n'), '.csv'))).toMatch(
            /^(read|DATA_MALFORMED)$/,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('check reads a draft of any cells, any of them declared missing', async () => {
    const code = fc.constantFrom('1', '2', '3', '-9', '98', '99', 'a', 'b', 'NA', '', '1.5', '01', '1e3', 'é', '"x, y"');
    const column = fc.record({ cells: fc.array(code, { minLength: 30, maxLength: 30 }), missing: fc.array(code, { maxLength: 4 }), values: fc.array(code, { maxLength: 3 }) }); // biome-ignore format: one line
    await fc.assert(
      fc.asyncProperty(fc.array(column, { minLength: 1, maxLength: 4 }), async (columns) => {
        const rows = Array.from({ length: 30 }, (_, i) => columns.map(({ cells }) => cells[i]).join(','));
        const data = write(`${columns.map((_, k) => `q${k}`).join(',')}\n${rows.join('\n')}\n`, '.csv');
        const lines = columns.flatMap(({ missing, values }, k) => [
          ...[...new Set(missing)].filter((c) => c !== '').map((c) => `q${k},${c},,yes`),
          ...[...new Set(values)].filter((c) => c !== '' && !missing.includes(c)).map((c) => `q${k},${c},label,`),
        ]);
        const book = write(`name,value,label,missing\n${lines.join('\n')}\n`, '.csv');
        expect(await drafted(data, lines.length > 0 ? book : undefined)).not.toMatch(/POLICY|INTERNAL|QUERY|COLUMN/);
      }),
      { numRuns: 60 },
    );
  });
});

describe('data without values', () => {
  it.each([['a,b,c\n'], ['a,b,c'], ['a,b\n,\n,\n']])('data without values is refused with a reason: %j', async (text) => {
    const out = join(folder, `policy-${++files}.yaml`);
    const refused = await draftPolicy(write(text, '.csv'), { out }).catch((error: unknown) => error);
    expect((refused as Fault).message).toBe('The data has names of columns and no values, so no column can be drafted.');
    expect(readdirSync(folder)).not.toContain(out);
  });
});
