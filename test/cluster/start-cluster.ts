import { execFileSync, spawn } from 'node:child_process';
import { pbkdf2Sync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPrograms, type Programs } from './archives.js';

/** Addresses of a coordinator and a worker. */
export interface Cluster {
  readonly port: number;
  /** With a password, and the certificate to know it by. */
  readonly tls?: { readonly port: number; readonly certificate: string; readonly password: string };
  readonly iceberg: boolean;
  /** Run by a shell with the number of a port, it starts one more worker, which knows generated tables and nothing else and so starts quickly. */
  readonly victim: string;
  readonly folder: string;
}
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

const properties = (lines: Record<string, string | number>): string =>
  `${Object.entries(lines)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n')}\n`;

/** Only the catalog of generated tables. */
function few(folder: string, { plugins }: Programs): string {
  const own = join(folder, 'plugins');
  mkdirSync(own);
  for (const name of readdirSync(plugins)) if (name.includes('tpch')) symlinkSync(join(plugins, name), join(own, name));
  return own;
}

/** Everything one node needs to know, in a folder of its own; a line for a shell that starts it. */
function node(
  folder: string,
  name: string,
  programs: Programs,
  config: Record<string, string | number>,
  ...more: readonly string[]
): string {
  const own = join(folder, name);
  const catalogs = join(own, 'etc', 'catalog');
  mkdirSync(catalogs, { recursive: true });
  writeFileSync(join(own, 'etc', 'config.properties'), properties({ 'plugin.dir': programs.plugins, ...config }));
  writeFileSync(join(own, 'etc', 'log.properties'), 'io.trino=WARN\nio.airlift=WARN\norg=WARN\n');
  if (programs.memory)
    writeFileSync(
      join(catalogs, 'memory.properties'),
      properties({ 'connector.name': 'memory', 'memory.max-data-per-node': '256MB' }),
    );
  writeFileSync(join(catalogs, 'tpch.properties'), properties({ 'connector.name': 'tpch' }));
  if (programs.iceberg)
    writeFileSync(
      join(catalogs, 'iceberg.properties'),
      properties({
        'connector.name': 'iceberg',
        'iceberg.catalog.type': 'TESTING_FILE_METASTORE',
        'hive.metastore.catalog.dir': 'local:///metastore',
        'fs.native-local.enabled': 'true',
        'local.location': join(folder, 'lake'),
      }),
    );
  mkdirSync(join(folder, 'lake', 'metastore'), { recursive: true });
  const flags = [
    '-Xmx2G',
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseParallelGC',
    '-XX:+ExitOnOutOfMemoryError',
    '-Djdk.attach.allowAttachSelf=true',
    '--add-opens=java.base/java.nio=ALL-UNNAMED',
    '-Dnode.environment=fugu',
    `-Dnode.id=${name}`,
    `-Dnode.data-dir=${join(own, 'data')}`,
    '-Dnode.internal-address=127.0.0.1',
    '-Dlog.levels-file=etc/log.properties',
    '-Dconfig=etc/config.properties',
    ...more,
  ];
  return `cd ${own} && exec ${programs.java} ${flags.join(' ')} -cp '${programs.libraries}/*' io.trino.server.TrinoServer >> ${own}/log 2>&1 < /dev/null`;
}

/** The owner of the tables may do everything; others may read the tables they are granted. */
const rules = {
  catalogs: [
    { user: 'owner', allow: 'all' },
    { catalog: '(memory|tpch|iceberg|system)', allow: 'read-only' },
  ],
  tables: [
    { user: 'owner', privileges: ['SELECT', 'INSERT', 'DELETE', 'UPDATE', 'OWNERSHIP', 'GRANT_SELECT'] },
    { table: 'hidden.*', privileges: [] },
    { privileges: ['SELECT'] },
  ],
};

