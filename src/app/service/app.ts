import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { asFault } from '../../release/session/outcome.js';
import { jsonText } from '../report/json-text.js';
import { answerTo } from './answer.js';
import { openapi } from './openapi.js';
import { consoleOf } from './pages.js';
import { type Problem, problem, problemOf } from './problem.js';
import { routes } from './routes/routes.js';
import type { Service } from './service.js';

/** Set on every answer: it must not be framed, sniffed for another type, cached or forwarded. */
const headers: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** Web application: all routes, and headers of every answer. `addressOf` returns the address of a request. */
export function appOf(service: Service, addressOf: (c: Context) => string): Hono {
  const app = new Hono();
  const document = jsonText(openapi(routes));
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(headers)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    if (service.hsts) c.res.headers.set('strict-transport-security', 'max-age=31536000');
  });
  app.get('/health/live', (c) => c.json({ live: true }));
  app.get('/health/ready', (c) => c.json({ ready: !service.stopping }, service.stopping ? 503 : 200));
  app.get('/openapi.json', (c) => c.body(document, 200, { 'content-type': 'application/json' }));
  const tooLarge = (c: Context) =>
    problemResponse(
      c,
      problem({
        status: 413,
        code: 'LIMIT_EXCEEDED',
        title: 'The request is too large.',
        hint: 'Ask in several requests.',
        request: service.newRequest(),
      }),
    );
  const limit = bodyLimit({ maxSize: service.limits.bodyBytes, onError: tooLarge });
  const unlimited = (_c: Context, next: () => Promise<void>) => next();
  for (const route of routes)
    app.on(route.method.toUpperCase(), honoPath(route.path), route.takesFile ? unlimited : limit, (c) =>
      answerTo(service, route, c, addressOf(c)),
    );
  for (const path of new Set(routes.map((r) => r.path))) {
    const allowed = routes.filter((r) => r.path === path).map((r) => r.method.toUpperCase());
    app.all(honoPath(path), (c) => {
      c.header('allow', allowed.join(', '));
      return problemResponse(
        c,
        problem({
          status: 405,
          code: 'USAGE',
          title: 'This address does not take this method.',
          hint: `Use ${allowed.join(' or ')}.`,
          request: service.newRequest(),
        }),
      );
    });
  }
  consoleOf(app);
  app.notFound((c) =>
    problemResponse(
      c,
      problem({
        status: 404,
        code: 'NOT_FOUND',
        title: 'There is nothing under this path.',
        hint: '/openapi.json lists what there is.',
        request: service.newRequest(),
      }),
    ),
  );
  app.onError((error, c) => problemResponse(c, problemOf(asFault(error), service.newRequest())));
  return app;
}

const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

const problemResponse = (c: Context, found: Problem): Response =>
  c.body(jsonText(found), found.status as 400, { 'content-type': 'application/problem+json' });
