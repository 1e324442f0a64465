import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Recovery } from '../../release/ledger/rescue/recover.js';
import type { PartUse } from '../../release/session/parts.js';
import type { EntryCost, LedgerEntry, Spending } from '../api/ledger.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { newBudgetOf, newBudgetOption } from './confirm-spending.js';
import { type ReadByAction, reasonIn, refuseUnreadBy } from './options.js';
import { emit, momentText } from './output.js';
import { withSession } from './session.js';
import { asTyped } from './typed.js';

interface Words {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly made?: boolean;
  readonly reason?: string;
  readonly witness?: string;
  readonly epsilon?: string;
  readonly rho?: string;
  readonly by?: string;
  readonly recordsPerPerson?: string;
  readonly over?: boolean;
  readonly newBudget?: string;
}

const actions: Record<string, (policy: string, words: Words, file: string | undefined) => Promise<void>> = {
  show,
  verify,
  amend,
  enter,
  'same-data': sameData,
  backup,
  restore,
  recover,
};

/** Options that each action reads. */
const read: ReadByAction = {
  show: ['all'],
  verify: ['witness'],
  amend: ['reason', 'witness'],
  enter: ['file', 'reason', 'epsilon', 'rho', 'recordsPerPerson', 'by', 'over', 'newBudget'],
  'same-data': ['reason', 'witness'],
  backup: ['file', 'made', 'witness'],
  restore: ['file', 'reason', 'witness'],
  recover: ['reason', 'witness'],
};

export function registerLedgerCommand(program: Command): void {
  program
    .command('ledger')
    .description(
      'what was spent, what remains; verify the chain, amend the terms, enter what others spent; backup, restore, recover',
    )
    .argument('<policy>', 'policy file')
    .argument(
      '[action]',
      'verify: walk the chain; amend: take over the terms of this policy; enter: record what another publisher spent; same-data: declare that all of it was spent on this data; backup or restore FILE; recover: rebuild a damaged ledger',
      'show',
    )
    .argument('[file]', 'backup file (backup, restore), receipt of another publisher (enter)')
    .option('--all', 'list every entry, not only the last twenty')
    .option('--made', 'with backup: also the ledgers of policies made in the console beside this one; FILE is a folder then')
    .option('--reason <text>', 'why (amend, enter, same-data, recover, restore); written into the chain')
    .option('--epsilon <number>', 'what it cost one record, without a receipt (enter)')
    .option('--rho <number>', 'the same in zCDP (enter)')
    .option('--records-per-person <number>', 'the most records in their data that hold one person here, with a receipt (enter)')
    .option('--by <name>', 'who released it (enter)')
    .option('--over', 'enter it also where it is more than the budget: nothing can be released then')
    .option(...newBudgetOption)
    .option('--witness <command>', 'a program that remembers the head of the chain elsewhere (or FUGU_WITNESS)')
    .option('--json', 'one JSON document on stdout')
    .action(async (policy: string, action: string, file: string | undefined, words: Words, command: Command) => {
      const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (!chosen)
        throw new Fault(
          'USAGE',
          `"${action}" is nothing a ledger can do.`,
          'Use "fugu ledger POLICY", with verify, amend, enter, same-data, backup FILE, restore FILE or recover after it.',
        );
      refuseUnreadBy(command, read, action, ['file', file]);
      await chosen(policy, words, file);
    });
}

function answerText({ settled, textLost }: Pick<LedgerEntry, 'settled' | 'textLost'>): string {
  if (settled) return 'kept';
  return textLost ? 'text lost' : 'none';
}

function costText({ unit, worst, along, classes, apart: separate }: EntryCost): string {
  if (worst === undefined) return separate ? 'once, apart from the budget' : 'nothing';
  if (along !== undefined) return `${unit} ${numberText(along)} along pairs, ${numberText(worst)} otherwise`;
  return classes === 1 ? `${unit} ${numberText(worst)}` : `${unit} up to ${numberText(worst)} on ${classes} classes`;
}

