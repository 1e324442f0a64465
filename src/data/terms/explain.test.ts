import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain, explainPolicy } from './explain.js';
import { parsePolicy } from './read.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-explain-'));
  writeFileSync(join(folder, 'model.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true }));

const explained = async (rest: string, protect = '{secret: row}', budget = '{epsilon: 1}') =>
  explain(
    await parsePolicy(
      `data: {source: survey.csv}
protect: ${protect}
budget: ${budget}
columns: {party: {type: category, values: [a, b]}, form: {type: category, values: [1, 2], public: true}}
relations: {friend: {table: f.csv, columns: [a, b], domain: 9, symmetric: true}}
${rest}`,
      join(folder, 'policy.yaml'),
    ),
  );
const about = (lines: Awaited<ReturnType<typeof explained>>, topic: string) =>
  lines
    .filter((l) => l.topic === topic)
    .map((l) => l.text)
    .join('\n');

describe('the explanation of a policy', () => {
  it('the explanation states the assumption of independent records, and that other dependence is not protected', async () => {
    const lines = await explained('dependence: none');
    expect(about(lines, 'assumption')).toMatch(/no record says anything about another/);
    expect(about(lines, 'not protected')).toMatch(/any dependence/);
    expect(about(lines, 'not protected')).toMatch(/form: declared public/);
  });

  it('the explanation states the budget as a belief: ten percent can become 23 at epsilon one', async () => {
    const lines = await explained('dependence: none');
    expect(about(lines, 'belief')).toMatch(/10 % .* 3\.92 % to 23\.2 %/);
    expect(about(lines, 'belief')).not.toMatch(/except/);
  });

  it('the explanation describes changes of odds in words if no number expresses them', async () => {
    for (const protect of ['{secret: row}', '{secret: row, neighbours: add-remove}']) {
      const lines = await explained('dependence: none', protect, '{epsilon: 1000}');
      expect(about(lines, 'budget')).toMatch(/may change so far that anything is certain \(e\^[12]?000 times\)/);
      expect(JSON.stringify(lines)).not.toMatch(/Infinity|NaN/);
    }
    expect(about(await explained('dependence: none', '{secret: row}', '{epsilon: 20}'), 'budget')).toMatch(
      /change at most 4\.9e\+8 times/,
    );
  });

  it('the explanation repeats the exception of delta in every sentence of the budget', async () => {
    const lines = await explained(
      'dependence: none',
      '{secret: row}',
      '{belief: {prior: 0.1, posterior: 0.3, about: a rare disease}, delta: 1e-6}',
    );
    const sentences = lines.filter((l) => l.topic === 'belief' || l.topic === 'budget');
    expect(sentences.length).toBeGreaterThan(3);
    for (const { text } of sentences) expect(text).toMatch(/except with probability 0\.000001/);
    expect(about(lines, 'belief')).toMatch(/a rare disease believed with 10 % is believed with at most 30 %/);
  });

  it('the explanation names the privacy unit for each secret', async () => {
    expect(about(await explained('dependence: none', '{secret: person, unit: id, maxRows: 5}'), 'protected')).toMatch(
      /same id. At most 5 rows/,
    );
    expect(about(await explained('dependence: none', '{secret: answer}'), 'protected')).toMatch(/one answer/);
    expect(about(await explained('dependence: none', '{secret: edge}'), 'protected')).toMatch(/one pair .*friend/);
    const step = 'dependence: [{kind: sequence, by: id, order: week, state: party, transition: model.json}]';
    expect(about(await explained(step, '{secret: step}'), 'protected')).toMatch(/the party of one id at one week/);
  });

  it('the explanation distinguishes the informed adversary from the uninformed one', async () => {
    expect(about(await explained('dependence: none'), 'from')).toMatch(/may even know the exact values/);
    expect(about(await explained('dependence: none', '{secret: row, adversary: uninformed}'), 'from')).toMatch(
      /but not the values of other records/,
    );
  });

  it('the explanation has one line for every kind of dependence, with its strength in words', async () => {
    const lines = await explained(`dependence:
  - {kind: groups, by: [house, street], column: party, oddsRatio: 81, maxSize: 6}
  - {kind: ties, relation: friend, reach: direct, maxTies: 50}
  - {kind: columns, network: model.json}
  - {kind: gaussian, precision: model.json}
  - {kind: factors, model: model.json}`);
    const texts = lines.filter((l) => l.topic === 'assumption').map((l) => l.text);
    expect(texts).toHaveLength(5);
    expect(texts[0]).toMatch(/same house or the same street .* 81 times in the odds .* agree up to 90 %.* more than 6 members/);
    expect(texts[1]).toMatch(/copies of each other.* Only direct ties count.*left out .* tied to more than 50 others that are/);
  });

  it('the explanation has one sentence per line, each with its topic', async () => {
    const lines = explainPolicy(
      await parsePolicy(
        'data: {source: s.csv}\nprotect: {secret: row}\nbudget: {epsilon: 20}\ndependence: none',
        join(folder, 'p.yaml'),
      ),
    );
    for (const line of lines) expect(line).toMatch(/^[A-Z][a-z ]+: .*[.]$/);
    expect(lines.join('\n')).toMatch(/protects almost nothing/);
  });
});
