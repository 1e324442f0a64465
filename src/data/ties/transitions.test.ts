import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readTransitions } from './transitions.js';

let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const read = (content: unknown) => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-transitions-'));
  writeFileSync(join(folder, 'daily.json'), JSON.stringify(content));
  return readTransitions(join(folder, 'daily.json'));
};
const transition = [
  [0.9, 0.1],
  [0.2, 0.8],
];

describe('a transition file that names its states', () => {
  it('the file is read with the names of its states', () => {
    expect(read({ transition, states: ['ill', 'well'] })).toEqual({ forward: [transition], states: ['ill', 'well'] });
  });

  it.each([
    ['names a state twice', ['ill', 'ill']],
    ['names another number of states', ['ill', 'well', 'gone']],
  ])('the file is refused if it %s', (what, states) => {
    expect(() => read({ transition, states })).toThrow(what);
  });
});
