import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exceeded, type LimitName, limits, within, withinMagnitude } from './limits.js';

const page = new URL('../../../docs/reference/limits.md', import.meta.url);
const size = (n: number) => (n >= 2 ** 20 && n % 2 ** 20 === 0 ? `${n / 2 ** 20} Mi` : n.toLocaleString('en'));
const rows = (Object.keys(limits) as LimitName[]).map((name) => {
  const { what, unit, most, stay, code = 'LIMIT_EXCEEDED' } = limits[name];
  return `| \`${name}\` | ${what} | ${size(most)} ${unit} | ${stay} | ${code} |`;
});
const [start, end] = ['<!-- the list -->', '<!-- end of the list -->'];
const withList = (text: string): string =>
  `${text.slice(0, text.indexOf(start) + start.length)}\n| limit | of | most | to stay below | fault |\n|---|---|---|---|---|\n${rows.join('\n')}\n${text.slice(text.indexOf(end))}`;

describe('input limits', () => {
  it('a limit admits a value at the limit and refuses the next one', () => {
    for (const name of Object.keys(limits) as LimitName[]) {
      expect(() => within(name, limits[name].most)).not.toThrow();
      expect(() => within(name, limits[name].most + 1)).toThrow();
      expect(() => within(name, Number.NaN)).toThrow();
    }
  });

  it('the fault of a limit states the limit, the size found and a remedy', () => {
    const fault = exceeded('sqlTokens', 40_005);
    expect(fault).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      exit: 2,
      details: { limited: 'sqlTokens', size: 40_005, limit: 2_000 },
    });
    expect(fault.message).toBe('The SQL text has 40,005 words, numbers and marks; the limit is 2,000.');
    expect(fault.hint).not.toBe('');
    expect(exceeded('queries', Number.POSITIVE_INFINITY).message).toContain('too many queries');
  });

  it('the limits keep doubles within a range where arithmetic cannot overflow', () => {
    for (const x of [0, -0, 1, -1e100, 1e-100]) expect(() => withinMagnitude(x)).not.toThrow();
    for (const x of [1e101, -1e308, 5e-324, Number.POSITIVE_INFINITY, Number.NaN]) expect(() => withinMagnitude(x)).toThrow();
  });

  it('docs/reference/limits.md lists the limits as in the code (UPDATE_DOCS=1 writes it)', () => {
    const text = readFileSync(page, 'utf8');
    if (process.env.UPDATE_DOCS) writeFileSync(page, withList(text));
    else expect(text).toBe(withList(text));
  });
});
