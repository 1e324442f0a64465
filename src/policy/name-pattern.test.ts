import { describe, expect, it } from 'vitest';
import { chooseNames, splitNames } from './name-pattern.js';

const names = ['age', 'q1', 'q2', 'q2_time', 'a.b', 'party*'];

describe('columns by names and patterns', () => {
  it.each<[string | undefined, string | undefined, string[]]>([
    [undefined, undefined, names],
    ['q*', undefined, ['q1', 'q2', 'q2_time']],
    ['q?,age', undefined, ['q1', 'q2', 'age']],
    ['q*', '*_time', ['q1', 'q2']],
    [undefined, 'a*', ['q1', 'q2', 'q2_time', 'party*']],
    ['a.b', undefined, ['a.b']],
    ['party*', undefined, ['party*']],
  ])('the columns %s except %s are found', (columns, except, found) => {
    expect(
      chooseNames(names, {
        ...(columns !== undefined && { columns: splitNames(columns) }),
        ...(except !== undefined && { except: splitNames(except) }),
      }),
    ).toEqual(found);
  });

  it('a name or pattern without a match is refused with a suggestion', () => {
    expect(() => chooseNames(names, { columns: ['agee'] })).toThrow(/no column "agee"/);
    expect(() => chooseNames(names, { except: ['z*'] })).toThrow(/named like "z\*"/);
    expect(() => chooseNames(names, { columns: ['axb'] })).toThrow(/no column/);
  });
});
