import type { Command } from 'commander';
import type { EstimatedTables } from '../api/estimate.js';
import { dim, good, numberText } from '../report/terminal-text.js';
import { estimateOptions } from './option-tables.js';
import { refuseOverwriteAlone } from './options.js';
import { emit } from './output.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';
import { withSession } from './session.js';

export function registerEstimateCommand(program: Command): void {
  const command = program
    .command('estimate')
    .description('tables from all that was paid for so far; spends nothing')
    .argument('<policy>', 'policy file');
  addOptions(command, estimateOptions).action(estimate);
}

async function estimate(file: string, words: OptionWords): Promise<void> {
  refuseOverwriteAlone(words);
  const { tablesText } = await import('../report/table-text.js');
  const { writeEstimate } = await import('./write-estimate.js');
  const { out, overwrite, json, ...request } = await valuesOf(estimateOptions, words);
  const done = await withSession(file, { acceptNoProtection: true }, async (fugu, policy) => {
    const answer = await fugu.estimate(request);
    if (out !== undefined) writeEstimate(out, answer, policy, overwrite);
    return { answer, text: tablesText(answer.tables, policy, out ? '' : ' (use --out DIR or --json)') };
  });
  emit(json, done.answer, () => [...done.text, ...madeOf(done.answer), ...written(out)].join('\n'));
}

const written = (out: string | undefined): string[] => (out ? [`Written to ${out}: tables as CSV, and estimate.json.`] : []);

/** Origin of estimated tables: the entries used and left out. */
function madeOf({ used, unused, untold, agreement }: EstimatedTables): string[] {
  const entries = used.map(({ entry }) => entry).join(', ');
  return [
    good(`Made of ${used.length === 1 ? 'entry' : 'entries'} ${entries} of the ledger; nothing was read or spent.`),
    ...(agreement.expected > 0
      ? [
          `Where several say the same they agree: ${numberText(agreement.squares)} squared deviations, ${numberText(agreement.expected)} expected.`,
        ]
      : []),
    ...untold.slice(0, 10).map((name) => `Nothing that was paid for says ${name}.`),
    ...(untold.length > 10 ? [`… nor ${untold.length - 10} others.`] : []),
    ...unused.slice(0, 10).map(({ entry, label, why }) => dim(`Entry ${entry} (${label}) is not used: ${why}.`)),
    ...(unused.length > 10 ? [dim(`… and ${unused.length - 10} more are not used.`)] : []),
  ];
}
