import { createHash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Fault } from '../errors.js';
import { parseJson } from '../input/json.js';
import { asFault } from '../release/outcome.js';
import { jsonText } from '../report/json-text.js';
import type { Event } from './audit-log.js';
import { openapi } from './openapi.js';
import { type Problem, problem, problemOf } from './problem.js';
import type { Caller, Route } from './route.js';
import { routes } from './routes/routes.js';
import type { Service } from './service.js';

/** Set on every answer: nothing that is served may be framed, guessed at, kept by a cache or sent on. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

interface Ending {
  readonly status: number;
  readonly body: unknown;
  readonly caller?: Caller;
  readonly asked?: string;
  readonly entry?: number;
  readonly retryAfter?: number;
}

/** The door: who asks, may they, is there room; then what is asked, and how it ended. */
export function appOf(service: Service, addressOf: (c: Context) => string): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(headers)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  app.get('/health/live', (c) => c.json({ live: true }));
  app.get('/health/ready', (c) => c.json({ ready: !service.stopping }, service.stopping ? 503 : 200));
  app.get('/openapi.json', (c) => c.json(openapi(routes)));
  app.get('/metrics', (c) => {
    const caller = callerOf(service, c, addressOf(c));
    return caller && 'role' in caller && caller.role !== 'analyst'
      ? c.text(service.metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
      : told(c, deniedTo(service.newRequest()));
  });
  const tooLarge = (c: Context) =>
    told(c, problem(413, 'LIMIT_EXCEEDED', 'The request is too large.', 'Ask in several requests.', service.newRequest()));
  const limit = bodyLimit({ maxSize: service.limits.bodyBytes, onError: tooLarge });
  for (const route of routes)
    app.on(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ':$1'), limit, (c) =>
      answer(service, route, c, addressOf(c)),
    );
  app.notFound((c) =>
    told(
      c,
      problem(404, 'NOT_FOUND', 'There is nothing under this path.', '/openapi.json lists what there is.', service.newRequest()),
    ),
  );
  app.onError((error, c) => told(c, problemOf(asFault(error), service.newRequest())));
  return app;
}

async function answer(service: Service, route: Route, c: Context, address: string): Promise<Response> {
  const request = service.newRequest();
  const began = performance.now();
  const policy = c.req.param('policy');
  const ending = await endingOf(service, route, c, address, request);
  const seconds = (performance.now() - began) / 1000;
  const { status, body, caller, asked, entry, retryAfter } = ending;
  const event: Event = {
    at: new Date().toISOString(),
    request,
    ...(caller && { token: caller.id, name: caller.name, role: caller.role }),
    action: route.name,
    ...(policy !== undefined && service.policyOf(caller ?? nobody, policy) && { policy }),
    ...(asked !== undefined && { asked }),
    status,
    ...(status >= 400 && { fault: (body as Problem).code }),
    ...(entry !== undefined && { entry }),
    milliseconds: Math.round(seconds * 1000),
  };
  service.log.add(event);
  service.metrics.answered(route.name, status, seconds);
  if (retryAfter !== undefined) c.header('retry-after', String(Math.ceil(retryAfter)));
  c.header('x-request-id', request);
  return status >= 400 ? told(c, body as Problem) : c.body(jsonText(body), 200, { 'content-type': 'application/json' });
}

/** Opens no policy. */
const nobody: Caller = { id: '', name: '', role: 'auditor', policies: [] };

