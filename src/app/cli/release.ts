import type { Command } from 'commander';
import type { Receipt } from '../../release/session/receipt.js';
import { dim, good, warn } from '../report/terminal-text.js';
import { spendingDecision } from './confirm-spending.js';
import { releaseOptions } from './option-tables.js';
import { refuseOverwriteAlone } from './options.js';
import { emit, paidText, recordedText } from './output.js';
import { recordsText } from './plan.js';
import { outcomes } from './process-ending.js';
import { optionsFrom, readQuestion } from './question-options.js';
import { addOptions, type OptionWords } from './request-options.js';
import { withSession } from './session.js';
import { wholeErrorText } from './survey-text.js';
import { asTyped } from './typed.js';

export function registerReleaseCommand(program: Command): void {
  addOptions(
    program.command('release').description('the noisy answer; spends budget').argument('<policy>', 'policy file'),
    releaseOptions,
  ).action(async (file: string, words: OptionWords) => {
    refuseOverwriteAlone(words);
    outcomes.arise();
    const { question, values } = await readQuestion(releaseOptions, words);
    const { out, overwrite, json } = values;
    // All code that formats the answer is loaded before payment.
    const { showResult } = await import('../report/answer-tables.js');
    const { tablesText } = await import('../report/table-text.js');
    const page = out === undefined ? undefined : await import('./write-release.js');
    page?.refuseSecondRelease(out, overwrite);
    const done = await withSession(file, spendingDecision(values), async (fugu, policy) => {
      const answer = await fugu.release(question, optionsFrom(values));
      if ('result' in answer) {
        const { text, tables } = showResult(answer);
        page?.writeAnalysis(out!, answer, tables, policy);
        const { result, receipt } = answer;
        return { document: { result, receipt }, text: [text, '', ...promise(receipt), ...written(out)].join('\n') };
      }
      await page?.writeRelease(out!, answer, policy);
      const text = releaseText(tablesText(answer.tables, policy, out ? '' : ' (use --out DIR or --json)'), answer.receipt, out);
      return { document: answer, text: 'together' in answer ? `${text}\n${wholeErrorText(answer.together)}` : text };
    });
    emit(json, done.document, () => done.text);
  });
}

const releaseText = (tables: readonly string[], receipt: Receipt, out?: string): string =>
  [...tables, ...promise(receipt), ...written(out)].join('\n');

const badge = ({ certified, protectsNothing }: Receipt['guarantee']): string =>
  protectsNothing ? warn('protects nothing') : good(certified ? 'certified' : 'as published');

function promise({ guarantee, ledger, epsilon, at, records, warnings = [] }: Receipt): string[] {
  return [
    ...warnings.map((text) => warn(asTyped(`Warning: ${text}`))),
    `${badge(guarantee)}: ${guarantee.sentences[0]}`,
    ...guarantee.sentences.slice(1).map((s) => `  ${s}`),
    ...guarantee.assumptions.map((s) => `  ${dim('Assumption:')} ${s}`),
    ...(records ? [recordsText(records)] : []),
    dim(ledger.replayed ? recordedText(at, ledger.entry) : paidText(ledger.entry, epsilon, ledger.resumed)),
    ...(ledger.recorded === false ? [warn('The answer could not be recorded: the same question would be paid for again.')] : []),
  ];
}
const written = (out: string | undefined): string[] => (out ? [`Written to ${out}: report.html, tables and receipt.json.`] : []);
