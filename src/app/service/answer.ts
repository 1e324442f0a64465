import type { Context } from 'hono';
import { asFault } from '../../release/session/outcome.js';
import { jsonText } from '../report/json-text.js';
import type { AuditEvent } from './audit-log.js';
import { busy, comeAgain, type Identity, identifyCaller, isOwnOrigin, isSecure } from './identity.js';
import type { ServedPolicy } from './policies.js';
import { type Problem, problem, problemOf, Refusal } from './problem.js';
import { idempotencyKey, parseRequest, pathParameters, readBody, sentFile } from './request.js';
import { type Caller, RawBody, type ResponseExtras, type Route } from './route.js';
import type { Service } from './service.js';

interface RouteOutcome {
  readonly status: number;
  readonly body: unknown;
  readonly caller?: Caller;
  readonly asked?: string;
  readonly entry?: number;
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Caller without identity; opens no policy. */
const anonymous: Caller = { id: '', name: '', role: 'auditor', policies: [] };

/** Checks identity, role and capacity, then the request; then writes the log, the metrics and the answer. */
export async function answerTo(service: Service, route: Route, c: Context, address: string): Promise<Response> {
  const request = service.newRequest();
  const began = performance.now();
  const policy = c.req.param('policy');
  const outcome = await routeOutcome({ service, route, c, address, request });
  const { status, body, caller, asked: requestDigest, entry, retryAfter } = outcome;
  // The time of an answer should not reveal data that it was computed from.
  if (route.works) await service.bucket(performance.now() - began);
  const seconds = (performance.now() - began) / 1000;
  const event: AuditEvent = {
    at: new Date().toISOString(),
    request,
    ...(caller && { token: caller.id, name: caller.name, role: caller.role }),
    action: route.name,
    ...(policy !== undefined && service.policyOf(caller ?? anonymous, policy) && { policy }),
    ...(requestDigest !== undefined && { asked: requestDigest }),
    status,
    ...(status >= 400 && { fault: (body as Problem).code }),
    ...(entry !== undefined && { entry }),
    milliseconds: Math.round(seconds * 1000),
  };
  const limited = status === 429 ? caller?.id : undefined;
  service.note(event, caller ? limited : address);
  service.metrics.answered(route.name, status, seconds);
  for (const [name, value] of Object.entries(outcome.headers ?? {})) c.header(name, value);
  if (retryAfter !== undefined) c.header('retry-after', String(Math.ceil(retryAfter)));
  if (status === 401) c.header('www-authenticate', 'Bearer realm="fugu"');
  c.header('x-request-id', request);
  if (status >= 400) return c.body(jsonText(body), status as 400, { 'content-type': 'application/problem+json' });
  if (body instanceof RawBody) {
    const type = { 'content-type': `${route.mediaType ?? 'application/json'}; charset=utf-8` };
    if (typeof body.body === 'string' || c.req.method !== 'HEAD') return c.body(body.body, 200, type);
    // A HEAD request for a stream receives none of it.
    await body.body.cancel();
    return c.body(null, 200, type);
  }
  return c.body(jsonText(body), status as 200, { 'content-type': 'application/json' });
}

const queueFull = new Refusal({ status: 503, code: 'BUSY', title: 'Too many requests wait already.', hint: comeAgain, wait: 1 });

const keyReused = new Refusal({
  status: 422,
  code: 'USAGE',
  title: 'This Idempotency-Key was sent with another request.',
  hint: 'Send a new key with a new request.',
});

async function inTurn<T>({ turns, limits }: Service, work: () => Promise<T>): Promise<T> {
  const back = await turns.take(limits.waitMilliseconds);
  if (!back) throw queueFull;
  return work().finally(back);
}

const refused = (found: Problem, more: Partial<RouteOutcome> = {}): RouteOutcome => ({
  status: found.status,
  body: found,
  ...more,
});

/** One request at a route. */
interface Incoming {
  readonly service: Service;
  readonly route: Route;
  readonly c: Context;
  readonly address: string;
  readonly request: string;
}
/** Caller who may use the route, and the policy that the path names. */
interface Admitted extends Extract<Identity, { readonly caller: Caller }> {
  readonly served: ServedPolicy | undefined;
  /** The caller as the audit log names them; nothing for a route without one. */
  readonly by: { readonly caller?: Caller };
}

async function routeOutcome(incoming: Incoming): Promise<RouteOutcome> {
  const admitted = admit(incoming);
  return 'status' in admitted ? admitted : handledOutcome(incoming, admitted);
}

/** Checks identity, rate, role and policy. */
function admit({ service, route, c, address, request }: Incoming): Admitted | RouteOutcome {
  const who: Identity = route.roles === 'nobody' ? { caller: anonymous } : identifyCaller(service, c, address, request);
  if ('refused' in who) return refused(who.refused, who.wait === undefined ? {} : { retryAfter: who.wait });
  const { caller } = who;
  const by = route.roles === 'nobody' ? {} : { caller };
  const wait = service.rate.wait(caller.id === '' ? address : caller.id);
  if (wait > 0) return refused(busy(429, 'This token asks too often.', request), { ...by, retryAfter: wait });
  if (route.roles !== 'nobody' && !route.roles.includes(caller.role))
    return refused(
      problem({
        status: 403,
        code: 'ACCESS_DENIED',
        title: `This is not for the role ${caller.role}.`,
        hint: `Ask a ${route.roles.join(' or ')}.`,
        request,
      }),
      by,
    );
  const name = c.req.param('policy');
  const served = name === undefined ? undefined : service.policyOf(caller, name);
  if (name !== undefined && !served)
    return refused(
      problem({
        status: 404,
        code: 'NOT_FOUND',
        title: 'There is no such policy for this token.',
        hint: 'GET /v1/policies lists those there are.',
        request,
      }),
      by,
    );
  return { ...who, served, by };
}

/** Reads the request, waits for a turn, and runs the handler. */
async function handledOutcome({ service, route, c, address, request }: Incoming, admitted: Admitted): Promise<RouteOutcome> {
  const { caller, session, served, by } = admitted;
  let requestDigest: string | undefined;
  const more: ResponseExtras = { headers: {} };
  try {
    const body = route.body && (await readBody(c, (digest) => (requestDigest = digest)));
    const read = {
      ...(route.body && { body: parseRequest(route.body, body, 'The request') }),
      ...(route.query && { query: parseRequest(route.query, c.req.query(), 'The query string') }),
    };
    const once = idempotencyKey(c);
    if (
      once !== undefined &&
      !service.sameAsBefore(`${caller.id} ${once}`, `${route.name} ${c.req.param('policy')} ${requestDigest}`)
    )
      return refused(keyReused.toProblem(request), by);
    if (service.stopping) return refused(busy(503, 'The service is about to stop.', request), { ...by, retryAfter: 5 });
    const waits = route.works && !route.takesFile;
    const turns = route.inWorker ? service.figures : service.turns;
    const back = waits ? await turns.take(service.limits.waitMilliseconds) : () => undefined;
    if (!back) return refused(queueFull.toProblem(request), { ...by, retryAfter: 1 });
    try {
      const answered = (await route.handle({
        service,
        caller,
        served: served!,
        named: pathParameters(c),
        ...read,
        ...(once !== undefined && { once }),
        ...(session !== undefined && { session }),
        secure: isSecure(service, c),
        sent: () => sentFile(c),
        inTurn: (work: () => Promise<unknown>) => inTurn(service, work),
        more,
        address,
        ownOrigin: isOwnOrigin(c),
      } as never)) as object;
      const entry = more.entry ?? (answered as { receipt?: { ledger?: { entry?: number } } }).receipt?.ledger?.entry;
      return {
        status: route.status ?? 200,
        body: answered,
        ...by,
        ...(more.caller && { caller: more.caller }),
        ...(requestDigest !== undefined && { asked: requestDigest }),
        ...(entry !== undefined && { entry }),
        headers: more.headers,
      };
    } finally {
      back();
    }
  } catch (error) {
    return failedOutcome(error, request, { ...by, ...(requestDigest !== undefined && { asked: requestDigest }) });
  }
}

/** A refusal is sent as it is, without the digest of its request; anything else is a fault. */
function failedOutcome(
  error: unknown,
  request: string,
  { asked: digest, ...by }: Pick<RouteOutcome, 'caller' | 'asked'>,
): RouteOutcome {
  if (error instanceof Refusal)
    return refused(error.toProblem(request), { ...by, ...(error.wait !== undefined && { retryAfter: error.wait }) });
  const fault = asFault(error);
  const entry = fault.outcome && 'entry' in fault.outcome ? fault.outcome.entry : undefined;
  const retryAfter = fault.code === 'LEDGER_BUSY' ? 1 : undefined;
  return refused(problemOf(fault, request), {
    ...by,
    ...(digest !== undefined && { asked: digest }),
    ...(entry !== undefined && { entry }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}