async function show(file: string, { json, all }: Words): Promise<void> {
  const found = await withSession(file, {}, async (fugu) => ({ ...(await fugu.spent()), entries: await fugu.entries() }));
  const { costOf } = await import('../api/ledger.js');
  const { entries, budget } = found;
  const byParts = await partsText(found.parts ?? [], budget.total);
  emit(json, found, () => {
    const listed = all ? entries : entries.slice(-20);
    return [
      `${bold(found.population)}  ${dim(found.ledger)}`,
      `Terms: ${found.terms ?? found.policyTerms}${found.terms === null ? ' (no release yet)' : ''}`,
      ...(found.agrees
        ? []
        : [
            warn(
              asTyped(
                `This policy declares other terms (${found.policyTerms}); ${
                  found.amendable
                    ? 'releases are refused until "fugu ledger POLICY amend --reason TEXT".'
                    : 'releases are refused, and this account cannot take them over: write "population: NAME" into the policy, a budget of its own.'
                }`,
              ),
            ),
          ]),
      ...(found.closed
        ? [
            warn(
              asTyped(
                'Closed: entries that paid from this budget may be lost, so it shows too little. Nothing is released until "fugu ledger POLICY amend --reason TEXT".',
              ),
            ),
          ]
        : []),
      `${spentText(budget)} (epsilon, ties included${budget.delta > 0 ? `, delta ${budget.delta}` : ''}).`,
      ...othersText(found),
      leakageText(found),
      ...byParts,
      ...(found.quotas ?? []).map(
        (q) =>
          `Quota of ${q.analyst}: spent ${numberText(q.spent)} of ${numberText(q.total)}, remaining ${numberText(q.remaining)}.`,
      ),
      '',
      ...(listed.length === 0
        ? [dim('No entries.')]
        : [
            table(
              ['entry', 'when (UTC)', 'analyst', 'cost before ties', 'answer', 'for'],
              listed.map((e) => [
                `${e.sequence}`,
                momentText(e.at),
                e.as === undefined || e.as === e.analyst ? e.analyst : `${e.analyst} (as ${e.as})`,
                costText(costOf(e)),
                answerText(e),
                e.label.slice(0, 60),
              ]),
            ),
          ]),
      ...(listed.length < entries.length ? [dim(`… ${entries.length - listed.length} earlier entries (use --all)`)] : []),
    ].join('\n');
  });
}

const othersText = ({ others, over }: Spending): readonly string[] => [
  ...(others
    ? [
        `Of that by others: ${numberText(others.entered)} entered${others.setAside > 0 ? `, ${numberText(others.setAside)} set aside for those who do not say` : ''}.`,
      ]
    : []),
  ...(over ? [warn('More than the budget was spent: nothing can be released any more.')] : []),
];

const spentText = ({ spent, total, remaining }: Spending['budget']): string =>
  `Spent ${numberText(spent)} of ${numberText(total)}, remaining ${bold(numberText(numberText(spent) === numberText(total) ? 0 : remaining))}`;

/** Privacy loss grows fastest at first, so it may exceed the spent part of the budget. */
const fasterAtFirst = ({ gained: loss, budget }: Spending): string =>
  loss > budget.spent && numberText(loss) !== numberText(budget.spent) && loss <= budget.total
    ? ` The first releases reveal most; within the budget it never exceeds ${numberText(budget.total)}.`
    : '';
export const leakageText = (spending: Spending): string => `${leakageWords(spending)}${fasterAtFirst(spending)}`;
function leakageWords({ gained: loss, gainedBetweenValues: values, pairs, elsewhere }: Spending): string {
  if (elsewhere !== undefined) return `${elsewhere} Privacy loss of one record so far: not bounded.`;
  if (values === undefined)
    return `Privacy loss of one record so far${pairs ? ', between two values that are a declared pair' : ''}: at most ${numberText(loss)} (epsilon).`;
  return `Privacy loss of one record so far: at most ${numberText(loss)} (epsilon) about whether it is there, and at most ${numberText(values)} about its values.`;
}

