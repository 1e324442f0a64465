import type { Hono } from 'hono';
import { existsSync, readFileSync } from '../../base/platform/files.js';
import { dirname, extname, fileURLToPath, join } from '../../base/platform/paths.js';

/** Pages contact this host only, run no script that is not one of its files, and cannot be framed. */
const policy =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** Folder of the built console, in the package of this file. */
function consoleFolder(): string {
  let at = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(at, 'package.json')) && dirname(at) !== at) at = dirname(at);
  return join(at, 'dist', 'console');
}

/** Console: a page, and files whose names change with their content. Files are read on first request; no path leaves the folder. */
export function consoleOf(app: Hono, folder = consoleFolder()): void {
  const cached = new Map<string, Uint8Array<ArrayBuffer>>();
  const fileOf = (name: string): Uint8Array<ArrayBuffer> | undefined => {
    const known = cached.get(name);
    if (known) return known;
    const file = join(folder, name);
    if (!existsSync(file)) return undefined;
    const bytes = new Uint8Array(readFileSync(file));
    cached.set(name, bytes);
    return bytes;
  };
  for (const page of ['/', '/login'])
    app.get(page, (c) => {
      const html = fileOf('index.html');
      return html
        ? c.body(html, 200, { 'content-type': types['.html']!, 'content-security-policy': policy, 'cache-control': 'no-cache' })
        : c.text('The console was not built with this copy of Fugu; the API is at /openapi.json.\n', 404);
    });
  app.get('/assets/:file{[A-Za-z0-9_][A-Za-z0-9._-]*}', (c) => {
    const name = c.req.param('file');
    const bytes = name.includes('..') ? undefined : fileOf(join('assets', name));
    if (!bytes) return c.notFound();
    return c.body(bytes, 200, {
      'content-type': types[extname(name)] ?? 'application/octet-stream',
      'content-security-policy': policy,
      'cache-control': 'public, max-age=31536000, immutable',
    });
  });
}
