import type { Command } from 'commander';
import { toText } from '../exact/rational.js';
import type { Policy } from '../policy/policy.js';
import { accountDoubts } from '../policy/population.js';
import { visible } from '../report/visible.js';
import { type Explanation, explain } from '../terms/explain.js';
import { openEngine } from '../terms/open.js';
import { readPolicy } from '../terms/read.js';
import { bold, emit, good, warn } from './output.js';

export function register(program: Command): void {
  program
    .command('check')
    .description('say in plain words what a policy protects, and from whom')
    .argument('<policy>', 'the policy file')
    .option('--json', 'print one JSON document')
    .action(async (file: string, words: { json?: boolean }) => {
      const policy = await readPolicy(file);
      // Opening it proves that the data can be read and has the columns the policy speaks of.
      await (await openEngine(policy)).close();
      const lines = explain(policy);
      const warnings = await accountDoubts(policy);
      emit(words.json, { ...checkDocument(policy, lines), warnings }, () => checkText(policy, lines, warnings));
    });
}

export const checkDocument = (policy: Policy, lines: readonly Explanation[]) => ({
  policy: policy.file,
  ready: policy.unconfirmed.length === 0,
  population: policy.population,
  ledger: policy.ledger,
  secret: policy.protect.secret,
  adversary: policy.protect.adversary,
  epsilon: toText(policy.budget.epsilon),
  delta: toText(policy.budget.delta),
  columns: policy.columns.size,
  unconfirmed: policy.unconfirmed,
  digest: policy.digest,
  explanation: lines,
});

function checkText(policy: Policy, lines: readonly Explanation[], warnings: readonly string[]): string {
  const text: string[] = [];
  let topic = '';
  for (const line of lines) {
    const head = line.topic === topic ? '' : `${line.topic.charAt(0).toUpperCase()}${line.topic.slice(1)}`;
    topic = line.topic;
    text.push(
      ...wrap(line.text).map(
        (part, i) =>
          `${i === 0 && head !== '' ? bold(head.padEnd(15)) : ' '.repeat(15)}${i === 0 && head === '' ? '- ' : '  '}${part}`,
      ),
    );
  }
  for (const warning of warnings)
    text.push('', ...wrap(warning).map((part, i) => `${i === 0 ? warn('Warning'.padEnd(17)) : ' '.repeat(17)}${part}`));
  text.push(
    '',
    policy.unconfirmed.length === 0 ? good('The policy is ready.') : warn('Not ready: confirm what was read from the data.'),
  );
  return text.join('\n');
}

function wrap(text: string, width = 100): string[] {
  const lines: string[] = [];
  let line = '';
  // A number and its unit stay on one line.
  for (const word of visible(text).split(/ (?!%)/)) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
