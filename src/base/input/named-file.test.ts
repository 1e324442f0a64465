import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { Fault } from '../errors.js';
import { limits } from './limits.js';
import { readNamedText, readPackedText, unreadableText } from './named-file.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-named-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const fault = (why: keyof typeof unreadableText) => new Fault('DATA_NOT_FOUND', `The file ${unreadableText[why]}.`, 'Check it.');
const read = (file: string) => readNamedText(file, 'supportBytes', fault);

describe('a file named by the user', () => {
  writeFileSync(at('plain'), 'text é');
  symlinkSync(at('plain'), at('link'));

  it('the reader returns the text of a file, also through a link, and of an empty file', () => {
    writeFileSync(at('empty'), '');
    expect([read(at('plain')), read(at('link')), read(at('empty'))]).toEqual(['text é', 'text é', '']);
  });

  it('the reader returns the text of a file whose size is not known in advance', () => {
    expect(read('/proc/self/status')).toContain('Name:');
  });

  it.each(['/dev/zero', '/dev/full', '/dev/tty', folder])('the reader refuses %s', (file) => {
    expect(() => read(file)).toThrow(/is not a regular file|cannot be read/);
  });

  it('the reader refuses a pipe without waiting for its writer', () => {
    execFileSync('mkfifo', [at('pipe')]);
    symlinkSync(at('pipe'), at('link to a pipe'));
    for (const name of ['pipe', 'link to a pipe']) expect(() => read(at(name))).toThrow('is not a regular file');
  });

  it('the reader refuses a missing file and a circle of links', () => {
    symlinkSync(at('circle'), at('circle'));
    for (const name of ['nothing', 'circle', 'plain/inside']) expect(() => read(at(name))).toThrow('cannot be read');
  });

  it('the reader refuses a file by its size before reading it', () => {
    writeFileSync(at('huge'), '');
    truncateSync(at('huge'), 2 ** 40);
    expect(() => read(at('huge'))).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED', details: expect.objectContaining({ size: 2 ** 40 }) }),
    );
  });

  it('the reader refuses a small archive that unpacks to a large text', () => {
    writeFileSync(at('bomb.gz'), gzipSync(Buffer.alloc(limits.unpackedBytes.most + 1)));
    writeFileSync(at('fine.gz'), gzipSync('fine'));
    writeFileSync(at('broken.gz'), 'no');
    expect(readPackedText(at('fine.gz'), 'modelBytes', fault)).toBe('fine');
    expect(() => readPackedText(at('bomb.gz'), 'modelBytes', fault)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
    expect(() => readPackedText(at('broken.gz'), 'modelBytes', fault)).toThrow('cannot be read');
  });
});
