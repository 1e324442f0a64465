import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error a script has no types
import { mutants } from '../scripts/mutants-list.mjs';

const root = join(import.meta.dirname, '..');
interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}
const all = mutants as readonly Mutant[];
const textOf = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

describe('the list of planted faults', () => {
  it('the list matches the source: each fault can be planted in one place, and its tests exist', () => {
    expect(all.length).toBeGreaterThan(150);
    expect(
      all.filter(({ file, from, to }) => textOf(file).split(from).length !== 2 || from === to).map(({ name }) => name),
    ).toEqual([]);
    expect(all.flatMap(({ tests }) => tests).filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
});