/** Starts a coordinator and a worker on free ports of this machine; or a sentence that names what is missing. */
export async function startCluster(): Promise<(Cluster & { readonly seconds: number; readonly stop: () => void }) | string> {
  const programs = findPrograms();
  if (typeof programs === 'string') return programs;
  const folder = mkdtempSync(join(tmpdir(), 'fugu-cluster-'));
  const [port, worker, tlsPort] = [await freePort(), await freePort(), await freePort()];
  const tls = certificate(folder);
  const secret = 'nobody-else-knows';
  const common = {
    'discovery.uri': `http://127.0.0.1:${port}`,
    'internal-communication.shared-secret': secret,
    'query.remote-task.max-error-duration': '10s',
    'query.max-memory-per-node': '300MB',
    'memory.heap-headroom-per-node': '200MB',
    'catalog.management': 'static',
    'node-scheduler.include-coordinator': 'true',
  };
  const password = 'reader-s3cret';
  const lines = {
    coordinator: node(folder, 'coordinator', programs, {
      ...common,
      coordinator: 'true',
      'http-server.http.port': port,
      'query.min-expire-age': '5s',
      'failure-detector.heartbeat-interval': '500ms',
      ...(tls && {
        'http-server.https.enabled': 'true',
        'http-server.https.port': tlsPort,
        'http-server.https.keystore.path': tls.keystore,
        'http-server.authentication.type': 'PASSWORD',
        'http-server.authentication.allow-insecure-over-http': 'true',
      }),
    }),
    worker: node(folder, 'worker', programs, { ...common, coordinator: 'false', 'http-server.http.port': worker }),
    victim: node(
      folder,
      'victim',
      { ...programs, plugins: few(folder, programs), iceberg: false, memory: false },
      { ...common, coordinator: 'false' },
      '-Dhttp-server.http.port=$1',
      // A cluster takes one that has the id of another for that other, and goes on looking for it where that was.
      '-Dnode.id=victim-$1',
    ),
  };
  const etc = join(folder, 'coordinator', 'etc');
  writeFileSync(join(etc, 'rules.json'), JSON.stringify(rules));
  writeFileSync(
    join(etc, 'access-control.properties'),
    properties({ 'access-control.name': 'file', 'security.config-file': join(etc, 'rules.json') }),
  );
  const salt = Buffer.from('salt of a test');
  const hash = pbkdf2Sync(password, salt, 1000, 64, 'sha1').toString('hex');
  writeFileSync(join(etc, 'passwords'), `reader:1000:${salt.toString('hex')}:${hash}\n`);
  writeFileSync(
    join(etc, 'password-authenticator.properties'),
    properties({ 'password-authenticator.name': 'file', 'file.password-file': join(etc, 'passwords') }),
  );
  const starting = (name: keyof typeof lines): string => {
    const file = join(folder, `start-${name}`);
    writeFileSync(file, `(${lines[name]}) &\necho $! >> ${join(folder, 'pids')}\n`);
    return file;
  };
  const start = (file: string) => execFileSync('setsid', ['sh', file], { stdio: 'ignore' });
  const started = Date.now();
  start(starting('coordinator'));
  start(starting('worker'));
  const stop = () => {
    for (const pid of clusterProcesses(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  // Killing these tests leaves no cluster behind. Process ids are reused, so the command line of each is checked first.
  const own = `for p in $(cat ${folder}/pids); do grep -qs ${folder}/ /proc/$p/cmdline && kill -9 $p; done`;
  const watch = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; [ -d ${folder} ] && { ${own}; sleep 1; rm -rf ${folder}; }`;
  spawn('sh', ['-c', watch], { detached: true, stdio: 'ignore' }).unref();
  try {
    await nodes(port, 2);
  } catch (error) {
    console.log(readFileSync(join(folder, 'coordinator', 'log'), 'utf8').slice(-4000));
    stop();
    throw error;
  }
  return {
    port,
    ...(tls && { tls: { port: tlsPort, certificate: tls.certificate, password } }),
    iceberg: programs.iceberg,
    victim: starting('victim'),
    folder,
    seconds: Math.round((Date.now() - started) / 1000),
    stop,
  };
}

/** Processes of the cluster that still run, by the folder they were started with, because process ids are reused. */
export function clusterProcesses(folder: string, name = ''): readonly number[] {
  const started = readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number);
  return started.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(folder, name));
    } catch {
      return false;
    }
  });
}

/** A key and its certificate in one file, where openssl makes them. */
function certificate(folder: string): { certificate: string; keystore: string } | undefined {
  const [key, made, keystore] = ['server.key', 'server.crt', 'server.pem'].map((name) => join(folder, name)) as [string, string, string]; // biome-ignore format: one line
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', made], // biome-ignore format: one line
      { stdio: 'pipe' },
    );
  } catch {
    return undefined;
  }
  writeFileSync(keystore, `${readFileSync(key, 'utf8')}${readFileSync(made, 'utf8')}`);
  return { certificate: made, keystore };
}

/** Waits until so many nodes are at work. */
async function nodes(port: number, wanted: number, patience = 800_000): Promise<void> {
  const until = Date.now() + patience;
  let last: unknown;
  while (Date.now() < until) {
    try {
      const [[found]] = (await ask(port, "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'")) as [[number]];
      if (found >= wanted) return;
      last = `${found} nodes`;
    } catch (error) {
      last = error;
    }
    await new Promise((waited) => setTimeout(waited, 500));
  }
  throw new Error(`the cluster did not start: ${String(last)}`);
}

/** Adds a worker on a port that is free now: minutes may have passed since the others started. Waits until the cluster uses it. */
export async function startVictim({ port, victim, folder }: Cluster): Promise<void> {
  const own = await freePort();
  execFileSync('setsid', ['sh', victim, `${own}`], { stdio: 'ignore' });
  try {
    await ready(own);
    await nodes(port, 3);
  } catch (error) {
    console.log(readFileSync(join(folder, 'victim', 'log'), 'utf8').slice(-4000));
    throw error;
  }
}

/** Kills the coordinator; the caller waits for the next with `coordinatorBack`. Tables in its memory are lost. */
export function killCoordinator({ folder }: Cluster): void {
  for (const pid of clusterProcesses(folder, 'coordinator')) process.kill(pid, 'SIGKILL');
}
export async function coordinatorBack({ port, folder }: Cluster): Promise<void> {
  execFileSync('setsid', ['sh', join(folder, 'start-coordinator')], { stdio: 'ignore' });
  await nodes(port, 2);
}

/** Restarts all nodes: a worker keeps tables in memory by numbers that a fresh coordinator assigns again. */
export async function startAnew({ port, folder }: Cluster): Promise<void> {
  for (const pid of clusterProcesses(folder)) process.kill(pid, 'SIGKILL');
  for (const name of ['coordinator', 'worker'])
    execFileSync('setsid', ['sh', join(folder, `start-${name}`)], { stdio: 'ignore' });
  await nodes(port, 2);
}

/** Waits until the node at a port is ready to work. */
async function ready(port: number, patience = 800_000): Promise<void> {
  const until = Date.now() + patience;
  for (;;) {
    const info = await fetch(`http://127.0.0.1:${port}/v1/info`).then((response) => response.json()).catch(() => undefined); // biome-ignore format: one line
    if ((info as { starting?: boolean } | undefined)?.starting === false) return;
    if (Date.now() > until) throw new Error('the node did not start');
    await new Promise((waited) => setTimeout(waited, 300));
  }
}

/** Runs as the owner of all tables: for test set-up, and for checks on the server from outside. */
export async function ask(port: number, sql: string, user = 'owner'): Promise<readonly unknown[][]> {
  const headers = { 'x-trino-user': user, 'x-trino-source': 'test' };
  let page = await read(await fetch(`http://127.0.0.1:${port}/v1/statement`, { method: 'POST', body: sql, headers }));
  const rows: unknown[][] = [...(page.data ?? [])];
  while (page.nextUri) {
    page = await read(await fetch(page.nextUri, { headers }));
    rows.push(...(page.data ?? []));
  }
  if (page.error) throw Object.assign(new Error(page.error.message), { code: page.error.errorName });
  return rows;
}
interface Page {
  readonly nextUri?: string;
  readonly data?: unknown[][];
  readonly error?: { readonly message: string; readonly errorName: string };
}
const read = async (response: Response): Promise<Page> => {
  if (!response.ok) throw new Error(`status ${response.status}`);
  return (await response.json()) as Page;
};
