import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { enterEntry } from './enter-entry.js';

const entered = 'x: {type: category, values: ["a: b", "#c"]}';
const value = '{ type: integer, bounds: [0, 5], learned: "ledger entry 3" }';
const read = { type: 'integer', bounds: [0, 5], learned: 'ledger entry 3' };

describe('an entry of a policy', () => {
  it.each([
    ['block', `data: 1\ncolumns:\n  # above\n  ${entered} # beside\nbudget: 1\n`],
    ['block at the end', `columns:\n  ${entered}`],
    [
      'block, nested',
      `columns:\n    x:\n        type: category\n        values:\n        - "a: b"\n        - "#c"\n\n# below\nbudget: 1\n`,
    ],
    ['flow', `columns: { ${entered} }  # beside\nbudget: 1\n`],
    ['flow over lines', `columns: {\n  ${entered},\n}\nbudget: 1\n`],
    ['empty', 'columns: {}\nbudget: 1\n'],
    ['missing', '# first\nbudget: 1\n'],
  ])('an entry is added to a section: %s', (_, text) => {
    const after = enterEntry(text, ['columns'], 'new one', value);
    const { columns: before, ...rest } = parse(text);
    expect(parse(after)).toEqual({ ...rest, columns: { ...before, 'new one': read } });
    for (const comment of text.match(/#(?:!c)\s?\w+/g) ?? []) expect(after).toContain(comment);
    const again = enterEntry(after, ['columns'], 'new one', '{ type: date }');
    expect(parse(again)).toEqual({ ...rest, columns: { ...before, 'new one': { type: 'date' } } });
  });

  it.each([
    'tables:\n  visits:\n    source: v.csv\n    maxRows: 5 # five\n    unit: p\n  other: {source: o.csv}\nbudget: 1\n',
    'tables:\n  visits: {source: v.csv, maxRows: 5, unit: p}\n  other: {source: o.csv}\nbudget: 1\n',
  ])('an entry is changed, or added with its missing parent sections', (text) => {
    const before = parse(text);
    const after = enterEntry(
      enterEntry(text, ['tables', 'visits'], 'maxRows', '7'),
      ['tables', 'visits', 'columns'],
      'city',
      value,
    );
    const visits = { ...before.tables.visits, maxRows: 7, columns: { city: read } };
    expect(parse(after)).toEqual({ ...before, tables: { ...before.tables, visits } });
    if (text.includes('# five')) expect(after).toContain('maxRows: 7 # five');
  });
});
