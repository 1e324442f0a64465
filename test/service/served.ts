import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceLimits } from '../../src/service/limits.js';
import type { Role } from '../../src/service/role.js';
import { type Serving, serve } from '../../src/service/serve.js';

import { Tokens } from '../../src/service/token.js';

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire
  readonly body: any;
  readonly headers: Headers;
}

export interface Town {
  readonly folder: string;
  readonly tokens: Tokens;
  readonly serving: Serving;
  token(name: string, role: Role, more?: { readonly policies?: readonly string[]; readonly days?: number }): string;
  ask(token: string | undefined, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  close(): Promise<void>;
}

const rows = 300;
const parties = ['left', 'right', 'other'];
const data = Array.from({ length: rows }, (_, k) => `${k},${parties[k % 3]},${20 + (k % 50)}`);
const policy = (budget: string) => `data: { source: town.csv }
protect: { secret: row }
budget: ${budget}
population: town
columns:
  party: { type: category, values: [${parties.join(', ')}] }
  age: { type: integer, bounds: [0, 100] }
dependence: none
`;

export function townFolder(budget = '{ epsilon: 4 }'): string {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-service-'));
  writeFileSync(join(folder, 'town.csv'), `id,party,age\n${data.join('\n')}\n`);
  writeFileSync(join(folder, 'town.yaml'), policy(budget));
  writeFileSync(
    join(folder, 'village.yaml'),
    policy(budget).replace('population: town', 'population: village').replace('town.csv', 'village.csv'),
  );
  writeFileSync(join(folder, 'village.csv'), `id,party,age\n${data.slice(0, 50).join('\n')}\n`);
  return folder;
}

/** A service with two policies, on a free port of this machine. */
export async function openTown(budget?: string, limits: Partial<ServiceLimits> = {}): Promise<Town> {
  const folder = townFolder(budget);
  const tokens = new Tokens(join(folder, 'tokens'));
  const serving = await serve({
    policies: [join(folder, 'town.yaml'), join(folder, 'village.yaml')],
    tokens: join(folder, 'tokens'),
    log: join(folder, 'log'),
    drafts: join(folder, 'drafts'),
    host: '127.0.0.1',
    port: 0,
    limits,
  });
  return {
    folder,
    tokens,
    serving,
    token: (name, role, { days = 1, policies } = {}) => tokens.make({ name, role, days, ...(policies && { policies }) }).text,
    ask: (token, path, body, headers) => askOver(serving.url, token, path, body, headers),
    close: async () => {
      await serving.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function askOver(
  url: string,
  token: string | undefined,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const answer = await fetch(`${url}${path}`, {
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parsed(text) };
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
