import { describe, expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../test/sample-policy.js';
import type { Fault } from '../base/errors.js';
import { type Arrangement, applyArrangements } from './arrange.js';
import { bindBatch } from './bind.js';
import type { AnswerTable } from './bound.js';
import { parseBatch } from './parse.js';

const table = (values: readonly (number | null)[]): AnswerTable => ({
  name: 'n',
  query: { kind: 'count', by: ['p'] },
  columns: ['p', 'n'],
  rows: values.map((value, i) => ({ keys: ['abcd'[i]!], value, standardError: 1, low: 0, high: 9 })),
  error: 'exact',
});
const shown = (own: Omit<Arrangement, 'tables'>) =>
  applyArrangements([table([5, 1, null, 3]), table([10, 20, 30, 40])], [{ tables: [0, 1], ...own }]).map(({ rows }) =>
    rows.map(({ keys }) => keys[0]).join(''),
  );

describe('arranged tables', () => {
  it('arranged tables have the same groups in the same order, and groups without a number come last', () => {
    expect(shown({ order: [{ table: 0 }] })).toEqual(['bdac', 'bdac']);
    expect(shown({ order: [{ table: 0, descending: true }], limit: 2 })).toEqual(['ad', 'ad']);
    expect(shown({ order: [{ key: 'p', descending: true }], limit: 2, offset: 1 })).toEqual(['cb', 'cb']);
  });

  it('three-valued conditions on the released numbers choose the rows', () => {
    expect(shown({ having: { table: 0, op: '>', value: 2 } })[0]).toBe('ad');
    expect(shown({ having: { not: { table: 0, op: '>', value: 2 } } })[0]).toBe('b');
    expect(
      shown({
        having: {
          any: [
            { table: 0, op: '>', value: 4 },
            { table: 1, op: '>=', value: 30 },
          ],
        },
      })[0],
    ).toBe('acd');
    expect(
      shown({
        having: {
          all: [
            { table: 1, op: '>', value: 10 },
            { key: 'p', op: 'not in', values: ['b'] },
          ],
        },
      })[0],
    ).toBe('cd');
  });

  it('arranged tables carry a note that they were arranged', () => {
    const [arrangedTable, other] = applyArrangements([table([1, 2]), table([1, 2])], [{ tables: [0], limit: 1 }]);
    expect(arrangedTable!.arranged).toBe('Rows cut by their names, of 2.');
    const [noisy] = applyArrangements([table([1, 2])], [{ tables: [0], order: [{ table: 0 }], limit: 1 }]);
    expect(noisy!.arranged).toContain('ordered, cut by noisy numbers, of 2');
    expect(other!.arranged).toBeUndefined();
  });

  it('an arrangement is refused before payment where the tables have different groups, or lack its key', () => {
    const policy = samplePolicy([category('p', ['a', 'b']), number('x', '0', '3')]);
    const fault = (arrange: object) => {
      const batch = parseBatch({ queries: [{ kind: 'count', by: ['p'] }, { kind: 'count' }], arrange: [arrange] });
      try {
        bindBatch(batch, policy);
      } catch (error) {
        return (error as Fault).message;
      }
      return 'accepted';
    };
    expect(fault({ tables: [0], order: [{ table: 0 }] })).toBe('accepted');
    expect(fault({ tables: [0, 1], limit: 1 })).toContain('not the same groups');
    expect(fault({ tables: [0], order: [{ key: 'x' }] })).toContain('no key "x"');
    expect(fault({ tables: [7], limit: 1 })).toContain('not the same groups');
    const several = [
      { kind: 'regression', outcome: 'x', on: ['q'], by: ['p'] },
      { kind: 'compare', column: 'x', between: 'q', by: ['p'] },
      { kind: 'estimate', column: 'x', by: ['p'] },
      { kind: 'correlation', columns: ['x', 'y'], by: ['p'] },
      { kind: 'independence', columns: ['q', 'r'], by: ['p'] },
    ];
    const wide = samplePolicy([
      ...['p', 'q', 'r'].map((name) => category(name, ['a', 'b'])),
      ...['x', 'y'].map((name) => number(name, '0', '3')),
    ]);
    for (const query of several) {
      const batch = parseBatch({ queries: [{ kind: 'count', by: ['p'] }, query], arrange: [{ tables: [0, 1], limit: 1 }] });
      expect(() => bindBatch(batch, wide)).toThrow(`"${query.kind}" cannot be filtered, ordered or cut`);
    }
  });
});
