import type { Command } from 'commander';
import type { CheckedPolicy } from '../api/check.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { visible } from '../report/visible.js';
import { emit, waitingClock } from './output.js';
import { asTyped } from './typed.js';

export function registerCheckCommand(program: Command): void {
  program
    .command('check')
    .description('say in plain words what a policy protects, and from whom')
    .argument('<policy>', 'the policy file')
    .option('--private', 'for your eyes only: undeclared codes, declared codes never seen, group sizes, rows pulled to bounds')
    .option('--json', 'print one JSON document')
    .action(async (file: string, words: { json?: boolean; private?: boolean }) => {
      const { checkPolicy } = await import('../api/check.js');
      const stop = words.private ? waitingClock('counting') : () => undefined;
      const checked = await checkPolicy(file, words.private ? { private: true } : {}).finally(stop);
      emit(words.json, checked, () =>
        [checkText(checked), ...(checked.private ? [privateText(checked.private)] : [])].join('\n\n'),
      );
    });
}

function checkText(checked: CheckedPolicy): string {
  const { explanation, warnings, ready } = checked;
  const text: string[] = [];
  let topic = '';
  for (const line of explanation) {
    const head = line.topic === topic ? '' : `${line.topic.charAt(0).toUpperCase()}${line.topic.slice(1)}`;
    topic = line.topic;
    text.push(
      ...wrap(line.topic === 'to do' ? asTyped(line.text) : line.text).map(
        (part, i) =>
          `${i === 0 && head !== '' ? bold(head.padEnd(15)) : ' '.repeat(15)}${i === 0 && head === '' ? '- ' : '  '}${part}`,
      ),
    );
  }
  for (const warning of warnings)
    text.push('', ...wrap(warning).map((part, i) => `${i === 0 ? warn('Warning'.padEnd(17)) : ' '.repeat(17)}${part}`));
  text.push('', ready ? good('The policy is ready.') : warn(notReady(checked)));
  return text.join('\n');
}

const notReady = ({ unconfirmed, undecided, protectsNothing }: CheckedPolicy): string =>
  `Not ready: ${[
    ...(unconfirmed.length > 0 ? ['confirm what was read from the data'] : []),
    ...(undecided ? ['say whether records know each other (dependence:)'] : []),
    ...(protectsNothing === undefined ? [] : ['choose a smaller budget: this one protects nothing']),
  ].join(', and ')}.`;

type Private = NonNullable<CheckedPolicy['private']>;

/** Exact figures; no other command prints them, and no file stores them. */
const privateText = ({ tables = [], ...data }: Private): string =>
  [
    warn(
      'PRIVATE: exact figures about the rows. For your eyes only: do not publish, send or keep them. Nothing of this is written anywhere.',
    ),
    figuresText(data),
    ...tables.map(({ table: name, ...figures }) => `\n${bold(`Table ${name}`)}\n${figuresText(figures)}`),
  ].join('\n');

function figuresText({ rows, columns, groups, unit, known = [] }: Omit<Private, 'tables'>): string {
  const people = (n: number) => `${numberText(n)} row${n === 1 ? '' : 's'}`;
  const hidden = columns.filter((c) => c.hidden > 0);
  const pulled = columns.filter((c) => (c.below ?? 0) + (c.above ?? 0) > 0);
  const unseen = columns.filter((c) => c.unseen.length > 0);
  const keys = [...groups, ...(unit ? [unit] : [])];
  return [
    dim(`${people(rows)} in all.`),
    '',
    hidden.length === 0
      ? 'No row holds a code that is not declared.'
      : `${bold('Codes that are not declared')} (these rows count as missing)\n${table(
          ['column', 'rows', 'codes'],
          hidden.map((c) => [c.column, numberText(c.hidden), codeWords(c)]),
        )}`,
    ...(unseen.length === 0
      ? []
      : [
          '',
          bold('Declared codes that no row holds'),
          table(
            ['column', 'codes'],
            unseen.map((c) => [c.column, shorten(c.unseen.join(', '))]),
          ),
        ]),
    ...(pulled.length === 0
      ? []
      : [
          '',
          bold('Rows pulled to the bounds'),
          table(
            ['column', 'to the lower', 'to the upper', 'of all'],
            pulled.map((c) => [
              c.column,
              numberText(c.below!),
              numberText(c.above!),
              `${numberText((100 * (c.below! + c.above!)) / Math.max(1, rows))} %`,
            ]),
          ),
        ]),
    ...(known.length === 0
      ? []
      : ['', bold('Known totals'), ...known.map(({ total, different }) => `${total}: ${agreement(different)}`)]),
    ...keys.flatMap((k) => [
      '',
      bold(`Rows that share one ${k.column}`),
      `${numberText(k.groups)} values, the largest in ${people(k.largest)}${k.nameless > 0 ? `; ${people(k.nameless)} without one` : ''}${
        k.beyond ? `; ${people(k.beyond)} left out by maxRows, of ${numberText(k.cut!)} person${k.cut === 1 ? '' : 's'}` : ''
      }`,
      table(['rows', 'values'], sizeRows(k.sizes)),
    ]),
  ].join('\n');
}

function agreement(different: number | undefined): string {
  if (different === undefined) return 'taken from the data; no numbers are declared.';
  if (different === 0) return 'the data holds what was published.';
  return warn(
    `${numberText(different)} number${different === 1 ? ' is' : 's are'} not as published; answers show the published ones, and figures made to agree with them are off.`,
  );
}

type Hidden = Private['columns'][number];
const codeWords = ({ undeclared, undeclaredCodes }: Hidden): string =>
  shorten(
    `${undeclared.map(({ code, rows, declaredAs }) => `${code} (${rows}${declaredAs === undefined ? '' : `; declared: ${declaredAs}`})`).join(', ')}${undeclaredCodes > undeclared.length ? `, … ${undeclaredCodes} in all` : ''}`,
  );
const shorten = (text: string, width = 90) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

/** Up to ten sizes one by one, the rest together. */
function sizeRows(sizes: readonly { readonly size: number; readonly groups: number }[]): string[][] {
  const few = sizes.slice(0, 10);
  const more = sizes.slice(10);
  return [
    ...few.map(({ size, groups }) => [`${size}`, `${groups}`]),
    ...(more.length > 0
      ? [[`${more[0]!.size} to ${more.at(-1)!.size}`, `${more.reduce((sum, { groups }) => sum + groups, 0)}`]]
      : []),
  ];
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
