import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { EstimatedTables, EstimateRequest } from '../api/estimate.js';
import { readYaml } from '../api/named-text.js';
import { splitNames } from '../api/names.js';
import { dim, good, numberText } from '../report/terminal-text.js';
import { refuseOverwriteAlone } from './options.js';
import { emit } from './output.js';
import { workloadKind } from './question-options.js';
import { withSession } from './session.js';

interface EstimateWords {
  readonly workload?: string;
  readonly tidy?: boolean;
  readonly since?: string;
  readonly entries?: string;
  readonly out?: string;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

export function registerEstimateCommand(program: Command): void {
  program
    .command('estimate')
    .description('tables from all that was paid for so far; spends nothing')
    .argument('<policy>', 'policy file')
    .option('--workload <file>', 'the tables wanted, as for release; every table on record when absent')
    .option('--tidy', 'no negative counts: the tables of one distribution')
    .option('--since <day>', 'only what was paid for since then, such as 2026-11-17: the data has changed before')
    .option('--entries <list>', 'only these entries of the ledger, such as 3,5,8')
    .option('--out <dir>', 'write the tables as CSV there, and estimate.json, which says what they are made of')
    .option('--overwrite', 'replace the files of --out')
    .option('--json', 'one JSON document on stdout')
    .action(estimate);
}

async function estimate(file: string, words: EstimateWords): Promise<void> {
  refuseOverwriteAlone(words);
  const { tablesText } = await import('../report/table-text.js');
  const { writeEstimate } = await import('./write-estimate.js');
  const request = await requestFrom(words);
  const done = await withSession(file, { acceptNoProtection: true }, async (fugu, policy) => {
    const answer = await fugu.estimate(request);
    if (words.out !== undefined) writeEstimate(words.out, answer, policy, words.overwrite);
    return { answer, text: tablesText(answer.tables, policy, words.out ? '' : ' (use --out DIR or --json)') };
  });
  emit(words.json, done.answer, () => [...done.text, ...madeOf(done.answer), ...written(words.out)].join('\n'));
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

async function requestFrom({ workload, tidy, since, entries }: EstimateWords): Promise<EstimateRequest> {
  return {
    ...(workload !== undefined && { workload: (await readYaml(workload, workloadKind)) as EstimateRequest['workload'] }),
    ...(tidy && { tidy }),
    ...(since !== undefined && { since }),
    ...(entries !== undefined && { entries: splitNames(entries).map(entryNumber) }),
  };
}

function entryNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Fault(
    'USAGE',
    '--entries takes numbers of the ledger.',
    'Write for example --entries 3,5,8 ("fugu ledger POLICY" lists them).',
  );
}
