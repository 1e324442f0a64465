import { describe, expect, it } from 'vitest';
import { candidatesFor } from './candidates.js';

const columns = ['a', 'b', 'c', 'd'].map((name) => ({ name, size: 2, labels: ['0', '1'] }));
const weights = (form: Parameters<typeof candidatesFor>[1]): Record<string, number> =>
  Object.fromEntries(
    candidatesFor(columns, form, 1000).map((one) => [one.columns.map((c) => columns[c]!.name).join(''), one.weight]),
  );

describe('the candidate tables', () => {
  it('all tables have the same weight, whatever their size, when none is named', () => {
    const all = Object.values(weights({ tables: [] }));
    expect(all).toHaveLength(6 + 4);
    expect(new Set(all).size).toBe(1);
  });

  it('tables have more weight by the share of their columns in a named table', () => {
    const plain = weights({ tables: [] });
    const named = weights({ tables: [{ by: ['a', 'b'], weight: 5 }] });
    const more = (table: string) => named[table]! - plain[table]!;
    expect(more('ab')).toBeGreaterThan(0);
    expect(more('abc') / more('ab')).toBeCloseTo(2 / 3);
    expect(more('ac') / more('ab')).toBeCloseTo(1 / 2);
    expect(more('cd')).toBe(0);
    expect(weights({ tables: [{ by: ['a', 'b'], weight: 10 }] }).ab! - plain.ab!).toBeCloseTo(2 * more('ab'));
  });
});
