import type { Command } from 'commander';
import type { SynthRequest } from '../../analysis/synth/form.js';
import type { SynthResult } from '../../analysis/synth/release.js';
import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import { readYaml } from '../api/named-text.js';
import { splitNames } from '../api/names.js';
import { dim, numberText } from '../report/terminal-text.js';
import { acceptOption, newBudgetOption, spendingDecision, yesOption } from './confirm-spending.js';
import { emit, paidText, printNote, progressBar, recordedText } from './output.js';
import { outcomes } from './process-ending.js';
import { withSession } from './session.js';

interface SynthWords {
  readonly out: string;
  readonly rows?: string;
  readonly mode?: string;
  readonly columns?: string;
  readonly except?: string;
  readonly upTo?: string;
  readonly cells?: string;
  readonly households?: string;
  readonly shared?: string;
  readonly request?: string;
  readonly epsilon?: string;
  readonly fresh?: boolean;
  readonly overwrite?: boolean;
  readonly yes?: boolean;
  readonly acceptNoProtection?: boolean;
  readonly newBudget?: string;
  readonly json?: boolean;
}

export function registerSynthCommand(program: Command): void {
  program
    .command('synth')
    .description('synthetic rows that look like the data, made of noisy tables; spends budget')
    .argument('<policy>', 'policy file')
    .requiredOption('--out <file>', 'where to write them: .csv or .parquet; receipt, dictionary and quality page stand beside it')
    .option('--rows <n>', 'how many; as many as there are records when absent, and more cost nothing')
    .option('--mode <name>', 'how tables are chosen: aim (in rounds), mst or privbayes (trees of pairs)')
    .option('--columns <names>', 'these columns only; names and patterns (q*), separated by commas')
    .option('--except <names>', 'not these, in the same form')
    .option('--up-to <n>', 'with aim: how many columns the tables have that should come out right (1 to 3)')
    .option(
      '--cells <n>',
      'most cells of the model (200000); more cells take more time and memory, and follow the data more closely',
    )
    .option('--households <column>', 'group rows into made-up households, by the column of a declared tie')
    .option('--shared <names>', 'with --households: columns in which all of a household are the same, separated by commas')
    .option('--request <file>', 'a YAML file with the same and more: tables: that count more, impossible: combinations')
    .option('--epsilon <part>', "part of the policy's epsilon to use (default: a tenth)")
    .option('--fresh', 'ask the data as it is now and pay, also when the same was paid for before')
    .option('--overwrite', 'replace files that are there')
    .option(...yesOption)
    .option(...acceptOption)
    .option(...newBudgetOption)
    .option('--json', 'one JSON document on stdout')
    .action(synth);
}

async function synth(file: string, words: SynthWords): Promise<void> {
  outcomes.arise();
  // All code that formats the answer is loaded before payment.
  const { refuseExisting, writeSynth } = await import('./write-synth.js');
  refuseExisting(words.out, words.overwrite);
  const request = await requestFrom(words);
  const { decide, ...spending } = spendingDecision(words);
  const showAndDecide = async (plan: Plan) => {
    for (const line of sizeText(plan)) printNote(line);
    await decide?.(plan);
  };
  const { answer, files } = await withSession(file, { decide: showAndDecide, ...spending }, async (fugu, policy) => {
    const { epsilon, fresh } = words;
    const answer = await fugu.release({ synth: request, progress: progressBar('choosing and measuring') }, { epsilon, fresh });
    return { answer, files: await writeSynth(words.out, answer, policy) };
  });
  const { result, receipt } = answer;
  const { mode, rows, total, measured, quality, households } = result;
  emit(words.json, { written: files, mode, rows, total, measured, quality, ...(households && { households }), receipt }, () =>
    [
      `Wrote ${files[0]}: ${rows.toLocaleString('en-US')} rows of ${result.columns.length} columns, made of ${measured.length} noisy tables (${mode}).${homesText(result)}`,
      `Beside it: ${files.slice(1).join(', ')}.`,
      ...receipt.guarantee.sentences,
      ...receipt.guarantee.assumptions.map((s) => `${dim('Assumption:')} ${s}`),
      receipt.ledger.replayed
        ? recordedText(receipt.at, receipt.ledger.entry)
        : paidText(receipt.ledger.entry, receipt.epsilon, receipt.ledger.resumed),
      'Good for what its tables say (see the page); not for rare cells, single rows, or tables of columns that were never measured together.',
    ].join('\n'),
  );
}

const homesText = ({ households }: SynthResult): string =>
  households
    ? ` They are ${households.count.toLocaleString('en-US')} households (${households.by}), put together by ${households.measured.length} noisy tables of two members.`
    : '';

/** Size of the task and its cost, before it starts. */
function sizeText(plan: Plan): string[] {
  const { synth } = plan as Plan & {
    readonly synth?: { readonly columns: number; readonly tables: number; readonly cells: number; readonly memory: number };
  };
  if (!synth) return [];
  return [
    `${plan.label}: epsilon ${numberText(plan.epsilon)} of ${numberText(plan.budget.total)}. ${synth.columns} columns, ${synth.tables} tables to choose from, a model of up to ${synth.cells.toLocaleString('en-US')} cells; about ${Math.ceil(synth.memory / 1e6)} MB of memory beside the program itself.`,
  ];
}

async function requestFrom(words: SynthWords): Promise<SynthRequest> {
  const read = words.request === undefined ? {} : ((await readYaml(words.request, requestKind)) as SynthRequest);
  const { rows, mode, columns, except, upTo, cells, households, shared } = words;
  if (shared !== undefined && households === undefined)
    throw new Fault('USAGE', '--shared says what households share.', 'Write --households COLUMN as well.');
  return {
    ...read,
    ...(mode !== undefined && { mode: mode as NonNullable<SynthRequest['mode']> }),
    ...(rows !== undefined && { rows: whole(rows, '--rows') }),
    ...(upTo !== undefined && { upTo: whole(upTo, '--up-to') }),
    ...(cells !== undefined && { cells: whole(cells, '--cells') }),
    ...(households !== undefined && {
      households: { by: households, ...(shared !== undefined && { shared: [...splitNames(shared)] }) },
    }),
    ...(columns !== undefined && { columns: [...splitNames(columns)] }),
    ...(except !== undefined && { except: [...splitNames(except)] }),
  };
}

const requestKind = {
  name: 'The request',
  starts: 'It has lines such as "impossible:", "  - { age: { to: 15 }, married: yes }".',
};

function whole(text: string, option: string): number {
  const n = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (n < 1) throw new Fault('USAGE', `${option} must be a whole number of at least 1.`, `Write for example ${option} 1000.`);
  return n;
}
