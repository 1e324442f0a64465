import type { Command } from 'commander';
import type { AnswerTable } from '../query/bound.js';
import type { Release } from '../release/receipt.js';
import { type AskWords, readAsk, withAskOptions } from './ask.js';
import { bold, dim, emit, figure, good, table } from './output.js';
import { withSession } from './session.js';
import { writeRelease } from './write-release.js';

export function register(program: Command): void {
  withAskOptions(program.command('release').description('the noisy answer; spends budget'))
    .option('--out <dir>', 'write CSV tables, receipt.json and report.html there')
    .action(async (file: string, words: AskWords & { out?: string }) => {
      const release = await withSession(file, async (session, { policy }) => {
        const { query, options } = readAsk(words, session);
        const released = await session.release(query, options);
        if (words.out !== undefined) await writeRelease(words.out, released, policy);
        return released;
      });
      emit(words.json, release, () => releaseText(release, words.out));
    });
}

export function releaseText(release: Release, out?: string): string {
  const { receipt } = release;
  const shown = release.tables.slice(0, 12);
  return [
    ...shown.map((t) => `${bold(t.name)}\n${tableText(t)}\n`),
    ...(release.tables.length > shown.length
      ? [dim(`… and ${release.tables.length - shown.length} more tables${out ? '' : ' (use --out DIR or --json)'}\n`)]
      : []),
    `${good(receipt.guarantee.certified ? 'certified' : 'as published')}: ${receipt.guarantee.sentences[0]}`,
    ...receipt.guarantee.sentences.slice(1).map((s) => `  ${s}`),
    ...receipt.guarantee.assumptions.map((s) => `  ${dim('Assumption:')} ${s}`),
    dim(
      receipt.ledger.replayed
        ? `Recorded answer of ledger entry ${receipt.ledger.entry}; nothing was spent.`
        : `Ledger entry ${receipt.ledger.entry}: epsilon ${figure(receipt.epsilon)} spent.`,
    ),
    ...(out
      ? [
          `Written: ${out}/report.html, ${out}/receipt.json and ${release.tables.length} CSV file${release.tables.length === 1 ? '' : 's'}`,
        ]
      : []),
  ].join('\n');
}

export function tableText(answer: AnswerTable): string {
  const keys = answer.columns.slice(0, -1);
  const rank = answer.error === 'rank';
  return table(
    [...keys, answer.columns.at(-1)!, rank ? 'rank error' : '95 % interval'],
    answer.rows.map((r) => [
      ...r.keys,
      r.value === null ? '-' : figure(r.value),
      rank
        ? `± ${figure(r.rankError ?? 0)} rows`
        : r.low === null || r.high === null
          ? '-'
          : `${figure(r.low)} … ${figure(r.high)}`,
    ]),
  );
}
