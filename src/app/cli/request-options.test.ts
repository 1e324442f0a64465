import { describe, expect, it } from 'vitest';
import * as tables from './option-tables.js';
import { type CommandOptions, valuesOf } from './request-options.js';

const wholeNumbers = Object.values(tables as unknown as Record<string, CommandOptions<unknown>>).flatMap(({ rows = [] }) =>
  rows.filter(({ form, reads }) => form?.type === 'integer' && reads === undefined),
);

describe('options that are read from requests', () => {
  it('every whole number is written in digits, in the range of its request', async () => {
    expect(wholeNumbers.length).toBeGreaterThan(15);
    for (const row of wholeNumbers) {
      const read = (text: string) => valuesOf({ rows: [row] }, { [row.name]: text });
      for (const text of ['0x10', '1e2', '+3', ' 5', '5 ', '1.5', '', 'abc', '9999999999999999', '१'])
        await expect(read(text), `${row.flags} ${text}`).rejects.toMatchObject({ code: 'USAGE' });
      const fitting = String(Math.max(row.form?.minimum ?? 0, 1));
      expect(await read(fitting), row.flags).toEqual({ [row.name]: Number(fitting) });
    }
  });
});
