import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { gained, termsOf, usedShare } from '../accounting/account.js';
import { Fault } from '../errors.js';
import { toNumber } from '../exact/rational.js';
import type { Entry, Ledger } from '../ledger/ledger.js';
import { openLedger, witnessOf } from '../ledger/open.js';
import type { Recovery } from '../ledger/rescue/recover.js';
import { type Profile, toStored } from '../mechanism/profile.js';
import { isOfRecords } from '../mechanism/record-class.js';
import type { Policy } from '../policy/policy.js';
import { amendTerms } from '../release/amend.js';
import { quotaUses } from '../release/quota.js';
import { readPolicy } from '../terms/read.js';
import { bold, dim, emit, figure, good, moment, table, warn } from './output.js';
import { closing, withSession } from './session.js';

interface Words {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly reason?: string;
  readonly witness?: string;
}

const actions: Record<string, (policy: string, words: Words, file: string | undefined) => Promise<void>> = {
  show,
  verify,
  amend,
  backup,
  restore,
  recover,
};

export function register(program: Command): void {
  program
    .command('ledger')
    .description('what was spent, what remains; verify the chain, amend the terms; backup, restore, recover')
    .argument('<policy>', 'policy file')
    .argument(
      '[action]',
      'verify: walk the chain; amend: take over the terms of this policy; backup or restore FILE; recover: rebuild a damaged ledger',
      'show',
    )
    .argument('[file]', 'backup file (backup, restore)')
    .option('--all', 'list every entry, not only the last twenty')
    .option('--reason <text>', 'why (amend, recover, restore); written into the chain')
    .option('--witness <command>', 'a program that remembers the head of the chain elsewhere (or FUGU_WITNESS)')
    .option('--json', 'one JSON document on stdout')
    .action(async (policy: string, action: string, file: string | undefined, words: Words) => {
      const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (!chosen)
        throw new Fault(
          'USAGE',
          `"${action}" is nothing a ledger can do.`,
          'Use "fugu ledger POLICY", with verify, amend, backup FILE, restore FILE or recover after it.',
        );
      await chosen(policy, words, file);
    });
}

/** Looking must not make a new, empty ledger where one was expected. */
async function placeOf(file: string): Promise<Policy> {
  const policy = await readPolicy(file);
  if (!policy.ledger.includes('://') && !existsSync(policy.ledger) && !existsSync(`${policy.ledger}.chain`))
    throw new Fault(
      'DATA_NOT_FOUND',
      `There is no ledger at ${policy.ledger}.`,
      'The first release makes it. If there was one, it was moved or deleted: restore it before releasing anything.',
    );
  return policy;
}

async function withLedger<T>(file: string, { witness }: Words, work: (ledger: Ledger, policy: Policy) => Promise<T>): Promise<T> {
  const policy = await placeOf(file);
  const ledger = await openLedger(policy.ledger, witness === undefined ? {} : { witness });
  return closing(ledger, () => work(ledger, policy));
}

const costs = (profile: Profile): string => {
  const listed = [...profile.perRecord].filter(([name]) => isOfRecords(name)).map(([, cost]) => toNumber(cost));
  if (listed.length === 0) return profile.perRecord.size > 0 ? 'once, apart from the budget' : 'nothing';
  const unit = profile.noise === 'pure' ? 'epsilon' : 'rho';
  const worst = figure(Math.max(...listed));
  return listed.length === 1 ? `${unit} ${worst}` : `${unit} up to ${worst} on ${listed.length} classes`;
};
const shownEntry = (e: Entry) => ({
  sequence: e.sequence,
  at: new Date(e.at).toISOString(),
  analyst: e.analyst,
  ...(e.as !== undefined && { as: e.as }),
  label: e.label,
  profile: toStored(e.profile),
  relied: e.relied,
  settled: e.settled,
  hash: e.hash,
});

