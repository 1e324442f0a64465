import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TokenStore } from '../../src/app/service/token.js';
import { fugu } from '../fugu.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = (path: string): string => join(root, 'examples', path);

const survey = 'data:    { source: survey.csv, codebook: codebook.csv }\nprotect: { secret: row }\n';
const columns = 'columns:\n  age:   { type: integer, bounds: [18, 90] }\n  media: { type: multi, values: [paper, tv, web] }\n';
/** Policies that are served: one to work with, one with ties that can be drawn, one that is nearly spent, one over time. */
const policies = {
  town: `${survey}budget:  { epsilon: 2 }\npopulation: town\nledger: town.db\n${columns}dependence: [{ kind: groups, by: household, oddsRatio: 4 }]\n`,
  small: `${survey}budget:  { epsilon: 1/2 }\npopulation: small\nledger: small.db\n${columns}dependence: none\n`,
  days: 'data:    { source: visits.csv }\nprotect: { secret: row }\nbudget:  { epsilon: 2 }\npopulation: days\nledger: days.db\ncolumns:\n  day:   { type: integer, bounds: [1, 14], public: true }\n  place: { type: category, values: [home, work, shop] }\ndependence: [{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]\n',
};

export interface BrowserWorld {
  readonly folder: string;
  readonly url: string;
  /** One-time link of the steward. */
  readonly link: string;
  token(role: 'steward' | 'analyst' | 'auditor', name: string): Promise<{ readonly id: string; readonly token: string }>;
  /** An expired token. */
  expired(): string;
  revoke(id: string): Promise<void>;
  close(): Promise<void>;
}

/** A service in its own folder: `./fugu serve`, as a steward starts it. */
export async function openBrowserWorld(): Promise<BrowserWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-console-'));
  for (const file of ['survey.csv', 'codebook.csv']) copyFileSync(example(`household-survey/${file}`), join(folder, file));
  copyFileSync(example('visits/visits.csv'), join(folder, 'visits.csv'));
  writeFileSync(join(folder, 'daily.json'), '[[0.6, 0.2, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]]');
  for (const [name, text] of Object.entries(policies)) writeFileSync(join(folder, `${name}.yaml`), text);
  const files = Object.keys(policies).map((name) => `${name}.yaml`);
  const server = spawn(join(root, 'fugu'), ['serve', ...files, '--port', '0', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const { url, link } = await listening(server);
    return {
      folder,
      url,
      link,
      async token(role, name) {
        const output = await fugu({ cwd: folder }, 'token', 'make', 'town.yaml', '--role', role, '--for', name, '--json');
        return JSON.parse(output.out);
      },
      expired: () =>
        new TokenStore(join(folder, 'fugu-tokens')).make(
          { name: 'late', role: 'analyst', days: 1 },
          new Date(Date.now() - 3 * 86_400_000),
        ).text,
      async revoke(id) {
        await fugu({ cwd: folder }, 'token', 'end', 'town.yaml', id, '--json');
      },
      async close() {
        await ended(server);
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await ended(server);
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Addresses that the server prints once it listens. The first start builds the product, which takes a while. */
function listening(server: ChildProcess): Promise<{ readonly url: string; readonly link: string }> {
  return new Promise((done, failed) => {
    let [out, err] = ['', ''];
    const late = setTimeout(() => failed(new Error(`the service does not listen: ${err}`)), 600_000);
    server.stderr!.on('data', (bytes) => {
      err += bytes;
    });
    server.stdout!.on('data', (bytes) => {
      out += bytes;
      if (!out.trimEnd().endsWith('}')) return;
      clearTimeout(late);
      done(JSON.parse(out));
    });
    server.once('exit', (code) => failed(new Error(`the service ended with ${code}: ${err}`)));
  });
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise<void>((done) => server.once('exit', () => done()));
  server.kill('SIGTERM');
  const hard = setTimeout(() => server.kill('SIGKILL'), 20_000);
  await gone;
  clearTimeout(hard);
}
