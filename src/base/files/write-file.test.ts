import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../errors.js';
import { writeFolder, writeNew, writeWhole } from './write-file.js';

let folder: string;
const at = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(at(name), 'utf8');
const hint = 'Choose another place.';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const faultOf = (work: () => unknown): Fault => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }
  throw new Error('nothing was thrown');
};

describe('a file written whole', () => {
  it('writing replaces the content, keeps the mode and leaves no other file', () => {
    writeFileSync(at('policy.yaml'), 'old');
    chmodSync(at('policy.yaml'), 0o640);
    writeWhole(at('policy.yaml'), 'new', { hint });
    expect(read('policy.yaml')).toBe('new');
    expect(statSync(at('policy.yaml')).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual(['policy.yaml']);
  });

  it.skipIf(process.getuid?.() !== 0)('writing keeps the owner of a file if permitted', async () => {
    const { chownSync } = await import('node:fs');
    writeFileSync(at('policy.yaml'), 'old');
    chownSync(at('policy.yaml'), 1234, 4321);
    writeWhole(at('policy.yaml'), 'new', { hint });
    expect(statSync(at('policy.yaml'))).toMatchObject({ uid: 1234, gid: 4321 });
  });

  it('writing leaves a reader of the old file undisturbed, because it creates a new file', () => {
    writeFileSync(at('policy.yaml'), 'old');
    const before = statSync(at('policy.yaml')).ino;
    writeWhole(at('policy.yaml'), 'new', { hint });
    expect(statSync(at('policy.yaml')).ino).not.toBe(before);
  });

  it('writing follows links, even if the target does not exist yet', () => {
    mkdirSync(at('real'));
    symlinkSync('real/policy.yaml', at('a.yaml'));
    symlinkSync('a.yaml', at('b.yaml'));
    for (const text of ['first', 'second']) {
      writeWhole(at('b.yaml'), text, { hint });
      expect(readFileSync(at('real/policy.yaml'), 'utf8')).toBe(text);
    }
    expect(lstatSync(at('b.yaml')).isSymbolicLink()).toBe(true);
    expect(readdirSync(at('real'))).toEqual(['policy.yaml']);
  });

  it('a private file is private from its first byte on', () => {
    writeWhole(at('page.html'), 'x', { hint, mode: 0o600 });
    expect(statSync(at('page.html')).mode & 0o777).toBe(0o600);
  });

  it('a failed write reports the file and the reason', () => {
    mkdirSync(at('taken'));
    const refused = faultOf(() => writeWhole(at('taken'), 'x', { hint }));
    expect(refused).toMatchObject({ code: 'READ_ONLY', hint: `${hint} What was there before is unchanged.` });
    expect(refused.message).toContain(at('taken'));
    expect(faultOf(() => writeWhole(at('nowhere/x'), 'x', { hint })).code).toBe('READ_ONLY');
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it.skipIf(process.platform !== 'linux')('writing to a device bypasses the draft', () => {
    writeWhole('/dev/null', 'x', { hint });
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(faultOf(() => writeWhole('/dev/full', 'x', { hint })).code).toBe('DISK_FULL');
  });

  it('an error that is not from the file system passes unchanged', () => {
    expect(() => writeWhole(at('x'), 7 as unknown as string, { hint })).toThrow(TypeError);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a new file', () => {
  it('a new file is created once and never replaces another, even through a link', () => {
    expect(writeNew(at('policy.yaml'), 'one', { hint })).toBe(true);
    symlinkSync('policy.yaml', at('link.yaml'));
    for (const name of ['policy.yaml', 'link.yaml']) expect(writeNew(at(name), 'two', { hint })).toBe(false);
    expect(read('policy.yaml')).toBe('one');
    expect(readdirSync(folder).sort()).toEqual(['link.yaml', 'policy.yaml']);
  });
});

describe('a folder of files', () => {
  const files = [
    ['a.csv', 'new a'],
    ['b.csv', 'new b'],
    ['c.csv', 'new c'],
  ] as const;

  it('writing a folder creates its missing parents', () => {
    writeFolder(at('x/y/z'), files, { hint });
    expect(readdirSync(at('x/y/z'))).toEqual(['a.csv', 'b.csv', 'c.csv']);
  });

  it('no file of a folder is replaced when one of them cannot be', () => {
    writeFileSync(at('a.csv'), 'old a');
    mkdirSync(at('c.csv'));
    const fault = faultOf(() => writeFolder(folder, files, { hint }));
    expect(fault).toMatchObject({ code: 'READ_ONLY', hint: expect.stringContaining('unchanged') });
    expect(fault.message).toContain('c.csv');
    expect(read('a.csv')).toBe('old a');
    expect(readdirSync(folder)).toEqual(['a.csv', 'c.csv']);
  });
});
