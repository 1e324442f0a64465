import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { existsSync, readdirSync } from '../../base/platform/files.js';
import { basename, dirname, join, resolve } from '../../base/platform/paths.js';
import { readText } from '../api/named-text.js';
import { bold, dim, table } from '../report/terminal-text.js';
import { type ReadByAction, refuseUnreadBy } from './options.js';
import { emit, momentText } from './output.js';

interface Words {
  readonly role?: string;
  readonly for?: string;
  readonly days: string;
  readonly only?: readonly string[];
  readonly tokens?: string;
  readonly url: string;
  readonly json?: boolean;
}

/** Options that each action reads. */
const read: ReadByAction = {
  make: ['role', 'for', 'days', 'only', 'tokens'],
  list: ['tokens'],
  end: ['id', 'tokens'],
  link: ['id', 'url', 'tokens'],
};

export function registerTokenCommand(program: Command): void {
  program
    .command('token')
    .description('who may ask the service: make, list, end; link: sign somebody in to the console once')
    .argument(
      '<action>',
      'make: a new token; list: all there are; end: one, for good and at once; link: an address that signs in once',
    )
    .argument('<policy>', 'the first policy that is served')
    .argument('[id]', 'of the token (end, link)')
    .option('--role <role>', 'steward, analyst or auditor (make)')
    .option('--for <name>', 'who it is for: pays, is listed, has a quota (make)')
    .option('--days <n>', 'how long it opens anything (make)', '90')
    .option('--only <policy...>', 'opens these policies and no others, by name, or by path where it lies elsewhere (make)')
    .option('--tokens <folder>', 'where tokens are kept (default: fugu-tokens beside the policy)')
    .option('--url <address>', 'where the service is reached (link)', 'http://127.0.0.1:7411')
    .option('--json', 'one JSON document on stdout')
    .action(async (action: string, policy: string, id: string | undefined, words: Words, command: Command) => {
      const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
      if (!chosen) throw new Fault('USAGE', `"${action}" is nothing a token can do.`, 'Use make, list, end or link.');
      refuseUnreadBy(command, read, action, ['id', id]);
      const { serviceFolders } = await import('../service/service-folders.js');
      const { TokenStore } = await import('../service/token.js');
      const places = serviceFolders(policy, words);
      const only = action === 'make' && words.only ? policyNames(policy, places.drafts, words.only) : undefined;
      await chosen(new TokenStore(places.tokens), { ...words, ...(only && { only }) }, id, places.tokens);
    });
}

const isPolicyFile = (name: string): boolean => /\.ya?ml$/i.test(name);
const nameOf = (file: string): string => basename(file).replace(/\.ya?ml$/i, '');

/** Policies of a token: by the path of a file, or by the name of a policy in the served folder or made in the console. */
function policyNames(policy: string, drafts: string, names: readonly string[]): readonly string[] {
  const folder = dirname(resolve(policy));
  const made = existsSync(drafts) ? readdirSync(drafts, { recursive: true, encoding: 'utf8' }) : [];
  const files = [policy, ...inFolder(folder, fileNamesIn(folder)), ...inFolder(drafts, made)].filter(
    (file) => isPolicyFile(file) && basename(file) !== 'draft.yaml',
  );
  return names.map((name) => {
    const found = files.filter((file) => nameOf(file) === name);
    if (found.length === 0 && isPolicyFile(name) && existsSync(name)) found.push(name);
    if (found.some(declaresData)) return nameOf(found[0]!);
    const known = [...new Set(files.filter(declaresData).map(nameOf))].sort().slice(0, 12);
    throw new Fault(
      'USAGE',
      found.length === 0 ? `No policy is known as "${name}".` : `The file ${found[0]!} is no policy.`,
      `Known here: ${known.join(', ')}. Of one that lies elsewhere give the path of its file.`,
    );
  });
}

const inFolder = (folder: string, names: readonly string[]): readonly string[] => names.map((name) => join(folder, name));

/** Other files are YAML as well: workloads, requests of synthetic rows. An unreadable file may be a policy. */
function declaresData(file: string): boolean {
  try {
    return /^["']?data["']?\s*:|^\{/m.test(readText(file, 'policyBytes'));
  } catch {
    return existsSync(file);
  }
}

function fileNamesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    throw new Fault('USAGE', `The folder ${folder} cannot be listed.`, 'Name the first policy that is served.');
  }
}

type Tokens = import('../service/token.js').TokenStore;
type Token = import('../service/token.js').AccessToken;
const actions: Record<string, (tokens: Tokens, words: Words, id: string | undefined, folder: string) => Promise<void>> = {
  make,
  list,
  end,
  link,
};

const publicFields = ({ hash: _hash, ...token }: Token) => token;

async function make(tokens: Tokens, words: Words): Promise<void> {
  const { role } = await import('../service/role.js');
  const as = role.safeParse(words.role);
  if (!as.success) throw new Fault('USAGE', 'A token has a role.', 'Give --role steward, --role analyst or --role auditor.');
  const name = words.for?.trim() ?? '';
  if (name === '' || name.length > 120)
    throw new Fault('USAGE', 'A token is for somebody.', 'Give --for NAME, at most 120 characters.');
  const days = Number(words.days);
  if (!(Number.isInteger(days) && days >= 1 && days <= 3650))
    throw new Fault('USAGE', 'A token is good for 1 to 3650 days.', 'Use for example --days 30.');
  const { token, text } = tokens.make({ name, role: as.data, days, ...(words.only && { policies: words.only }) });
  emit(words.json, { ...publicFields(token), token: text }, () =>
    [
      bold(text),
      dim(
        `For ${token.name} (${token.role}) until ${momentText(token.expires)} UTC. It is shown this once: only a hash of it is kept.`,
      ),
    ].join('\n'),
  );
}

async function list(tokens: Tokens, { json }: Words): Promise<void> {
  const all = tokens.list().map((token) => ({ ...publicFields(token), stands: tokens.isValid(token) }));
  emit(json, { tokens: all }, () =>
    all.length === 0
      ? 'There are no tokens.'
      : table(
          ['id', 'for', 'role', 'policies', 'until', ''],
          all.map((t) => [t.id, t.name, t.role, t.policies?.join(', ') ?? 'all', momentText(t.expires), t.stands ? '' : 'ended']),
        ),
  );
}

async function end(tokens: Tokens, { json }: Words, id: string | undefined): Promise<void> {
  if (id === undefined) throw new Fault('USAGE', 'Say which token.', 'Its id stands in "fugu token list".');
  const token = publicFields(tokens.end(id));
  emit(json, { ended: token }, () => `The token ${token.id} of ${token.name} opens nothing any more.`);
}

async function link(tokens: Tokens, { json, url }: Words, id: string | undefined, folder: string): Promise<void> {
  if (id === undefined) throw new Fault('USAGE', 'Say which token.', 'Its id stands in "fugu token list".');
  if (!/^https?:\/\/[^\s#?]+$/.test(url))
    throw new Fault('USAGE', 'The address of the service is no address.', 'Use for example --url https://fugu.example.org.');
  const { SignInSessions } = await import('../service/sessions.js');
  const address = `${url.replace(/\/+$/, '')}/login#${new SignInSessions(folder, tokens).link(id)}`;
  emit(json, { link: address }, () => [bold(address), dim('It signs in once, within ten minutes.')].join('\n'));
}