async function show(file: string, { json, all }: Words): Promise<void> {
  const found = await withSession(file, async (session, { policy, ledger }) => {
    const known = await ledger.account(policy.population);
    const spent = await session.spent();
    const entries = await ledger.entries(policy.population);
    const total = toNumber(session.account.epsilon);
    const used = Math.min(1, toNumber(usedShare(session.account, spent))) * total;
    return {
      population: policy.population,
      ledger: policy.ledger,
      terms: known?.terms.summary ?? null,
      ...(known?.closed && { closed: true }),
      agrees: known === undefined || known.terms.digest === policy.digest,
      policyTerms: termsOf(policy).summary,
      budget: { total, spent: used, remaining: total - used, delta: toNumber(session.account.delta) },
      gained: gained(session.account, spent),
      ...(policy.budget.analysts && { quotas: quotaUses(policy, session.account, entries) }),
      entries,
    };
  });
  const { entries, budget } = found;
  emit(json, { ...found, entries: entries.map(shownEntry) }, () => {
    const listed = all ? entries : entries.slice(-20);
    return [
      `${bold(found.population)}  ${dim(found.ledger)}`,
      `Terms: ${found.terms ?? `${found.policyTerms} (no release yet)`}`,
      ...(found.agrees
        ? []
        : [
            warn(
              `This policy declares other terms (${found.policyTerms}); releases are refused until "fugu ledger POLICY amend --reason TEXT".`,
            ),
          ]),
      ...(found.closed
        ? [
            warn(
              'Closed: entries that paid from this budget may be lost, so it shows too little. Nothing is released until "fugu ledger POLICY amend --reason TEXT".',
            ),
          ]
        : []),
      `Spent ${figure(budget.spent)} of ${figure(budget.total)}, remaining ${bold(figure(budget.remaining))} (epsilon, ties included${budget.delta > 0 ? `, delta ${budget.delta}` : ''}).`,
      `An attacker may have gained at most ${figure(found.gained)} about one record so far.`,
      ...(found.quotas ?? []).map(
        (q) => `Quota of ${q.analyst}: spent ${figure(q.spent)} of ${figure(q.total)}, remaining ${figure(q.remaining)}.`,
      ),
      '',
      ...(listed.length === 0
        ? [dim('No entries.')]
        : [
            table(
              ['entry', 'when (UTC)', 'analyst', 'base cost', 'answer', 'for'],
              listed.map((e) => [
                `${e.sequence}`,
                moment(e.at),
                e.as === undefined || e.as === e.analyst ? e.analyst : `${e.analyst} (as ${e.as})`,
                costs(e.profile),
                e.settled ? 'kept' : e.textLost ? 'text lost' : 'none',
                e.label.slice(0, 60),
              ]),
            ),
          ]),
      ...(listed.length < entries.length ? [dim(`… ${entries.length - listed.length} earlier entries (use --all)`)] : []),
    ].join('\n');
  });
}

async function verify(file: string, words: Words): Promise<void> {
  const { result, place } = await withLedger(file, words, async (ledger, policy) => ({
    result: await ledger.verify(),
    place: policy.ledger,
  }));
  if (!result.ok)
    throw new Fault(
      'LEDGER_CORRUPT',
      `The ledger does not verify: ${result.reason}.`,
      'Release nothing; "fugu ledger POLICY recover --reason TEXT" rebuilds it from what is sound, "restore FILE" from a backup.',
      {
        place: { file: place },
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
  const { json, reason } = words;
  if (!reason?.trim())
    throw new Fault(
      'USAGE',
      'Changing the terms of a budget needs a reason.',
      'Add --reason "why"; it is written into the chain for good.',
    );
  const done = await withLedger(file, words, async (ledger, policy) => {
    const { before, after } = await amendTerms(ledger, policy, reason.trim());
    return { population: policy.population, before, after, reason: reason.trim() };
  });
  emit(
    json,
    done,
    () =>
      `Terms of ${bold(done.population)} changed.\n  before: ${done.before}\n  now:    ${done.after}\nWhat was spent stays spent.`,
  );
}

const named = (file: string | undefined, action: string): string => {
  if (!file) throw new Fault('USAGE', `To ${action} a ledger, name a file.`, `Use "fugu ledger POLICY ${action} FILE".`);
  return file;
};
const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

async function backup(policy: string, words: Words, file: string | undefined): Promise<void> {
  const target = named(file, 'backup');
  const { ledger } = await placeOf(policy);
  const { backupLedger } = await import('../ledger/rescue/backup.js');
  const done = await backupLedger(ledger, target, witnessOf(words.witness));
  emit(
    words.json,
    done,
    () =>
      `${good('Backed up')}: ${plural(done.links, 'link')} and ${plural(done.answers, 'recorded answer')} in ${bold(done.file)}.\n${dim(`head ${done.head}`)}`,
  );
}

async function restore(policy: string, words: Words, file: string | undefined): Promise<void> {
  const source = named(file, 'restore');
  const { ledger } = await readPolicy(policy);
  const { restoreLedger } = await import('../ledger/rescue/backup.js');
  const done = await restoreLedger(ledger, source, words.reason?.trim(), witnessOf(words.witness));
  emit(words.json, done.kind === 'texts' ? { texts: done.texts } : done.recovery, () =>
    done.kind === 'texts'
      ? `The ledger is sound and knows all that the backup does; ${plural(done.texts, 'recorded answer')} brought back.`
      : recovered(done.recovery),
  );
}

async function recover(policy: string, { json, reason, witness }: Words): Promise<void> {
  if (!reason?.trim())
    throw new Fault('USAGE', 'Recovering a ledger needs a reason.', 'Add --reason "why"; it is written into the chain for good.');
  const { ledger } = await placeOf(policy);
  const { recoverLedger } = await import('../ledger/rescue/recover.js');
  const done = recoverLedger(ledger, reason.trim(), witnessOf(witness));
  emit(json, done, () => recovered(done));
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
            `The end of the chain was not seen: entries may be lost. Closed until "fugu ledger POLICY amend --reason TEXT": ${done.closed.join(', ') || 'every population'}.`,
          ),
        ]
      : []),
    ...done.kept.map((path) => dim(`kept ${path}`)),
    dim(`head ${done.head}`),
  ].join('\n');
