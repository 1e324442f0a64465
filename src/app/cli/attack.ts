import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { writeFolder, writeWhole } from '../../base/files/write-file.js';
import { basename, dirname, join } from '../../base/platform/paths.js';
import type { PolicyAttack } from '../../evaluate/attack/policy/attack.js';
import type { StreamAttack } from '../../evaluate/attack/stream/attack.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { emit, progressBar } from './output.js';

interface Words {
  readonly release?: string;
  readonly stream?: string;
  readonly column?: string;
  readonly show: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function registerAttackCommand(program: Command): void {
  program
    .command('attack')
    .description(
      'what a Bayesian attacker with and without the ties believes about each record after a release (private: for the steward)',
    )
    .argument('<policy>', 'policy file: its ties are what the attacker knows')
    .option('--release <dir>', 'folder written by "fugu release --out"')
    .option('--stream <file>', 'what "fugu stream --json" wrote: where people were, step by step, along the declared sequence')
    .option('--column <name>', 'which histogram to attack (default: the tied column)')
    .option('--show <n>', 'how many of the most exposed records to show', '6')
    .option('--out <file>', 'where to write the page (default: private/attack-COLUMN.html beside the policy)')
    .option('--json', 'one JSON document on stdout')
    .action(async (file: string, { release, stream, column, show, out, json }: Words) => {
      if ((release === undefined) === (stream === undefined))
        throw new Fault('USAGE', 'Say what to attack: a release or a stream.', 'Give --release DIR, or --stream FILE.');
      if (stream !== undefined) {
        const { attackStream } = await import('../api/attack-stream.js');
        const { streamAttackPage } = await import('../report/attack-page.js');
        const found = await attackStream(file, { stream, show: shownFrom(show) });
        const page = writePage(file, out, `attack-stream-${plainName(found.column)}.html`, streamAttackPage(found));
        emit(json, { ...found, page }, () => streamText(found, page));
        return;
      }
      const options = { release: release!, column, show: shownFrom(show), progress: progressBar('attacking') };
      const { attack } = await import('../api/attack.js');
      const { attackPage } = await import('../report/attack-page.js');
      const found = await attack(file, options);
      const page = writePage(file, out, `attack-${plainName(found.column)}.html`, attackPage(found));
      emit(json, { ...found, page }, () => attackText(found, page));
    });
}

/** Writes the page to `out`, by default next to the policy; readable to its owner only. */
function writePage(policy: string, out: string | undefined, name: string, text: string): string {
  const page = out ?? join(dirname(policy), 'private', name);
  const writing = { mode: 0o600, hint: 'Say where with --out FILE.' };
  if (out !== undefined) writeWhole(page, text, writing);
  else writeFolder(dirname(page), [[basename(page), text]], writing);
  return page;
}

function streamText({ column, attacked, promised, attackers, notes }: StreamAttack, page: string): string {
  const promiseHeld = attackers.every((a) => a.beyond === 0);
  return [
    `${bold(`Attack on "${column}" over time`)}: ${numberText(attacked)} persons; promised: log-odds move by at most ${numberText(promised.epsilon)}`,
    table(
      ['attacker', 'median', 'largest', 'steps beyond the promise', 'guessed right'],
      attackers.map((a) => [a.name, numberText(a.median), numberText(a.most), `${a.beyond}`, `${numberText(100 * a.right)} %`]),
    ),
    promiseHeld
      ? good('The promise was kept against these attackers.')
      : warn('The promise was broken: this sequence was not paid for.'),
    ...notes.map((n) => dim(n)),
    `Written: ${page} ${warn('(private: not for publication)')}`,
  ].join('\n');
}

/** Column name as a part of a file name. */
const plainName = (column: string): string => column.replace(/[^\p{L}\p{N}_-]+/gu, '-').slice(0, 60);

function shownFrom(text: string): number {
  const show = Number(text);
  if (Number.isInteger(show) && show >= 1 && show <= 200) return show;
  throw new Fault('USAGE', 'The number of records to show must be between 1 and 200.', 'For example --show 6.');
}

function attackText(found: PolicyAttack, page: string): string {
  const { promised, attackers, exposed, values } = found;
  const promiseHeld = attackers.every((a) => a.beyond === 0);
  return [
    `${bold(`Attack on "${found.column}"`)}: ${numberText(found.attacked)} records; promised: log-odds move by at most ${numberText(promised.epsilon)}`,
    table(
      ['attacker', 'median', 'largest', 'records beyond the promise'],
      attackers.map((a) => [a.name, numberText(a.median), numberText(a.most), `${a.beyond}`]),
    ),
    promiseHeld
      ? good('The promise was kept against these attackers.')
      : warn('The promise was broken: these ties were not paid for.'),
    '',
    ...exposed.slice(0, 3).map((r) => {
      const worst = r.beliefs.reduce((a, b) => (b.gain > a.gain ? b : a));
      const top = worst.posterior.indexOf(Math.max(...worst.posterior));
      return `${bold(r.name)} (tied to ${r.ties}): "${values[top]}" from ${(100 * worst.prior[top]!).toFixed(1)} % to ${(100 * worst.posterior[top]!).toFixed(1)} %`;
    }),
    ...found.notes.map((n) => dim(n)),
    `Written: ${page} ${warn('(private: not for publication)')}`,
  ].join('\n');
}
