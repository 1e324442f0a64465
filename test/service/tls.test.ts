import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serve } from '../../src/app/service/serve.js';
import { openWorkshop, policyYaml } from '../workshop.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Made here where openssl is there. */
function certificate(): { readonly cert: string; readonly key: string } | undefined {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  try {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'pipe' }); // biome-ignore format: one line
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  } catch {
    return undefined;
  }
}
const tls = certificate();

describe.skipIf(tls === undefined)('a service with a certificate', () => {
  it('the service speaks TLS only, says so to plain requests, and restricts its cookie to TLS', async () => {
    const shop = openWorkshop(policyYaml(), 30);
    const serving = await serve({
      policies: [shop.policyFile],
      tokens: join(folder, 'tokens'),
      log: join(folder, 'log'),
      drafts: join(folder, 'drafts'),
      made: join(folder, 'policies'),
      registry: join(folder, 'known-data'),
      host: '127.0.0.1',
      port: 0,
      tls: tls!,
    });
    try {
      expect(serving.url).toMatch(/^https:/);
      const { text } = serving.service.tokens.make({ name: 'ann', role: 'analyst', days: 1 });
      const sendTo = (method: string, path: string, body?: object) =>
        new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((done, failed) => {
          const headers = body ? { 'content-type': 'application/json' } : {};
          const sent = request(`${serving.url}${path}`, { method, headers, ca: tls!.cert }, (got) => {
            got.resume();
            got.on('end', () => done({ status: got.statusCode!, headers: got.headers }));
          });
          sent.on('error', failed);
          sent.end(body && JSON.stringify(body));
        });
      const signedIn = await sendTo('POST', '/v1/session', { token: text });
      expect(signedIn.status).toBe(200);
      expect(signedIn.headers['set-cookie']?.[0]).toMatch(/^__Host-fugu=.*; Secure/);
      expect(signedIn.headers['strict-transport-security']).toMatch(/max-age=/);
      await expect(fetch(`${serving.url.replace('https', 'http')}/health/live`)).rejects.toThrow();
    } finally {
      await serving.stop();
      shop.remove();
    }
  });
});
