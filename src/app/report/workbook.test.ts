import { describe, expect, test } from 'vitest';
import { unzippedFiles } from '../../../test/unzipped.js';
import { workbook } from './workbook.js';

const table = (name: string, cell: string | number | null) => ({
  name,
  fields: [
    { name: 'party', type: 'string' as const, meaning: '' },
    { name: 'count', type: 'number' as const, meaning: '' },
  ],
  rows: [[cell, 3]],
});

describe('the workbook of a release', () => {
  test('the workbook has the promise and one sheet per table, with names that Excel accepts', () => {
    const files = unzippedFiles(
      workbook(['Protected: one row.'], [table('a/very:long name that goes on and on [and on]', 'd'), table('b', 'r')]),
    );
    const names = [...files.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)].map((m) => m[1]!);
    expect(names).toEqual(['Promise', '1 a very long name that goes on', '2 b']);
    expect(names.every((name) => name.length <= 31)).toBe(true);
    expect(files.get('xl/worksheets/sheet1.xml')).toContain('Protected: one row.');
    expect(files.get('xl/worksheets/sheet2.xml')).toContain('<c r="B2"><v>3</v></c>');
    expect(files.get('[Content_Types].xml')).toContain('/xl/worksheets/sheet3.xml');
  });
  test('the workbook holds text as text, whatever it looks like, and nothing that breaks the file', () => {
    for (const text of ['=HYPERLINK("x")', '<v>&</v>', 'a\u0000b', '\ud800', ']]>'])
      expect(unzippedFiles(workbook([], [table('t', text)])).get('xl/worksheets/sheet2.xml')).toMatch(
        /<c r="A2" t="inlineStr"><is><t xml:space="preserve">[^<]*<\/t>/,
      );
    expect(unzippedFiles(workbook([], [table('t', null)])).get('xl/worksheets/sheet2.xml')).not.toContain('r="A2"');
  });
});
