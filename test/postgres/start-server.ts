import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Debian keeps each version in a folder of its own. */
function programs(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  const paths = [...folders.map((v) => join(versions, v, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return paths.find((path) => existsSync(join(path, 'initdb')) && existsSync(join(path, 'pg_ctl')));
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

const root = process.getuid?.() === 0;
/** By its place: not everybody who is root has it on their path. */
const runuser = ['/usr/sbin/runuser', '/sbin/runuser', '/usr/bin/runuser'].find((path) => existsSync(path));
export const isInstalled = (): boolean => programs() !== undefined && (!root || runuser !== undefined);

/** A server of PostgreSQL on a free port of this machine, in a folder of its own. */
export interface Started {
  readonly port: number;
  /** The password of its superuser, "owner". */
  readonly owner: string;
  readonly certificate?: string;
  readonly folder: string;
  /** Without a word to anybody, as when the machine goes down. */
  readonly kill: () => void;
  /** After that. */
  readonly startAgain: () => void;
  /** A program of the server, run by a user other than root. */
  readonly run: (program: string, ...words: string[]) => Buffer;
  readonly remove: () => void;
}

export async function startServer(settings: readonly string[]): Promise<Started> {
  const bin = programs()!;
  const folder = mkdtempSync(join(tmpdir(), 'fugu-postgres-'));
  const data = join(folder, 'data');
  // A server does not run as root.
  const run = (program: string, ...words: string[]) =>
    root
      ? execFileSync(runuser!, ['-u', 'postgres', '--', join(bin, program), ...words], { cwd: folder, stdio: 'pipe' })
      : execFileSync(join(bin, program), words, { cwd: folder, stdio: 'pipe' });
  const own = (path: string) => {
    if (!root) return;
    const { uid, gid } = statSync(execFileSync('getent', ['passwd', 'postgres']).toString().split(':')[5]!);
    chownSync(path, uid, gid);
  };
  own(folder);
  const owner = '0wner-of-all';
  const secret = join(folder, 'password');
  writeFileSync(secret, owner);
  own(secret);
  const initdb = (...words: string[]) =>
    run('initdb', '-D', data, '-U', 'owner', '-A', 'scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8', '-N', ...words);
  try {
    // In a language's own order, which is not that of code points.
    initdb('--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US');
  } catch {
    rmSync(data, { recursive: true, force: true });
    initdb('--locale=C.UTF-8');
  }
  const certificate = join(folder, 'server.crt');
  let tls: string[] = [];
  try {
    const key = join(folder, 'server.key');
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate], // biome-ignore format: one line
      { stdio: 'pipe' },
    );
    chmodSync(key, 0o600);
    chmodSync(certificate, 0o644);
    own(key);
    tls = ['-c', 'ssl=on', '-c', `ssl_cert_file=${certificate}`, '-c', `ssl_key_file=${key}`];
  } catch {
    // Without openssl the test of encryption is not run.
  }
  chmodSync(folder, 0o755);
  const port = await freePort();
  const options = ['-p', `${port}`, '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`];
  const all = [...options, ...settings.flatMap((setting) => ['-c', setting]), ...tls].join(' ');
  const startAgain = () => void run('pg_ctl', '-D', data, '-w', '-l', join(data, 'log'), '-o', all, 'start');
  startAgain();
  // Killing these tests leaves no server behind.
  const stop = `${root ? `${runuser} -u postgres -- ` : ''}${join(bin, 'pg_ctl')} -D ${data} -m immediate stop; rm -rf ${folder}`;
  const watch = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; [ -d ${folder} ] && { ${stop}; }`;
  spawn('sh', ['-c', watch], { detached: true, stdio: 'ignore' }).unref();
  const kill = () => void run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
  return {
    port,
    owner,
    ...(tls.length > 0 && { certificate }),
    folder,
    kill,
    startAgain,
    run,
    remove: () => {
      try {
        kill();
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
