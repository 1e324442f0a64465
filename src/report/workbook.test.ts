import { inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { workbook } from './workbook.js';

/** The files of an archive, read from its directory at the end. */
function unzip(bytes: Uint8Array): Map<string, string> {
  const all = Buffer.from(bytes);
  const end = all.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const files = new Map<string, string>();
  let at = all.readUInt32LE(end + 16);
  for (let k = 0; k < all.readUInt16LE(end + 10); k++) {
    expect(all.toString('latin1', at, at + 4)).toBe('PK\x01\x02');
    const name = all.toString('utf8', at + 46, at + 46 + all.readUInt16LE(at + 28));
    const local = all.readUInt32LE(at + 42);
    const from = local + 30 + all.readUInt16LE(local + 26) + all.readUInt16LE(local + 28);
    files.set(name, inflateRawSync(all.subarray(from, from + all.readUInt32LE(at + 20))).toString('utf8'));
    at += 46 + all.readUInt16LE(at + 28);
  }
  return files;
}

const table = (name: string, cell: string | number | null) => ({
  name,
  fields: [
    { name: 'party', type: 'string' as const, meaning: '' },
    { name: 'count', type: 'number' as const, meaning: '' },
  ],
  rows: [[cell, 3]],
});

describe('the workbook of a release', () => {
  test('has the promise and one sheet per table, with names that Excel takes', () => {
    const files = unzip(
      workbook(['Protected: one row.'], [table('a/very:long name that goes on and on [and on]', 'd'), table('b', 'r')]),
    );
    const names = [...files.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)].map((m) => m[1]!);
    expect(names).toEqual(['Promise', '1 a very long name that goes on', '2 b']);
    expect(names.every((name) => name.length <= 31)).toBe(true);
    expect(files.get('xl/worksheets/sheet1.xml')).toContain('Protected: one row.');
    expect(files.get('xl/worksheets/sheet2.xml')).toContain('<c r="B2"><v>3</v></c>');
    expect(files.get('[Content_Types].xml')).toContain('/xl/worksheets/sheet3.xml');
  });
  test('holds text as text, whatever it looks like, and nothing that breaks the file', () => {
    for (const text of ['=HYPERLINK("x")', '<v>&</v>', 'a\u0000b', '\ud800', ']]>'])
      expect(unzip(workbook([], [table('t', text)])).get('xl/worksheets/sheet2.xml')).toMatch(
        /<c r="A2" t="inlineStr"><is><t xml:space="preserve">[^<]*<\/t>/,
      );
    expect(unzip(workbook([], [table('t', null)])).get('xl/worksheets/sheet2.xml')).not.toContain('r="A2"');
  });
});
