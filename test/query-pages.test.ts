import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kinds } from '../src/app/api/kinds.js';
import { registerLocationCommand as location } from '../src/app/cli/location.js';
import { registerStreamCommand as stream } from '../src/app/cli/stream.js';
import { registerTemporalCommand as temporal } from '../src/app/cli/temporal.js';
import { type Fugu, open, type Question } from '../src/index.js';
import { queryKinds } from '../src/query/kinds.js';
import { runCommand } from './command.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = readdirSync(join(root, 'docs/reference/queries'))
  .filter((file) => file !== 'README.md')
  .map((file) => file.replace('.md', ''));
/** Kinds that have a command of their own. */
const commands = { stream, temporal, location };
const names = pages.filter((name) => !Object.hasOwn(commands, name));
const read = (name: string) => readFileSync(join(root, 'docs/reference/queries', `${name}.md`), 'utf8');

/** The examples run on a copy, because their budgets are for people. */
let folder: string;
const opened = new Map<string, Fugu>();
const at = async (policy: string) => {
  const fugu = opened.get(policy) ?? (await open(join(folder, policy)));
  opened.set(policy, fugu);
  return fugu;
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-pages-'));
  cpSync(join(root, 'examples'), folder, { recursive: true, filter: (path) => !path.endsWith('.fugu') });
});
afterAll(async () => {
  for (const fugu of opened.values()) await fugu.close();
  rmSync(folder, { recursive: true, force: true });
});

const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language} (\\S+)\\n([\\s\\S]*?)\\n\`\`\``, 'g'))].map(([, policy, text]) => ({
    policy: policy!,
    text: text!,
  }));

describe('the pages of docs/reference/queries', () => {
  it('docs/reference/queries has a page per kind of question, and no other', () => {
    expect([...names].sort()).toEqual([...Object.keys(queryKinds), ...Object.keys(kinds)].sort());
    expect(Object.keys(commands).filter((name) => !pages.includes(name))).toEqual([]);
    for (const name of pages) expect(read('README')).toContain(`[${name}](${name}.md)`);
  });

  it.each(names)('the example of %s runs and answers with the output on its page', async (name) => {
    const page = read(name);
    const [example, ...more] = blocks(page, 'json');
    expect(more).toEqual([]);
    const question = JSON.parse(example!.text);
    expect('kind' in question ? question.kind : Object.keys(question)[0]).toBe(name);
    expect(page).toContain(`./fugu release examples/${example!.policy} --query '${example!.text}'`);
    const fugu = await at(example!.policy);
    for (const { text, policy } of blocks(page, 'sql'))
      expect((await (await at(policy)).plan({ sql: text })).measures.length).toBeGreaterThan(0);
    const answer = await fugu.release(question as Question, { epsilon: 0.05 });
    const listed = [...page.match(/ with: (.*)\.\n/)![1]!.matchAll(/`([^`]*)`/g)].map(([, text]) => text);
    expect(listed).toEqual(
      'tables' in answer ? [...new Set(answer.tables.map(({ columns }) => columns.join(', ')))] : Object.keys(answer.result),
    );
  });

  const queriesOn = (page: string) =>
    [...page.matchAll(/```\n\.\/fugu (.*)\n```\n\n[^`]* with: (.*)\.\n/g)].map(([, words, with_]) => ({
      words: [...words!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) =>
        (quoted ?? bare!).replace(/^examples\//, `${folder}/`),
      ),
      fields: [...with_!.matchAll(/`([^`]*)`/g)].map(([, text]) => text),
    }));
  it.each(Object.keys(commands))('the commands of %s run and print the output on its page', async (name) => {
    const examples = queriesOn(read(name));
    expect(examples).toHaveLength(2);
    for (const { words, fields } of examples) {
      const out = await runCommand(commands[name as keyof typeof commands], ...words);
      const documents = name === 'stream' ? out.trim().split('\n') : [out];
      expect(documents.length).toBe(name === 'stream' ? 14 : 1);
      const results = documents.map((document) => Object.keys(JSON.parse(document)));
      expect([...new Set(results.flat())]).toEqual(fields);
    }
  });
});
