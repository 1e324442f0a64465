import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readPolicy } from '../../data/terms/read.js';
import { type DraftAnswers, draftPolicy } from '../api/draft.js';
import { interview } from './interview.js';

let folder: string;
let prompts: string[];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-interview-'));
  const rows = Array.from(
    { length: 300 },
    (_, i) =>
      `p${i % 200},${i >> 1},${18 + (i % 60)},${['yes', 'no', 'NA'][i % 3]},${0.5 + (i % 40) / 10},${i * 3},${i < 5 ? `I think ${i}` : ''},${i % 3}`,
  );
  writeFileSync(join(folder, 'survey.csv'), `respondent_id,hh,age,q1,wt,page_timing,q1_other,q2\n${rows.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
/** Answers by the first question they fit; every question and remark is kept. */
async function talk(answers: readonly (readonly [RegExp, string])[], given: DraftAnswers = {}) {
  prompts = [];
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => prompts.push(String(text)) > 0);
  const left = [...answers];
  const ask = async (question: string) => {
    prompts.push(question);
    const at = left.findIndex(([form]) => form.test(question));
    return at < 0 ? '' : left.splice(at, 1)[0]![1];
  };
  try {
    const out = join(folder, `policy-${++made}.yaml`);
    const draft = await draftPolicy(join(folder, 'survey.csv'), { out, ...given, interview: interview(ask) });
    return { draft, policy: await readPolicy(out), text: readFileSync(out, 'utf8'), prompted: prompts.join('\n'), left };
  } finally {
    spy.mockRestore();
  }
}

describe('the interview of fugu init about the privacy unit', () => {
  it('fugu init accepts "no" for one row per person, and states the consequence', async () => {
    const { policy, prompted } = await talk([[/Is that one person/, 'n']]);
    expect(policy.protect.secret).toBe('row');
    expect(prompted).toMatch(/Each row is then a secret of its own/);
    expect((await talk([[/how many rows/, '7']])).policy.protect.maxRows).toBe(7);
  });
});

describe('the interview of fugu init about facts that only the steward knows', () => {
  it('Enter for every question accepts the groups that were found, and leaves out columns that are no questions', async () => {
    const { policy, prompted, draft } = await talk([]);
    expect([...policy.columns.keys()]).toEqual(['age', 'q1', 'wt', 'q2']);
    expect(policy.dependence).toMatchObject([{ kind: 'groups', by: ['hh'], oddsRatio: Number.POSITIVE_INFINITY }]);
    expect(policy.protect).toMatchObject({ secret: 'person', unit: 'respondent_id', maxRows: 2 });
    expect(draft.undecided).toBe(false);
    for (const words of [
      /hold what people wrote.*q1_other/,
      /are timings.*page_timing/,
      /name groups of rows.*hh/,
      /Is wt a survey weight/,
      /NA/,
    ])
      expect(prompted).toMatch(words);
    expect(prompted).not.toMatch(/I think/);
  });

  it('the interview never assumes that records are strangers unless the user states it', async () => {
    const refused = await talk([[/know each other\?/, 'n']]);
    expect(refused.policy.undecided).toBe(true);
    const none = await talk([
      [/know each other\?/, 'n'],
      [/belongs together/, 'none'],
    ]);
    expect([none.policy.undecided, none.policy.dependence]).toEqual([undefined, []]);
    const other = await talk([
      [/know each other\?/, 'n'],
      [/belongs together/, 'nonsense'],
      [/belongs together/, 'age'],
      [/odds ratio, or Enter/, '0.5'],
      [/odds ratio, or Enter/, '52'],
    ]);
    expect(other.policy.dependence).toMatchObject([{ by: ['age'], oddsRatio: 52 }]);
    expect(other.left).toEqual([]);
  });

  it('the interview repeats a question where an answer is neither yes nor no', async () => {
    const { policy, left } = await talk([
      [/know each other\?/, 'what?'],
      [/know each other\?/, 'y'],
      [/survey weight/, '9'],
      [/survey weight/, 'yes'],
    ]);
    expect(policy.dependence).toMatchObject([{ by: ['hh'] }]);
    expect(policy.columns.get('wt')?.type).toBe('weight');
    expect(left).toEqual([]);
  });

  it('the interview accepts columns, missing codes and weights as given, and does not repeat answered questions', async () => {
    const { policy, text } = await talk([
      [/Which columns/, 'q*, wt'],
      [/no answer/, 'NA, 2'],
      [/survey weight/, 'no'],
    ]);
    expect([...policy.columns.keys()]).toEqual(['q1', 'wt', 'q2']);
    expect(policy.columns.get('q2')).toMatchObject({ values: ['0', '1'], missing: ['2'] });
    expect(policy.columns.get('wt')?.type).toBe('number');
    expect(text).not.toMatch(/I think/);
    const { prompted } = await talk([], {
      columns: ['q1'],
      dependence: 'none',
      missing: ['NA'],
      person: { unit: 'respondent_id', maxRows: 2 },
    });
    expect(prompted).not.toMatch(/Which columns|know each other|no answer|one person/);
  });
});
