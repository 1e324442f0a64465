import type { Command } from 'commander';
import type { CheckedPolicy } from '../ask/check.js';
import { visible } from '../report/visible.js';
import { bold, emit, good, warn } from './output.js';

export function register(program: Command): void {
  program
    .command('check')
    .description('say in plain words what a policy protects, and from whom')
    .argument('<policy>', 'the policy file')
    .option('--json', 'print one JSON document')
    .action(async (file: string, words: { json?: boolean }) => {
      const { checkPolicy } = await import('../ask/check.js');
      const checked = await checkPolicy(file);
      emit(words.json, checked, () => checkText(checked));
    });
}

function checkText({ explanation, warnings, ready }: CheckedPolicy): string {
  const text: string[] = [];
  let topic = '';
  for (const line of explanation) {
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
  text.push('', ready ? good('The policy is ready.') : warn('Not ready: confirm what was read from the data.'));
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
