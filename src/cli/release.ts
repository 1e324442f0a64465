import type { Command } from 'commander';
import type { Policy } from '../policy/policy.js';
import type { AnswerTable } from '../query/bound.js';
import type { Receipt, Release } from '../release/receipt.js';
import { keyLabels, missing } from '../report/key-labels.js';
import { rankText } from '../report/rank-text.js';
import { isResult, showResult } from './answer-tables.js';
import { type AskWords, optionsFrom, questionFrom, withAskOptions } from './ask.js';
import { bold, dim, emit, figure, good, paidText, recordedText, table, warn } from './output.js';
import { outcomes } from './paid.js';
import { recordsText } from './plan.js';
import { withSession } from './session.js';
import { spendingBy, yesOption } from './spend-or-not.js';
import { wholeErrorText } from './survey-text.js';
import { refuseSecondRelease, writeAnalysis, writeRelease } from './write-release.js';

export function register(program: Command): void {
  withAskOptions(program.command('release').description('the noisy answer; spends budget'))
    .option('--out <dir>', 'write report.html, tables as CSV and Excel, datapackage.json and receipt.json there')
    .option('--overwrite', 'replace the release in the folder of --out')
    .option(...yesOption)
    .action(async (file: string, words: AskWords & { out?: string; overwrite?: boolean; yes?: boolean }) => {
      outcomes.arise();
      refuseSecondRelease(words.out, words.overwrite);
      const done = await withSession(file, spendingBy(words), async (fugu, policy) => {
        const answer = await fugu.release(questionFrom(words), optionsFrom(words));
        if (isResult(answer)) {
          const { text, tables } = showResult(answer);
          if (words.out !== undefined) writeAnalysis(words.out, answer, tables, policy);
          const { result, receipt } = answer;
          return { document: { result, receipt }, text: [text, '', ...promise(receipt), ...written(words.out)].join('\n') };
        }
        if (words.out !== undefined) await writeRelease(words.out, answer, policy);
        const text = releaseText(answer, policy, words.out);
        return { document: answer, text: 'together' in answer ? `${text}\n${wholeErrorText(answer.together)}` : text };
      });
      emit(words.json, done.document, () => done.text);
    });
}

export function releaseText(release: Release, policy: Policy, out?: string): string {
  const shown = release.tables.slice(0, 12);
  const more = release.tables.length - shown.length;
  return [
    ...shown.map((t) => `${bold(t.name)}\n${tableText(t, policy)}\n`),
    ...(more > 0 ? [`${dim(`… and ${more} more tables${out ? '' : ' (use --out DIR or --json)'}`)}\n`] : []),
    ...promise(release.receipt),
    ...written(out),
  ].join('\n');
}

const badge = ({ certified, protectsNothing }: Receipt['guarantee']): string =>
  protectsNothing ? warn('protects nothing') : good(certified ? 'certified' : 'as published');

function promise({ guarantee, ledger, epsilon, at, records, warnings = [] }: Receipt): string[] {
  return [
    ...warnings.map((text) => warn(`Warning: ${text}`)),
    `${badge(guarantee)}: ${guarantee.sentences[0]}`,
    ...guarantee.sentences.slice(1).map((s) => `  ${s}`),
    ...guarantee.assumptions.map((s) => `  ${dim('Assumption:')} ${s}`),
    ...(records ? [recordsText(records)] : []),
    dim(ledger.replayed ? recordedText(at, ledger.entry) : paidText(ledger.entry, epsilon, ledger.resumed)),
    ...(ledger.recorded === false ? [warn('The answer could not be recorded: asked again, it is paid for again.')] : []),
  ];
}
const written = (out: string | undefined): string[] => (out ? [`Written to ${out}: report.html, tables and receipt.json.`] : []);

export function tableText(answer: AnswerTable, policy: Policy): string {
  const labels = keyLabels(answer, policy);
  const keys = answer.columns.slice(0, -1);
  const rank = answer.error === 'rank';
  return table(
    [...keys, answer.columns.at(-1)!, rank ? 'rank error' : '95 % interval'],
    answer.rows.map((r) => [
      ...labels(r.keys).map((label, k) => (label === r.keys[k] || r.keys[k] === missing ? r.keys[k]! : `${r.keys[k]} ${label}`)),
      r.value === null ? '-' : figure(r.value),
      rank ? rankText(r, figure) : r.low === null || r.high === null ? '-' : `${figure(r.low)} … ${figure(r.high)}`,
    ]),
  );
}
