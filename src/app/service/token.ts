import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { makeFolder } from '../../base/files/folder.js';
import { writeNew } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { readNamedText } from '../../base/input/named-file.js';
import { existsSync, readdirSync } from '../../base/platform/files.js';
import { sha256Stream, timingSafeEqual } from '../../base/platform/hash.js';
import { join } from '../../base/platform/paths.js';
import { secretBytes } from '../../privacy/noise/bits.js';
import { type Role, role } from './role.js';

/**
 * Tokens, one write-once file each, named by their public part; a second file ends a token, so concurrent processes lose nothing.
 * Only a hash of the secret is stored: with 256 random bits it needs neither salt nor slow hashing.
 */
const stored = z.strictObject({
  id: z.string(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  role,
  /** Analyst who pays and is listed. */
  name: z.string(),
  /** Policies it opens, by name; all when absent. */
  policies: z.array(z.string()).optional(),
  made: z.iso.datetime(),
  expires: z.iso.datetime(),
});
export type AccessToken = z.output<typeof stored>;

export interface NewToken {
  readonly name: string;
  readonly role: Role;
  readonly policies?: readonly string[];
  readonly days: number;
}

const form = /^fugu_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;
const hashOf = (secret: string): Buffer => sha256Stream().update(secret).digest();
const ended = (id: string): string => `${id}.ended`;
const writing = { hint: 'The folder of tokens must be writable.', mode: 0o600 };

export class TokenStore {
  readonly #folder: string;
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates a token; its secret is in the returned value and nowhere else. */
  make({ name, role, policies, days }: NewToken, now = new Date()): { readonly token: AccessToken; readonly text: string } {
    const id = secretBytes(8).toString('hex');
    const secret = secretBytes(32).toString('base64url');
    const token: AccessToken = {
      id,
      hash: hashOf(secret).toString('hex'),
      role,
      name,
      ...(policies && { policies: [...policies] }),
      made: now.toISOString(),
      expires: new Date(now.getTime() + days * 86_400_000).toISOString(),
    };
    makeFolder(this.#folder, 0o700);
    if (!writeNew(this.#file(id), `${JSON.stringify(token)}\n`, writing))
      throw new Fault('INTERNAL', 'Two tokens were given one name.', 'Try again.');
    return { token, text: `fugu_${id}_${secret}` };
  }

  /** Token of a secret; undefined if it never existed, has expired or was ended, which callers cannot distinguish. */
  find(text: string, now = new Date()): AccessToken | undefined {
    const [, id, secret] = form.exec(text) ?? [];
    // The hash is compared for a missing token as well; only the time to read its file, named by the public part, differs.
    const hash = hashOf(secret ?? '');
    const token = id === undefined ? undefined : this.read(id);
    const same = timingSafeEqual(hash, token ? Buffer.from(token.hash, 'hex') : hashOf('nobody'));
    return same && token && this.isValid(token, now) ? token : undefined;
  }

  isValid({ id, expires }: AccessToken, now = new Date()): boolean {
    return now.toISOString() < expires && !existsSync(join(this.#folder, ended(id)));
  }

  read(id: string): AccessToken | undefined {
    if (!/^[0-9a-f]{16}$/.test(id) || !existsSync(this.#file(id))) return undefined;
    const broken = () => new Fault('DATA_MALFORMED', 'A token cannot be read.', 'Remove its file and make another.');
    const found = stored.safeParse(parseJson(readNamedText(this.#file(id), 'policyBytes', broken), { file: this.#file(id) }));
    if (!found.success || found.data.id !== id) throw broken();
    return found.data;
  }

  list(): readonly AccessToken[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .flatMap((file) => /^([0-9a-f]{16})\.json$/.exec(file)?.[1] ?? [])
      .flatMap((id) => this.read(id) ?? [])
      .sort((a, b) => (a.made < b.made ? -1 : 1));
  }

  /** Ends a token permanently and at once, for every process that reads this folder. */
  end(id: string, now = new Date()): AccessToken {
    const token = this.read(id);
    if (!token) throw new Fault('USAGE', 'There is no such token.', 'List them with "fugu token list".');
    writeNew(join(this.#folder, ended(id)), `${JSON.stringify({ id, at: now.toISOString() })}\n`, writing);
    return token;
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
