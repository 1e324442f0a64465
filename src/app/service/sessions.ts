import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { makeFolder } from '../../base/files/folder.js';
import { writeNew } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { readNamedText } from '../../base/input/named-file.js';
import { existsSync, readdirSync, rmSync, unlinkSync } from '../../base/platform/files.js';
import { sha256, sha256Stream, timingSafeEqual } from '../../base/platform/hash.js';
import { join } from '../../base/platform/paths.js';
import { secretBytes } from '../../privacy/noise/bits.js';
import type { AccessToken, TokenStore } from './token.js';

/**
 * One-time sign-in codes and their sessions: a file each, stored with the tokens, so that every process knows them. Only hashes of
 * their secrets are stored. A session ends with its token.
 */
const stored = z.strictObject({ hash: z.string().regex(/^[0-9a-f]{64}$/), token: z.string(), expires: z.iso.datetime() });

const secretForm = /^[A-Za-z0-9_-]{43}$/;
const sha = (text: string): string => sha256(text);
/** The file name reveals nothing about the stored hash. */
const nameOf = (kind: string, hash: string): string => `${sha(`${kind} ${hash}`).slice(0, 32)}.${kind}`;

const codeMinutes = 10;
const sessionHours = 12;
/** Most sessions of one token; beyond that the oldest end. */
const mostSessions = 50;

export interface SignInSession {
  readonly token: AccessToken;
  readonly expires: string;
}

export class SignInSessions {
  readonly #folder: string;
  readonly #tokens: TokenStore;
  constructor(folder: string, tokens: TokenStore) {
    this.#folder = join(folder, 'sessions');
    this.#tokens = tokens;
  }

  /** Code that signs in the holder of a token, once and within minutes. */
  link(id: string, now = new Date()): string {
    const token = this.#tokens.read(id);
    if (!token || !this.#tokens.isValid(token, now))
      throw new Fault('USAGE', 'There is no such token, or it has ended.', 'List them with "fugu token list".');
    return this.#write('code', id, new Date(now.getTime() + codeMinutes * 60_000));
  }

  /** Token of a code; a used code is gone for any second caller. */
  redeem(code: string, now = new Date()): AccessToken | undefined {
    const file = this.#find('code', code, now);
    if (!file) return undefined;
    try {
      unlinkSync(file.place);
    } catch {
      return undefined;
    }
    return this.#standing(file.token, now);
  }

  begin(token: AccessToken, now = new Date()): { readonly secret: string; readonly expires: string } {
    this.#sweep(token.id, now);
    const last = new Date(now.getTime() + sessionHours * 3_600_000).toISOString();
    const expires = last < token.expires ? last : token.expires;
    return { secret: this.#write('session', token.id, new Date(expires)), expires };
  }

  find(secret: string, now = new Date()): SignInSession | undefined {
    const file = this.#find('session', secret, now);
    const token = file && this.#standing(file.token, now);
    return token && { token, expires: file.expires };
  }

  end(secret: string): void {
    if (secretForm.test(secret)) rmSync(join(this.#folder, nameOf('session', sha(secret))), { force: true });
  }

  #standing(id: string, now: Date): AccessToken | undefined {
    const token = this.#tokens.read(id);
    return token && this.#tokens.isValid(token, now) ? token : undefined;
  }

  #write(kind: 'code' | 'session', token: string, until: Date): string {
    const secret = secretBytes(32).toString('base64url');
    makeFolder(this.#folder, 0o700);
    const text = JSON.stringify({ hash: sha(secret), token, expires: until.toISOString() });
    if (!writeNew(join(this.#folder, nameOf(kind, sha(secret))), `${text}\n`, writing))
      throw new Fault('INTERNAL', 'Two secrets were the same.', 'Try again.');
    return secret;
  }

  #find(kind: 'code' | 'session', secret: string, now: Date) {
    const hash = sha(secret);
    const place = join(this.#folder, nameOf(kind, hash));
    const found = secretForm.test(secret) ? read(place) : undefined;
    if (!found || found.expires <= now.toISOString()) return undefined;
    return timingSafeEqual(Buffer.from(found.hash, 'hex'), Buffer.from(hash, 'hex')) ? { ...found, place } : undefined;
  }

  /** Removes ended sessions, and the oldest ones of a token with too many. */
  #sweep(token: string, now: Date): void {
    if (!existsSync(this.#folder)) return;
    const own: { readonly place: string; readonly expires: string }[] = [];
    for (const name of readdirSync(this.#folder)) {
      if (!/^[0-9a-f]{32}\.(code|session)$/.test(name)) continue;
      const place = join(this.#folder, name);
      const found = read(place);
      if (!found || found.expires <= now.toISOString()) rmSync(place, { force: true });
      else if (found.token === token && name.endsWith('.session')) own.push({ place, expires: found.expires });
    }
    own.sort((a, b) => (a.expires < b.expires ? 1 : -1));
    for (const { place } of own.slice(mostSessions - 1)) rmSync(place, { force: true });
  }
}

/** Anti-forgery value that a page sends with every change: readable only by pages that can read answers of this host. */
export const csrfOf = (secret: string): string => sha256Stream().update(`csrf ${secret}`).digest('base64url');

const writing = { hint: 'The folder of tokens must be writable.', mode: 0o600 };

function read(place: string): z.output<typeof stored> | undefined {
  if (!existsSync(place)) return undefined;
  try {
    const gone = () => new Fault('DATA_MALFORMED', 'A session cannot be read.', 'Sign in again.');
    const found = stored.safeParse(parseJson(readNamedText(place, 'policyBytes', gone), { file: place }));
    return found.success ? found.data : undefined;
  } catch {
    return undefined;
  }
}
