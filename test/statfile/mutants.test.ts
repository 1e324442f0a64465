import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { Fault } from '../../src/base/errors.js';
import { corpus, readWhole } from './corpus.js';
import { zipOf } from './zip.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-mutants-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mutants = Number(process.env.FUGU_STATFILE_MUTANTS ?? 600);
const slowest = 20_000;
const most = 500 * 2 ** 20;

/** Numbers from 0 to below 1, the same in every run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const extremes = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
/** Mutations prefer the beginning of a file, which mostly decides how it is read, and its end. */
const place = (random: () => number, length: number) => {
  const where = random();
  const x = random();
  return Math.floor((where < 0.3 ? x ** 3 : where < 0.5 ? 1 - x ** 3 * (1 - Number.EPSILON) : x) * length) % length;
};

function mutate(bytes: Buffer, random: () => number): Buffer {
  const made = Buffer.from(bytes);
  const times = random() < 0.7 ? 1 : 2 + Math.floor(random() * 3);
  let result: Buffer = made;
  for (let i = 0; i < times; i++) {
    const at = place(random, result.length);
    const kind = Math.floor(random() * 6.5);
    if (kind === 0 || kind === 6) result[at] = Math.floor(random() * 256);
    else if (kind === 1) result[at] = result[at]! ^ (1 << Math.floor(random() * 8));
    else if (kind === 2 && at + 4 <= result.length) {
      const x = extremes[Math.floor(random() * extremes.length)]!;
      if (random() < 0.5) result.writeUInt32LE(x, at);
      else result.writeUInt32BE(x, at);
    } else if (kind === 3) result = Buffer.from(result.subarray(0, Math.max(1, at)));
    else if (kind === 4)
      result = Buffer.concat([result.subarray(0, at), result.subarray(Math.min(result.length, at + Math.floor(random() * 64)))]);
    else {
      const from = place(random, result.length);
      result = Buffer.concat([
        result.subarray(0, at),
        result.subarray(from, from + Math.floor(random() * 256)),
        result.subarray(at),
      ]);
    }
    if (result.length === 0) return Buffer.from([0]);
  }
  return result;
}

/** Packed contents are mutated before packing, because a broken package would hide everything inside. */
function mutateInside(bytes: Buffer, random: () => number): Buffer {
  const parts: Record<string, Buffer> = {};
  for (let at = 0; at + 30 < bytes.length && bytes.readUInt32LE(at) === 0x04034b50; ) {
    const [method, size] = [bytes.readUInt16LE(at + 8), bytes.readUInt32LE(at + 18)];
    const [name, extra] = [bytes.readUInt16LE(at + 26), bytes.readUInt16LE(at + 28)];
    const data = bytes.subarray(at + 30 + name + extra, at + 30 + name + extra + size);
    parts[bytes.subarray(at + 30, at + 30 + name).toString()] = method === 8 ? inflateRawSync(data) : Buffer.from(data);
    at += 30 + name + extra + size;
  }
  const names = Object.keys(parts).filter((n) => n.startsWith('xl/') && !n.includes('theme'));
  const chosen = names[Math.floor(random() * names.length)]!;
  return zipOf({ ...parts, [chosen]: mutate(parts[chosen]!, random) });
}

describe('a damaged survey file', () => {
  it(`the file is read or refused with a fault, quickly and in little memory (${mutants} of them)`, async () => {
    const random = chance(20261116);
    const files = readdirSync(corpus).filter((f) => !/^(many|expected)/.test(f));
    const originals = new Map(files.map((f) => [f, readFileSync(join(corpus, f))]));
    const start = process.memoryUsage().rss;
    const outcomes = { read: 0, refused: 0 };
    let longest = 0;
    let largest = 0;
    for (let i = 0; i < mutants; i++) {
      const file = files[i % files.length]!;
      const inside = extname(file) === '.xlsx' && random() < 0.8;
      const path = join(folder, `mutant${extname(file)}`);
      writeFileSync(path, (inside ? mutateInside : mutate)(originals.get(file)!, random));
      const began = process.cpuUsage();
      try {
        await readWhole(path);
        outcomes.read++;
      } catch (error) {
        if (!(error instanceof Fault)) throw new Error(`mutant ${i} of ${file}`, { cause: error });
        expect(error.code, `mutant ${i} of ${file}`).toMatch(/^(DATA_MALFORMED|LIMIT_EXCEEDED|DATA_NOT_FOUND)$/);
        outcomes.refused++;
      }
      longest = Math.max(longest, process.cpuUsage(began).user / 1000);
      largest = Math.max(largest, process.memoryUsage().rss - start);
    }
    if (process.env.FUGU_STATFILE_MUTANTS) process.stdout.write(`${JSON.stringify({ ...outcomes, longest, largest })}\n`);
    expect(longest).toBeLessThan(slowest);
    expect(largest).toBeLessThan(most);
    // Both outcomes occur: a reader that refused everything would pass otherwise.
    expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(mutants / 10);
  });
});
