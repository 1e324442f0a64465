import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyDecoded, guessEncoding } from './encoding.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-encoding-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Written by encodings.py: bytes, and what Python reads from them. */
const files: readonly { label: string; bytes: string; text: string }[] = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/encodings.json', import.meta.url), 'utf8'),
);
const write = (name: string, bytes: string | Buffer): string => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};
const assumed = (bytes: string | Buffer) => guessEncoding(write('a.csv', bytes));

describe('text that is not UTF-8', () => {
  it.each(files.map((file) => [file.label, file] as const))('text in %s decodes as in Python', async (label, { bytes, text }) => {
    const plain = Buffer.from(bytes, 'base64');
    for (const [name, data] of [
      ['plain.csv', plain],
      ['packed.csv.gz', gzipSync(plain)],
    ] as const) {
      await copyDecoded(write(name, data), join(folder, 'copy.csv'), label, 2 ** 20);
      expect(readFileSync(join(folder, 'copy.csv'), 'utf8')).toBe(text);
    }
  });

  it('the encoding is detected wherever blocks of the file end, even if every byte is a letter', async () => {
    const long = Buffer.from(Array.from({ length: 3 * 2 ** 20 }, (_, k) => (k % 61 === 0 ? 0x0a : 0xe0 + (k % 29))));
    await copyDecoded(write('long.csv', long), join(folder, 'copy.csv'), 'windows-1252', 2 ** 24);
    expect(readFileSync(join(folder, 'copy.csv'), 'utf8')).toBe(long.toString('latin1'));
    await expect(copyDecoded(join(folder, 'long.csv'), join(folder, 'copy.csv'), 'latin1', 2 ** 20)).rejects.toMatchObject({
      code: 'DISK_FULL',
    });
  });

  it('text that cannot be UTF-8 is assumed to come from Windows', async () => {
    expect(await assumed(Buffer.from('party\nGrüne\nSPD\n', 'latin1'))).toBe('windows-1252');
    expect(await assumed('party\nGrüne\n日本\n😀\n')).toBeUndefined();
    expect(await assumed('\ufeffparty\nGrüne\n')).toBeUndefined();
    expect(await assumed('party\nSPD\n')).toBeUndefined();
    expect(await assumed(Buffer.from('\ufeffparty\nGrüne\n', 'utf16le'))).toBe('utf-16le');
    // One byte gone wrong among many that are right.
    expect(await assumed(Buffer.concat([Buffer.from('party\nGrüne\nGrüne\n'), Buffer.from([0xfc, 0x0a])]))).toBeUndefined();
  });
});
