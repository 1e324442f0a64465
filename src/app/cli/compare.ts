import type { Command } from 'commander';
import type { ComparedMechanism, MechanismComparison } from '../../evaluate/papers/compare/judge.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { modelArgument } from './model-argument.js';
import { compareCommandOptions } from './option-tables.js';
import { emit } from './output.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';

export function registerCompareCommand(program: Command): void {
  const command = program
    .command('compare')
    .description('every mechanism side by side on a small model: noise, promise, and what is truly lost')
    .argument('<model>', modelArgument);
  addOptions(command, compareCommandOptions).action(async (file: string, words: OptionWords) => {
    const { query, epsilon, json } = await valuesOf(compareCommandOptions, words);
    const { compareMechanisms } = await import('../api/audit.js');
    const found = await compareMechanisms(file, { query, epsilon });
    emit(json, found, () => comparisonText(found));
  });
}

const verdict = (m: ComparedMechanism) => {
  if (Number.isNaN(m.ratio)) return m.certified ? good('proven') : 'not known';
  if (m.ratio > 1 && !m.holds) return warn(`broken: ${m.ratioAtLeast ? 'at least ' : ''}${numberText(m.ratio)} x epsilon`);
  if (m.ratioAtLeast) return m.certified ? good('proven') : 'not known';
  return m.certified ? good('kept') : 'kept here';
};

const lossText = ({ lossAtLeast }: ComparedMechanism, loss: number | null): string =>
  loss === null || Number.isNaN(loss) ? '-' : `${lossAtLeast ? 'at least ' : ''}${numberText(loss)}`;

function comparisonText(found: MechanismComparison): string {
  const rows = found.mechanisms.map((m) => [
    m.name,
    numberText(m.scale),
    m.certified ? `certified, ${m.against}` : 'as published',
    lossText(m, m.lossUninformed),
    lossText(m, m.lossInformed),
    verdict(m),
    m.composes ? 'yes' : 'no',
  ]);
  const lines = [
    bold(`${found.query} at epsilon ${numberText(found.epsilon)}, Laplace noise`),
    table(['mechanism', 'scale', 'promise', 'loss, uninformed', 'loss, informed', 'promise is', 'composes'], rows),
    ...found.left.map((l) => dim(l)),
    '',
    dim('A mechanism "as published" is held to the uninformed adversary; a certified one to the adversary it names.'),
    ...found.assumptions.map((a) => `${dim('Assumption:')} ${a}`),
  ];
  return lines.join('\n');
}