/** Remaining budget by values of public columns: a line for whole numbers, and a table. */
async function partsText(parts: readonly PartUse[], total: number): Promise<readonly string[]> {
  if (parts.length === 0) return [];
  const { byColumn, lineOver } = await import('../report/parts-text.js');
  return [...byColumn(parts)].flatMap(([column, own]) => {
    const along = own.every(({ from }) => from !== undefined) ? lineOver(own, total) : undefined;
    return [
      '',
      `By ${bold(column)}, for a release about these values only (epsilon, ties included):`,
      ...(along ? [`  ${along.from} [${along.line}] ${along.to}`] : []),
      table(
        [column, 'spent', 'remaining'],
        own.map((p) => [p.part.slice(column.length + 1), numberText(p.spent), numberText(p.remaining)]),
      ),
    ];
  });
}

const witnessed = ({ witness }: Words) => (witness === undefined ? {} : { witness });

async function verify(file: string, words: Words): Promise<void> {
  const { verifyLedger } = await import('../api/ledger.js');
  const result = await verifyLedger(file, witnessed(words));
  if (!result.ok)
    throw new Fault(
      'LEDGER_CORRUPT',
      `The ledger does not verify: ${result.reason}.`,
      'Release nothing; "fugu ledger POLICY recover --reason TEXT" rebuilds it from what is sound, "restore FILE" from a backup.',
      {
        place: { file: result.ledger },
        details: { entries: result.entries, ...(result.brokenAt !== undefined && { brokenAt: result.brokenAt }) },
      },
    );
  emit(
    words.json,
    result,
    () =>
      `${good('The chain verifies')}: ${result.entries} ${result.entries === 1 ? 'entry' : 'entries'}, both copies and every total agree.\n${dim(`head ${result.head}`)}`,
  );
}

async function amend(file: string, words: Words): Promise<void> {
  const reason = reasonOf(words, 'Changing the terms of a budget');
  const { amendTerms } = await import('../api/ledger.js');
  const done = await amendTerms(file, { reason, ...witnessed(words) });
  emit(
    words.json,
    done,
    () =>
      `Terms of ${bold(done.population)} changed.\n  before: ${done.before}\n  now:    ${done.after}\nWhat was spent stays spent. Under the new terms: ${spentText(done.budget)}; one record has lost at most ${numberText(done.privacyLoss)} (epsilon, ties included).`,
  );
}

async function enter(policy: string, words: Words, file: string | undefined): Promise<void> {
  const reason = reasonOf(words, 'Entering what somebody else spent');
  const { enterSpending } = await import('../api/enter.js');
  const { epsilon, rho, by, over, recordsPerPerson } = words;
  const done = await enterSpending(policy, {
    reason,
    ...(file !== undefined && { receipt: await receiptIn(file) }),
    ...(recordsPerPerson !== undefined && { recordsPerPerson: recordsIn(recordsPerPerson) }),
    ...(epsilon !== undefined && { epsilon }),
    ...(rho !== undefined && { rho }),
    ...(by !== undefined && { by }),
    ...(over && { over }),
    ...newBudgetOf(words),
  });
  emit(words.json, done, () =>
    [
      `${good('Entered')}${done.already ? ' before,' : ''} as entry ${done.ledger.entry}: ${done.label}.${done.already ? ' Nothing was changed.' : ''}`,
      `${spentText(done.budget)} (epsilon, ties included).`,
      ...(done.over ? [warn('That is more than the budget: nothing can be released any more.')] : []),
    ].join('\n'),
  );
}

function recordsIn(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Fault(
    'USAGE',
    '--records-per-person must be a whole number from 1 to 999999.',
    'Write the most of their records that hold one person here, for example --records-per-person 3.',
  );
}

