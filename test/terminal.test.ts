import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtOnce, type CommandResult, fugu } from './fugu.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

const trick = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202edesrever\u200b';
let workshop: Workshop;
beforeAll(() => {
  builtOnce();
  workshop = openWorkshop(policyYaml({ budget: '{ epsilon: 4 }' }), 40);
});
afterAll(() => workshop.remove());

const run = (...words: string[]): Promise<CommandResult> =>
  fugu({ cwd: workshop.folder, env: { FUGU_ANALYST: `eve${trick}` } }, ...words);
// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

describe('a terminal', () => {
  it('the terminal shows the text of analysts, queries and paths, and obeys no control characters', async () => {
    const named = JSON.stringify({ kind: 'count', name: `all${trick}\ncertified: nothing` });
    const args = [
      ['release', 'policy.yaml', '--query', named, '--epsilon', '1'],
      ['release', 'policy.yaml', '--query', '{"kind":"count"}', '--epsilon', '1'],
      ['ledger', 'policy.yaml'],
      ['ledger', 'policy.yaml', '--json'],
      ['release', 'policy.yaml', '--query', `{"kind":"histogram","column":${JSON.stringify(`party${trick}`)}}`],
      ['release', 'policy.yaml', '--query', `{"kind":"histogram","column":${JSON.stringify(`party${trick}`)}}`, '--json'],
      ['check', `policy${trick}.yaml`],
      [`rel${trick}ease`],
    ];
    for (const words of args) {
      const { out, err } = await run(...words);
      expect(out + err, words.join(' ')).not.toMatch(obeyed);
      expect((out + err).length, words.join(' ')).toBeGreaterThan(20);
    }
    const { out } = await run(
      'release',
      'policy.yaml',
      '--query',
      `{"kind":"sum","column":${JSON.stringify(`x${trick}`)}}`,
      '--json',
    );
    expect(out).toContain('\\u001b[2J');
  });
});
