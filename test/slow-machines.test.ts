import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const tests = ['src', 'console', 'test', 'examples']
  .flatMap((room) => readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`))
  .filter((file) => !file.includes('node_modules') && /^test\/.*\.ts$|\.test\.ts$/.test(file))
  .filter((file) => !file.endsWith('slow-machines.test.ts'));

const found = (text: string, forms: readonly RegExp[]): readonly number[] =>
  forms.flatMap((form) => [...text.matchAll(form)].map(([, limit]) => Number(limit!.replaceAll('_', ''))));
/** Limits in milliseconds: the last argument of a test or hook, and the option `timeout`. */
const limitsIn = (text: string) => found(text, [/^\s*\}, (\d[\d_]*)\);$/gm, /\btimeout: (\d[\d_e]*)/g]);
/** Waiting times of a test and the deadlines it sets. */
const waitsIn = (text: string) =>
  found(text, [
    /\b(?:after|setDefaultTimeout)\((\d[\d_]*)/g,
    /\bsetTimeout\(.*, (\d[\d_]*)\)/g,
    /\b(?:deadline|silence)(?: =|:) (\d[\d_]*)/g,
  ]);
/** A process that does not end by itself is ended: no test fails by it. */
const isHardEnd = (line: string): boolean => line.includes("kill('SIGKILL')");
/** Below this a busy machine decides; timers of a few seconds that a test sets for itself are no limits. */
const [timers, least] = [5000, 600_000];
const isShort = (limit: number): boolean => limit > timers && limit < least;
/** Differences of wall-clock times that a test is judged by. */
const judgesTime = (text: string): boolean => /expect\((Date|performance)\.now\(\) - \w+\)/.test(text);
/** They need a server of their own, and are not part of the suite that every machine runs. */
const ofServers = /^test\/(postgres|cluster)\//;

describe('a slow machine', () => {
  it('a slow machine fails no test by a time limit', () => {
    expect(limitsIn("  }, 60_000);\n  it('x', { timeout: 120_000 }, f)")).toEqual([60_000, 120_000]);
    expect(tests.length).toBeGreaterThan(300);
    expect(tests.filter((file) => limitsIn(readFileSync(join(root, file), 'utf8')).some(isShort))).toEqual([]);
  });

  it('a slow machine fails no test that waits for something', () => {
    expect(waitsIn('after(20_000, x); setTimeout(() => failed(), 110_000);\nsilence = 30_000')).toEqual([
      20_000, 110_000, 30_000,
    ]);
    const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').split('\n');
    const isSlow = (file: string) => linesOf(file).some((line) => !isHardEnd(line) && waitsIn(line).some(isShort));
    expect(tests.filter((file) => !ofServers.test(file) && isSlow(file))).toEqual([]);
  });

  it('a slow machine fails no test that measures how long something takes', () => {
    expect(judgesTime('expect(Date.now() - started).toBeLessThan(2000)')).toBe(true);
    expect(tests.filter((file) => !ofServers.test(file) && judgesTime(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it.each(['', '.postgres', '.cluster', '.browser'])('every test has a quarter of an hour: vitest%s.config.ts', (kind) => {
    const config = readFileSync(join(root, `vitest${kind}.config.ts`), 'utf8');
    for (const limit of ['testTimeout', 'hookTimeout'])
      expect(Number(new RegExp(`${limit}: ([\\d_]+)`).exec(config)![1]!.replaceAll('_', ''))).toBeGreaterThanOrEqual(900_000);
  });
});
