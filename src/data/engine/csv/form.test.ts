import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineCsv, LineScanner } from './form.js';
import { TextCheck } from './text.js';

let folder: string;
let instance: DuckDBInstance;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-form-'));
  instance = await DuckDBInstance.create(':memory:', { threads: '1' });
});
afterAll(() => {
  instance.closeSync();
  rmSync(folder, { recursive: true, force: true });
});

const headerOf = (columns: number) => ({ names: Array.from({ length: columns }, (_, i) => `c${i}`), delimiter: ',', before: 0 });
function scan(text: string, columns: number, size = 1 << 20): LineScanner {
  const scanner = new LineScanner(headerOf(columns));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) scanner.write(bytes.subarray(at, at + size));
  scanner.end();
  return scanner;
}

describe('the lines of a CSV', () => {
  it('the scanner finds the same lines as the database, in every text that it accepts', async () => {
    const connection = await instance.connect();
    const path = join(folder, 'lines.csv');
    let accepted = 0;
    const texts = (columns: number) =>
      fc
        .array(fc.constantFrom('a', 'b', ' ', '"', '""', '"a"', '"a,b"', '"a\nb"', ',', ',', '\n', '\n', '\t'), { maxLength: 18 })
        .map((parts) => `${headerOf(columns).names.join()}\n${parts.join('')}`);
    for (const columns of [1, 2, 3])
      await fc.assert(
        fc.asyncProperty(texts(columns), fc.integer({ min: 1, max: 20 }), async (text, size) => {
          writeFileSync(path, text);
          const types = headerOf(columns).names.map((n) => `${n}: 'VARCHAR'`);
          const found = await connection
            .runAndReadAll(
              `SELECT count(*) FROM read_csv('${path}', auto_detect=false, header=true, delim=',', quote='"', escape='"', columns={${types.join()}})`,
            )
            .then(
              (result) => Number(result.getRows()[0]![0]),
              () => undefined,
            );
          const { broken, records, long } = scan(text, columns, size);
          if (found === undefined) return;
          accepted++;
          expect([broken, long, records]).toEqual([false, false, found]);
        }),
        { numRuns: 100 },
      );
    connection.closeSync();
    expect(accepted).toBeGreaterThan(50);
  });

  it('a line ends with a line feed, a return or both, and in a single column an empty line is a record', () => {
    for (const end of ['\n', '\r', '\r\n'])
      for (const size of [1, 2, 100]) {
        expect(scan(['c0,c1', '1,2', '', '3,"x\ny"', ''].join(end), 2, size).records).toBe(2);
        expect(scan(['c0', '1', '', '3', ''].join(end), 1, size).records).toBe(3);
      }
  });

  it('the scanner refuses an open quote, and text after a closed one', () => {
    expect(scan('c0\n"a', 1).broken).toBe(true);
    expect(scan('c0\n"a"b\n', 1).broken).toBe(true);
    expect(scan('c0\n "a" \n b "c"\n', 1).broken).toBe(false);
  });

  it('a line is too long only because of bytes that are no cell', () => {
    const columns = 2;
    expect(scan(`c0,c1\n1,${'x'.repeat(9e6)}\n`, columns)).toMatchObject({ long: true, broken: false, records: 1 });
    expect(scan(`c0,c1\n1,2${','.repeat(9e6)}\n`, columns).broken).toBe(true);
    expect(scan(`c0,c1\n1,"2"${' '.repeat(9e6)}\n`, columns).broken).toBe(true);
    expect(scan(`${'n'.repeat(70_000)},c1\n1,2\n`, columns)).toMatchObject({ long: false, broken: false, records: 1 });
  });
});

describe('the text of a CSV', () => {
  it('the check recognises UTF-8 wherever blocks end', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string({ unit: 'binary' }).map((s) => Buffer.from(s)),
            fc.uint8Array({ maxLength: 3 }),
          ),
          { maxLength: 6 },
        ),
        fc.integer({ min: 1, max: 9 }),
        (parts, size) => {
          const bytes = Buffer.concat(parts);
          const check = new TextCheck();
          for (let at = 0; at < bytes.length; at += size) check.write(bytes.subarray(at, at + size));
          const fatal = () => new TextDecoder('utf-8', { fatal: true }).decode(bytes);
          if (check.end()) expect(fatal).not.toThrow();
          else expect(fatal).toThrow();
        },
      ),
      { numRuns: 200 },
    );
  });

  it('a packed file is checked unpacked', async () => {
    const path = join(folder, 'packed.csv.gz');
    writeFileSync(path, gzipSync(Buffer.concat([Buffer.from('c0\n1\n'), Buffer.from([0xff])])));
    expect(await examineCsv(path, headerOf(1))).toMatchObject({ plain: false, records: 2 });
  });
});