async function sameData(file: string, words: Words): Promise<void> {
  const reason = reasonOf(words, 'Declaring what was spent on this data');
  const { declareSameData } = await import('../api/same-data.js');
  const done = await declareSameData(file, { reason, ...witnessed(words) });
  emit(words.json, done, () =>
    done.entries.length === 0
      ? `Nothing to declare: all that ${bold(done.population)} has spent is on record as spent on this data.`
      : `Declared: all that ${bold(done.population)} has spent so far was spent on this data (${plural(done.entries.length, 'entry', 'entries')}).\nIts promise rests on that from now on.`,
  );
}

async function receiptIn(file: string): Promise<unknown> {
  const [{ readText }, { parseJson }] = await Promise.all([import('../api/named-text.js'), import('../../base/input/json.js')]);
  const text = readText(file);
  try {
    return parseJson(text);
  } catch {
    throw new Fault(
      'DATA_MALFORMED',
      'This is no receipt of a release.',
      'Give receipt.json as "fugu release --out DIR" wrote it.',
    );
  }
}

const reasonOf = ({ reason }: Words, what: string): string =>
  reasonIn(reason, '--reason', [`${what} needs a reason.`, 'Add --reason "why"; it is written into the chain for good.']);

const named = (file: string | undefined, action: string): string => {
  if (!file) throw new Fault('USAGE', `To ${action} a ledger, name a file.`, `Use "fugu ledger POLICY ${action} FILE".`);
  return file;
};
const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

async function backup(policy: string, words: Words, file: string | undefined): Promise<void> {
  if (words.made) return backupMade(policy, words, named(file, 'backup'));
  const { backupLedger } = await import('../api/ledger.js');
  const done = await backupLedger(policy, named(file, 'backup'), witnessed(words));
  emit(
    words.json,
    done,
    () =>
      `${good('Backed up')}: ${plural(done.links, 'link')} and ${plural(done.answers, 'recorded answer')} in ${bold(done.file)}.\n${dim(`head ${done.head}`)}`,
  );
}

async function backupMade(policy: string, words: Words, folder: string): Promise<void> {
  const { backupService } = await import('../service/backup.js');
  const ledgers = await backupService(policy, folder, witnessed(words));
  emit(words.json, { ledgers }, () =>
    ledgers
      .map(({ policy: of, ledger, file }) =>
        file === undefined ? `${of}: no releases yet (${ledger}).` : `${good('Backed up')}: ${of} (${ledger}) in ${bold(file)}.`,
      )
      .join('\n'),
  );
}

async function restore(policy: string, words: Words, file: string | undefined): Promise<void> {
  const reason = words.reason?.trim() ? reasonOf(words, 'Restoring a ledger') : undefined;
  const { restoreLedger } = await import('../api/ledger.js');
  const done = await restoreLedger(policy, named(file, 'restore'), { ...witnessed(words), ...(reason && { reason }) });
  emit(words.json, done.kind === 'texts' ? { texts: done.texts } : done.recovery, () =>
    done.kind === 'texts'
      ? `The ledger is sound and knows all that the backup does; ${plural(done.texts, 'recorded answer')} brought back.`
      : recovered(done.recovery),
  );
}

async function recover(policy: string, words: Words): Promise<void> {
  const reason = reasonOf(words, 'Recovering a ledger');
  const { recoverLedger } = await import('../api/ledger.js');
  const done = await recoverLedger(policy, { reason, ...witnessed(words) });
  emit(words.json, done, () => recovered(done));
}

const recovered = (done: Recovery): string =>
  [
    `${good('Rebuilt')} from the ${done.from}: ${plural(done.entries, 'entry', 'entries')}. What was spent stays spent.`,
    ...(done.textsLost > 0
      ? [warn(`The recorded text of ${plural(done.textsLost, 'answer')} is lost: the same requests pay again.`)]
      : []),
    ...(done.incomplete
      ? [
          warn(
            asTyped(
              `The end of the chain was not seen: entries may be lost. Closed until "fugu ledger POLICY amend --reason TEXT": ${done.closed.join(', ') || 'every population'}.`,
            ),
          ),
        ]
      : []),
    ...done.kept.map((path) => dim(`kept ${path}`)),
    dim(`head ${done.head}`),
  ].join('\n');
