import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { appOf } from '../../src/app/service/app.js';
import type { ServiceLimits } from '../../src/app/service/limits.js';
import type { Role } from '../../src/app/service/role.js';
import { type ServeOptions, type Serving, serve } from '../../src/app/service/serve.js';
import { Service } from '../../src/app/service/service.js';
import { TokenStore } from '../../src/app/service/token.js';

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer off the wire
  readonly body: any;
  readonly headers: Headers;
}

export interface ServedTown {
  readonly folder: string;
  readonly tokens: TokenStore;
  readonly service: Service;
  readonly app: Hono;
  token(name: string, role: Role, more?: { readonly policies?: readonly string[]; readonly days?: number }): string;
  ask(token: string | undefined, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** Any request at all. */
  send(path: string, init: RequestInit): Promise<Answered>;
  close(): Promise<void>;
}

const rows = 300;
const parties = ['left', 'right', 'other'];
const data = Array.from(
  { length: rows },
  (_, k) => `${k},${parties[k % 3]},${20 + (k % 50)},h${Math.floor(k / 3)},${1 + (k % 5)}`,
);
const header = 'id,party,age,household,week';
const policy = (population: string, budget: string, dependence = 'none', more = '') => `data: { source: ${population}.csv }
protect: { secret: row, unit: id }
budget: ${budget}
population: ${population}
columns:
  party: { type: category, values: [${parties.join(', ')}] }
  age: { type: integer, bounds: [0, 100] }
${more}dependence: ${dependence}
`;
const households = '[{ kind: groups, by: household, oddsRatio: 4 }]';

/** Two policies: people of a town who are strangers, and of a village who live in households. */
export function townFolder(budget = '{ epsilon: 4 }'): string {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-service-'));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('town.csv', `${header}\n${data.join('\n')}\n`);
  write('town.yaml', policy('town', budget));
  write('village.csv', `${header}\n${data.slice(0, 60).join('\n')}\n`);
  write('village.yaml', policy('village', budget, households, '  week: { type: integer, bounds: [1, 5], public: true }\n'));
  return folder;
}

const placesIn = (folder: string) => ({
  policies: [join(folder, 'town.yaml'), join(folder, 'village.yaml')],
  tokens: join(folder, 'tokens'),
  log: join(folder, 'log'),
  drafts: join(folder, 'drafts'),
  made: join(folder, 'policies'),
  registry: join(folder, 'known-data'),
});

/** A service with two policies, used without a network. */
export async function openTown(budget?: string, limits: Partial<ServiceLimits> = {}): Promise<ServedTown> {
  const folder = townFolder(budget);
  const tokens = new TokenStore(join(folder, 'tokens'));
  const service = await Service.begin({ ...placesIn(folder), limits });
  const app = appOf(service, () => '127.0.0.1');
  const send = async (path: string, init: RequestInit): Promise<Answered> =>
    answeredFrom(
      await app.request(`http://fugu.test${path}`, { ...init, headers: { host: 'fugu.test', ...init.headers } as never }),
    );
  return {
    folder,
    tokens,
    service,
    app,
    token: (name, role, { days = 1, policies } = {}) => tokens.make({ name, role, days, ...(policies && { policies }) }).text,
    send,
    ask: (token, path, body, headers) => send(path, requestOf(token, body, headers)),
    close: async () => {
      service.stop();
      await service.jobs.ended();
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The same on a free port of this machine. */
export async function serveTown(
  budget?: string,
  more: Partial<ServeOptions> = {},
): Promise<{ readonly folder: string; readonly serving: Serving; close(): Promise<void> }> {
  const folder = townFolder(budget);
  const serving = await serve({ ...placesIn(folder), host: '127.0.0.1', port: 0, ...more });
  return {
    folder,
    serving,
    close: async () => {
      await serving.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const requestOf = (token: string | undefined, body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  headers: {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  },
  ...(body !== undefined && { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
});

export const askOver = async (
  url: string,
  token: string | undefined,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> =>
  answeredFrom(await fetch(`${url}${path}`, { ...requestOf(token, body, headers), signal: AbortSignal.timeout(60_000) }));

async function answeredFrom(answer: Response): Promise<Answered> {
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
