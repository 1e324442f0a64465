import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { timingSafeEqual } from '../../base/platform/hash.js';
import { type Problem, problem } from './problem.js';
import type { Caller } from './route.js';
import type { Service } from './service.js';
import { csrfOf } from './sessions.js';

/** Identity of a request and its session; or the reason for refusing it. */
export type Identity =
  | { readonly caller: Caller; readonly session?: string; readonly expires?: string }
  | { readonly refused: Problem; readonly wait?: number };

export const cookieName = (secure: boolean): string => (secure ? '__Host-fugu' : 'fugu');
/** True if the request came by TLS: to this process, or to the proxy in front of it. */
export const isSecure = ({ behindProxy }: Service, c: Context): boolean =>
  behindProxy ? c.req.header('x-forwarded-proto') === 'https' : c.req.url.startsWith('https:');

/**
 * Identity by an access token, or by the cookie of a session; a token that is sent comes first, and a cookie does not make up for
 * a wrong one.
 */
export function identifyCaller(service: Service, c: Context, address: string, request: string): Identity {
  const authorization = c.req.header('authorization');
  if (authorization !== undefined) {
    const text = /^Bearer (\S{1,200})$/.exec(authorization)?.[1];
    const token = text === undefined ? undefined : service.tokens.find(text);
    return token ? { caller: token } : guessed(service, address, request);
  }
  const secret = getCookie(c, cookieName(isSecure(service, c)));
  if (secret === undefined) return { refused: denied(request) };
  const session = service.sessions.find(secret);
  if (!session) return guessed(service, address, request);
  const forged = forgery(c, secret, request);
  return forged ? { refused: forged } : { caller: session.token, session: secret, expires: session.expires };
}

/** Every wrong secret counts against the address it came from. */
function guessed(service: Service, address: string, request: string): { readonly refused: Problem; readonly wait?: number } {
  const wait = service.guesses.wait(address);
  return wait > 0
    ? { refused: busy(429, 'Too many wrong tokens came from this address.', request), wait }
    : { refused: denied(request) };
}

/**
 * Check against forged requests: a browser sends a cookie whichever site caused the request, so changes must come from a page of
 * this host.
 */
function forgery(c: Context, secret: string, request: string): Problem | undefined {
  const refuse = (title: string) =>
    problem({ status: 403, code: 'ACCESS_DENIED', title, hint: 'Ask from the console of this service.', request });
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return refuse('This came from another site.');
  if (!isOwnOrigin(c)) return refuse('This came from another site.');
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return undefined;
  return same(c.req.header('x-fugu-csrf') ?? '', csrfOf(secret))
    ? undefined
    : refuse('The x-fugu-csrf of this session is missing.');
}

/** True if a request came from this host, or names no origin. */
export function isOwnOrigin(c: Context): boolean {
  const origin = c.req.header('origin');
  if (origin === undefined) return true;
  const host = c.req.header('host');
  return host !== undefined && (origin === `https://${host}` || origin === `http://${host}`);
}

function same(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const denied = (request: string): Problem =>
  problem({
    status: 401,
    code: 'ACCESS_DENIED',
    title: 'No token, or none that opens anything.',
    hint: 'Send "authorization: Bearer fugu_…"; a steward makes tokens with "fugu token".',
    request,
  });
export const comeAgain = 'Come again after what Retry-After says; nothing was begun and nothing was spent.';
export const busy = (status: number, title: string, request: string): Problem =>
  problem({ status, code: 'BUSY', title, hint: comeAgain, request });