async function endingOf(service: Service, route: Route, c: Context, address: string, request: string): Promise<Ending> {
  const refused = (found: Problem, more: Partial<Ending> = {}): Ending => ({ status: found.status, body: found, ...more });
  const found = callerOf(service, c, address);
  if (found === undefined) return refused(deniedTo(request));
  if ('wait' in found)
    return refused(busy(429, 'Too many wrong tokens came from this address.', request), { retryAfter: found.wait });
  const caller = found;
  const by = { caller };
  if (!route.roles.includes(caller.role))
    return refused(
      problem(403, 'ACCESS_DENIED', `This is not for the role ${caller.role}.`, `Ask a ${route.roles.join(' or ')}.`, request),
      by,
    );
  const wait = service.rate.wait(caller.id);
  if (wait > 0) return refused(busy(429, 'This token asks too often.', request), { ...by, retryAfter: wait });
  const name = c.req.param('policy');
  const served = name === undefined ? undefined : service.policyOf(caller, name);
  if (name !== undefined && !served)
    return refused(
      problem(404, 'NOT_FOUND', 'There is no such policy for this token.', 'GET /v1/policies lists those there are.', request),
      by,
    );
  let asked: string | undefined;
  try {
    const body = route.body && (await bodyOf(c, (digest) => (asked = digest)));
    const read = {
      ...(route.body && { body: parsedBy(route.body, body, 'The request') }),
      ...(route.query && { query: parsedBy(route.query, c.req.query(), 'The query string') }),
    };
    const once = onceOf(c);
    if (once !== undefined && !service.sameAsBefore(`${caller.id} ${once}`, `${route.name} ${name} ${asked}`))
      return refused(
        problem(
          422,
          'USAGE',
          'This Idempotency-Key was sent with another request.',
          'Send a new key with a new request.',
          request,
        ),
        by,
      );
    if (service.stopping) return refused(busy(503, 'The service is about to stop.', request), { ...by, retryAfter: 5 });
    const back = route.works ? await service.turns.take() : () => undefined;
    if (!back) return refused(busy(503, 'Too many requests wait already.', request), { ...by, retryAfter: 1 });
    try {
      const answered = (await route.handle({
        service,
        caller,
        served: served!,
        ...read,
        ...(once !== undefined && { once }),
      } as never)) as object;
      const entry = (answered as { receipt?: { ledger?: { entry?: number } } }).receipt?.ledger?.entry;
      return { status: 200, body: answered, ...by, ...(asked !== undefined && { asked }), ...(entry !== undefined && { entry }) };
    } finally {
      back();
    }
  } catch (error) {
    const fault = asFault(error);
    const entry = fault.outcome && 'entry' in fault.outcome ? fault.outcome.entry : undefined;
    const retryAfter = fault.code === 'LEDGER_BUSY' ? 1 : undefined;
    return refused(problemOf(fault, request), {
      ...by,
      ...(asked !== undefined && { asked }),
      ...(entry !== undefined && { entry }),
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
}

function callerOf(service: Service, c: Context, address: string): Caller | { readonly wait: number } | undefined {
  const text = /^Bearer (\S{1,200})$/.exec(c.req.header('authorization') ?? '')?.[1];
  const token = text === undefined ? undefined : service.tokens.find(text);
  if (token) return token;
  if (text === undefined) return undefined;
  const wait = service.guesses.wait(address);
  return wait > 0 ? { wait } : undefined;
}

function onceOf(c: Context): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined || /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new Fault('USAGE', 'An Idempotency-Key is 1 to 200 letters, digits and signs.', 'Send for example a UUID.');
}

async function bodyOf(c: Context, digested: (digest: string) => void): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? ''))
    throw new Fault('USAGE', 'The request is not JSON.', 'Send it with "content-type: application/json".');
  const text = await c.req.text();
  digested(createHash('sha256').update(text).digest('hex'));
  try {
    return parseJson(text, { file: 'request' });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('USAGE', 'The request is not valid JSON.', 'Send for example {"question": {"kind": "count"}}.');
  }
}

function parsedBy(schema: NonNullable<Route['body']>, input: unknown, what: string): unknown {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new Fault(
    'USAGE',
    `${what}${path.map((p) => `.${String(p)}`).join('')}: ${message}.`,
    '/openapi.json says what it takes.',
  );
}

const deniedTo = (request: string): Problem =>
  problem(
    401,
    'ACCESS_DENIED',
    'No token, or none that opens anything.',
    'Send "authorization: Bearer fugu_…"; a steward makes tokens with "fugu token".',
    request,
  );
const busy = (status: number, title: string, request: string): Problem =>
  problem(status, 'BUSY', title, 'Come again after what Retry-After says; nothing was begun and nothing was spent.', request);

function told(c: Context, found: Problem): Response {
  if (found.status === 401) c.header('www-authenticate', 'Bearer realm="fugu"');
  return c.body(jsonText(found), found.status as 400, { 'content-type': 'application/problem+json' });
}
