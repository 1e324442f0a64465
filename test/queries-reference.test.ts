import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rational } from '../src/base/exact/rational.js';
import { readPolicy } from '../src/data/terms/read.js';
import type { Column, Policy } from '../src/policy/policy.js';
import { bindBatch } from '../src/query/bind.js';
import { queryKinds } from '../src/query/kinds.js';
import { parseBatch } from '../src/query/parse.js';
import { parseSql } from '../src/query/sql/sql.js';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/reference/queries-reference.md'), 'utf8');
const sections = page.split(/^## /m).slice(1);
const block = (section: string, language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``).exec(section)?.[1];

/** A policy of the examples with an added weight column. */
async function weighted(file: string): Promise<Policy> {
  const policy = await readPolicy(join(root, 'examples', file));
  const w: Column = { name: 'w', type: 'weight', bounds: [rational(0), rational(4)], step: rational(1, 2), missing: [] };
  return { ...policy, columns: new Map([...policy.columns, ['w', w]]) };
}

describe('the page docs/reference/queries-reference.md', () => {
  it('the page equals the output of scripts/api.mjs, with a section per kind', () => {
    expect(execFileSync(process.execPath, [join(root, 'scripts/api.mjs'), '--print-queries'], { encoding: 'utf8' })).toBe(page);
    expect(sections.map((section) => section.split('\n')[0]).sort()).toEqual(Object.keys(queryKinds).sort());
  });

  it.each(sections.map((section) => [section.split('\n')[0]!, section] as const))(
    'the examples of %s are answered',
    async (kind, section) => {
      const [, file, text] = /```json (\S+)\n(\{[\s\S]*?)\n```/.exec(section)!;
      const policy = await weighted(file!);
      const query = JSON.parse(text!);
      expect(query.kind).toBe(kind);
      expect(bindBatch(parseBatch(query), policy).measures.length).toBeGreaterThan(0);
      const heavy = block(section, 'json weighted');
      if (heavy !== undefined) {
        expect(JSON.parse(heavy).weight).toBe('w');
        expect(bindBatch(parseBatch(JSON.parse(heavy)), policy).measures.length).toBeGreaterThan(0);
      } else expect(() => bindBatch(parseBatch({ ...query, weight: 'w' }), policy)).toThrow();
      const sql = block(section, 'sql');
      const survey = await weighted('household-survey/policy.yaml');
      if (sql !== undefined) expect(bindBatch(parseSql(sql, survey), survey).measures.length).toBeGreaterThan(0);
    },
  );
});
