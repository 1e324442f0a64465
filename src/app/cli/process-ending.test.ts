import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Fault } from '../../base/errors.js';
import { fail } from './output.js';
import { outcomes } from './process-ending.js';

afterEach(() => {
  vi.restoreAllMocks();
  for (const { entry } of outcomes.entries) outcomes.forget(entry);
});

class Exit extends Error {}
/** Output and exit code of a failing process. */
function failing(error: unknown, json: boolean) {
  let [code, output] = [0, ''];
  vi.spyOn(process, 'exit').mockImplementation((exit) => {
    code = Number(exit);
    throw new Exit();
  });
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      output += String(text);
      return true;
    });
  expect(() => fail(error, json)).toThrow(Exit);
  vi.restoreAllMocks();
  return { code, said: output };
}

describe('a failing process', () => {
  it('a failing process reports every entry it reserved, whatever the error contains, and exits with the worst outcome', () => {
    outcomes.note({ state: 'recorded', entry: 4 });
    expect(failing(new TypeError('undefined is no function'), false)).toEqual({
      code: 7,
      said: expect.stringMatching(/inside Fugu.*\n.*\[INTERNAL\]\n {2}Spent and recorded: ledger entry 4[.]/),
    });
    outcomes.note({ state: 'spent', entry: 5, resumable: false });
    const { code, said: output } = failing(new Fault('BUDGET_EXCEEDED', 'no', 'less', { outcome: { state: 'not spent' } }), true);
    expect(code).toBe(6);
    expect(JSON.parse(output).error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      outcome: { state: 'spent', entry: 5, resumable: false },
      entries: [
        { state: 'recorded', entry: 4 },
        { state: 'spent', entry: 5 },
      ],
    });
    expect(failing(new Fault('BUDGET_EXCEEDED', 'no', 'less'), false).said).toMatch(
      /entry 4[\s\S]*\n {2}Spent without .* entry 5/,
    );
  });

  it("a failing process that reserved nothing exits with the code of the fault and prints the fault's outcome", () => {
    const { code, said: output } = failing(
      new Fault('BUDGET_EXCEEDED', 'no', 'less', { outcome: { state: 'not spent' } }),
      false,
    );
    expect({ code, said: output }).toEqual({ code: 3, said: 'fugu: no\n  less [BUDGET_EXCEEDED]\n  Nothing was spent.\n' });
  });
});

describe('the texts of budget outcomes', () => {
  it('budget outcomes are worded in one file only', () => {
    const root = join(import.meta.dirname, '..', '..');
    const byHand = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'release/session/outcome.ts')
      .filter((file) => /Nothing was spent|nothing was released/.test(readFileSync(join(root, file), 'utf8')));
    expect(byHand).toEqual([]);
  });
});
