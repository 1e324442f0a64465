import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const json = { 'content-type': 'application/json' };
const count = JSON.stringify({ question: { kind: 'count', by: ['party'] }, epsilon: '1/4' });
const idOf = (token: string): string => /fugu_([0-9a-f]+)_/.exec(token)![1]!;
const signIn = (body: object, headers: Record<string, string> = {}) =>
  town.send('/v1/session', { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
const cookieOf = (headers: Headers): string => headers.get('set-cookie')!.split(';')[0]!;

describe('signing in', () => {
  it('a sign-in uses a code that is good once, and sets a cookie that no script and no other site can use', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const code = town.service.sessions.link(idOf(root));
    const first = await signIn({ code });
    expect(first).toMatchObject({ status: 200, body: { name: 'root', role: 'steward', csrf: expect.any(String) } });
    expect(first.headers.get('set-cookie')).toMatch(/^fugu=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect((await signIn({ code })).status).toBe(401);
    const cookie = cookieOf(first.headers);
    expect((await town.send('/v1/session', { headers: { cookie } })).body).toEqual(first.body);
    const kept = readdirSync(join(town.folder, 'tokens', 'sessions')).map((f) =>
      readFileSync(join(town.folder, 'tokens', 'sessions', f), 'utf8'),
    );
    expect(kept).toHaveLength(1);
    expect(kept.join('')).not.toContain(cookie.slice(5));
  });

  it('a sign-in does not help a page of another site, whatever it sends', async () => {
    town = await openTown();
    const { headers, body } = await signIn({ token: town.token('ann', 'analyst') });
    const cookie = cookieOf(headers);
    const release = (more: Record<string, string>) =>
      town.send('/v1/policies/town/release', { method: 'POST', headers: { ...json, cookie, ...more }, body: count });
    const csrf = { 'x-fugu-csrf': body.csrf as string };
    expect((await release({})).status).toBe(403);
    expect((await release({ 'x-fugu-csrf': 'x'.repeat(43) })).status).toBe(403);
    expect((await release({ ...csrf, origin: 'http://evil.test' })).status).toBe(403);
    expect((await release({ ...csrf, origin: 'null' })).status).toBe(403);
    expect((await release({ ...csrf, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await release({ ...csrf, 'sec-fetch-site': 'same-site' })).status).toBe(403);
    const read = await town.send('/v1/policies', { headers: { cookie, 'sec-fetch-site': 'cross-site' } });
    expect(read.status).toBe(403);
    expect((await signIn({ token: town.token('eve', 'analyst') }, { origin: 'http://evil.test' })).status).toBe(403);
    expect((await release({ ...csrf, origin: 'http://fugu.test', 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await town.ask(town.token('root', 'steward'), '/v1/policies/town/ledger')).body.entries).toHaveLength(1);
  });

  it('a sign-in ends with the session, with its token, and after twelve hours', async () => {
    town = await openTown();
    const token = town.token('ann', 'analyst', { days: 30 });
    const { headers, body } = await signIn({ token });
    const hours = (Date.parse(body.expires) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
    const cookie = cookieOf(headers);
    const look = async (with_: string) => (await town.send('/v1/session', { headers: { cookie: with_ } })).status;
    expect(await look(cookie)).toBe(200);
    expect(town.service.sessions.find(cookie.slice(5), new Date(Date.now() + 13 * 3_600_000))).toBeUndefined();
    const ended = await town.send('/v1/session', { method: 'DELETE', headers: { cookie, 'x-fugu-csrf': body.csrf } });
    expect(ended.headers.get('set-cookie')).toContain('Max-Age=0');
    expect(await look(cookie)).toBe(401);
    const second = cookieOf((await signIn({ token })).headers);
    expect(await look(second)).toBe(200);
    town.tokens.end(idOf(token));
    expect(await look(second)).toBe(401);
    expect((await signIn({ token })).status).toBe(401);
  });

  it('a sign-in refuses old codes and guesses, and limits guesses; a good cookie does not help a wrong token', async () => {
    town = await openTown(undefined, { guesses: 3 });
    const root = town.token('root', 'steward');
    const old = town.service.sessions.link(idOf(root), new Date(Date.now() - 11 * 60_000));
    expect((await signIn({ code: old })).status).toBe(401);
    expect(() => town.service.sessions.link('0123456789abcdef')).toThrow('no such token');
    const cookie = cookieOf((await signIn({ token: root })).headers);
    expect((await town.send('/v1/session', { headers: { cookie, authorization: 'Bearer fugu_x' } })).status).toBe(401);
    const guesses = await Promise.all(Array.from({ length: 6 }, () => signIn({ code: 'A'.repeat(43) })));
    expect(guesses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(3);
    expect((await signIn({ code: '../../tokens/x' })).status).toBe(429);
  });

  it('the cookie is called __Host-fugu and is for TLS only if a proxy reports TLS', async () => {
    town = await openTown();
    Object.assign(town.service, { behindProxy: true });
    const { headers } = await signIn({ token: town.token('root', 'steward') }, { 'x-forwarded-proto': 'https' });
    expect(headers.get('set-cookie')).toMatch(/^__Host-fugu=.*; Secure$/);
  });

  it('one token keeps no more than fifty sessions', async () => {
    town = await openTown();
    const token = town.tokens.find(town.token('ann', 'analyst'))!;
    for (let k = 0; k < 55; k++) town.service.sessions.begin(token, new Date(Date.now() + k));
    expect(readdirSync(join(town.folder, 'tokens', 'sessions'))).toHaveLength(50);
  });
});
