import * as z from 'zod';
import { cookieName } from '../identity.js';
import { Refusal } from '../problem.js';
import { everybody, role } from '../role.js';
import { defineRoute, type RouteRequest } from '../route.js';
import { csrfOf } from '../sessions.js';
import type { AccessToken } from '../token.js';

const signedIn = z.strictObject({
  name: z.string(),
  role,
  csrf: z
    .string()
    .optional()
    .describe('Anti-forgery value for the header x-fugu-csrf of every request but GET. Absent with a token.'),
  expires: z.string(),
});
const cookie = (secure: boolean, secret: string, seconds: number): string =>
  `${cookieName(secure)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure ? '; Secure' : ''}`;

export const sessionRoutes = [
  defineRoute({
    name: 'signIn',
    method: 'post',
    path: '/v1/session',
    summary: 'Signs a browser in with a one-time code or a token, and sets a cookie.',
    roles: 'nobody',
    body: z.union([
      z.strictObject({ code: z.string().max(200).describe('Valid once, for ten minutes.') }),
      z.strictObject({ token: z.string().max(200) }),
    ]),
    answer: signedIn,
    handle: async (request) => {
      const { service, body, secure, more } = request;
      if (!request.ownOrigin)
        throw new Refusal({
          status: 403,
          code: 'ACCESS_DENIED',
          title: 'This came from another site.',
          hint: 'Sign in from a page of this service.',
        });
      const token = 'code' in body ? service.sessions.redeem(body.code) : service.tokens.find(body.token);
      if (!token) throw wrong(request);
      const { secret, expires } = service.sessions.begin(token);
      more.caller = token;
      more.headers['set-cookie'] = cookie(secure, secret, Math.max(0, Math.floor((Date.parse(expires) - Date.now()) / 1000)));
      return { name: token.name, role: token.role, csrf: csrfOf(secret), expires };
    },
  }),
  defineRoute({
    name: 'session',
    method: 'get',
    path: '/v1/session',
    summary: 'Identity of the session.',
    roles: everybody,
    answer: signedIn,
    handle: async ({ service, caller, session }) => ({
      name: caller.name,
      role: caller.role,
      ...(session !== undefined && { csrf: csrfOf(session) }),
      expires: session === undefined ? (caller as AccessToken).expires : (service.sessions.find(session)?.expires ?? ''),
    }),
  }),
  defineRoute({
    name: 'signOut',
    method: 'delete',
    path: '/v1/session',
    summary: 'Ends the session.',
    roles: everybody,
    answer: z.strictObject({ ended: z.boolean() }),
    handle: async ({ service, session, secure, more }) => {
      if (session !== undefined) service.sessions.end(session);
      more.headers['set-cookie'] = cookie(secure, '', 0);
      return { ended: session !== undefined };
    },
  }),
];

/** Codes and tokens that never existed, have expired or were used get the same refusal, and are counted. */
function wrong({ service, address }: RouteRequest): Refusal {
  const wait = service.guesses.wait(address);
  return wait > 0
    ? new Refusal({
        status: 429,
        code: 'BUSY',
        title: 'Too many wrong tokens came from this address.',
        hint: 'Come again after what Retry-After says.',
        wait,
      })
    : new Refusal({
        status: 401,
        code: 'ACCESS_DENIED',
        title: 'This code or token opens nothing.',
        hint: 'Codes are good once, for ten minutes: ask for another.',
      });
}
