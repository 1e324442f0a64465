import { Fault } from '../base/errors.js';
import { isAbsolute, resolve } from '../base/platform/paths.js';

interface Server {
  readonly host: string;
  readonly port: number;
  readonly user?: string;
  /** TLS modes as in libpq: whether the connection is encrypted, and whether the server must prove its identity. */
  readonly tls: TlsMode;
  readonly rootCertificate?: string;
}
/** Address of a networked database, without credentials: those come from the environment, because policies are shared. */
export interface DatabaseAddress extends Server {
  readonly database: string;
}
/** Schema of a cluster; the table may follow it. */
export interface ClusterAddress extends Server {
  readonly catalog: string;
  readonly schema: string;
  readonly table?: string;
}
const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof modes)[number];

const scheme = /^([a-z][a-z0-9+.-]+):\/\//i;
export const urlScheme = (source: string): string | undefined => scheme.exec(source)?.[1]?.toLowerCase();
const databases = { postgres: 'postgres', postgresql: 'postgres', trino: 'trino' } as const;
export type DatabaseScheme = (typeof databases)[keyof typeof databases];
/** Kind of the database at an address; undefined for a file. */
export const databaseOf = (source: string): DatabaseScheme | undefined =>
  Object.entries(databases).find(([own]) => own === urlScheme(source))?.[1];
export const isDatabase = (source: string): boolean => databaseOf(source) !== undefined;
export const isCluster = (source: string): boolean => databaseOf(source) === 'trino';

const forms = {
  database: {
    form: 'Write it like postgres://reader@host:5432/town, with the table in data.table.',
    secret: 'Set PGPASSWORD, or write it into ~/.pgpass.',
    known: ['host', 'sslmode', 'sslrootcert'],
  },
  cluster: {
    form: 'Write it like trino://reader@host:8443/catalog/schema, with the table behind it or in data.table.',
    secret: 'Set TRINO_PASSWORD.',
    known: ['sslmode', 'sslrootcert'],
  },
} as const;
const wrong = (message: string, hint: string) => new Fault('POLICY_INVALID', message, hint);
const local = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

export function readAddress(source: string): DatabaseAddress {
  const { form } = forms.database;
  const { url, said: parameters } = readUrl(source, forms.database);
  const socket = parameters.get('host')?.startsWith('/') === true;
  const host = parameters.get('host') ?? url.hostname;
  const database = decodeURIComponent(url.pathname.slice(1));
  if (host === '' || database === '' || database.includes('/')) throw wrong('The address names no host or no database.', form);
  return { ...readServer(url, parameters, host, socket), port: url.port === '' ? 5432 : Number(url.port), database };
}

/** Names of catalogs, schemas and tables have no case. */
export function readCluster(source: string): ClusterAddress {
  const { form } = forms.cluster;
  const { url, said: parameters } = readUrl(source, forms.cluster);
  const [catalog = '', schema = '', table, ...more] = url.pathname
    .slice(1)
    .split('/')
    .map((part) => decodeURIComponent(part).toLowerCase());
  if (url.hostname === '' || catalog === '' || schema === '' || table === '' || more.length > 0)
    throw wrong('The address names no host, no catalog or no schema.', form);
  const server = readServer(url, parameters, url.hostname);
  const usual = server.tls === 'disable' ? 8080 : 443;
  return { ...server, port: url.port === '' ? usual : Number(url.port), catalog, schema, ...(table !== undefined && { table }) };
}

function readUrl(source: string, { form, secret, known }: (typeof forms)[keyof typeof forms]) {
  let url: URL;
  try {
    url = new URL(source);
  } catch {
    throw wrong('The address of the database cannot be read.', form);
  }
  const parameters = new Map(url.searchParams);
  if (url.password !== '' || parameters.has('password'))
    throw wrong('The address of the database holds a password.', `Take it out: a policy is no place for it. ${secret}`);
  const unknown = [...parameters.keys()].find((key) => !(known as readonly string[]).includes(key));
  if (unknown !== undefined)
    throw wrong(`The address of the database says "${unknown}", which is not known.`, `Known: ${known.join(', ')}.`);
  return { url, said: parameters };
}

function readServer(url: URL, parameters: ReadonlyMap<string, string>, named: string, socket = false): Omit<Server, 'port'> {
  const host = socket ? named : decodeURIComponent(named).toLowerCase();
  const tls = parameters.get('sslmode') ?? (socket || local.has(host) ? 'disable' : 'verify-full');
  if (!modes.includes(tls as TlsMode))
    throw wrong(
      `The sslmode "${tls}" is not known, or may fall back to no encryption.`,
      'Use verify-full (what holds when nothing is said), verify-ca, require or disable.',
    );
  const root = parameters.get('sslrootcert');
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    ...(url.username !== '' && { user: decodeURIComponent(url.username) }),
    tls: tls as TlsMode,
    ...(root !== undefined && { rootCertificate: root }),
  };
}

/** Address with the certificate files it names resolved against the policy's folder. */
export function addressFrom(source: string, directory: string): string {
  const { rootCertificate } = isCluster(source) ? readCluster(source) : readAddress(source);
  if (rootCertificate === undefined || isAbsolute(rootCertificate)) return source;
  const url = new URL(source);
  url.searchParams.set('sslrootcert', resolve(directory, rootCertificate));
  return url.href;
}

/** Canonical name of a database, independent of user and connection options, so that the same people always share one budget. */
export function canonicalAddress(source: string): string {
  if (isCluster(source)) {
    const { host, port, catalog } = readCluster(source);
    return `trino://${encodeURIComponent(host)}:${port}/${encodeURIComponent(catalog)}`;
  }
  const { host, port, database } = readAddress(source);
  return `postgres://${encodeURIComponent(host)}:${port}/${encodeURIComponent(database)}`;
}

/**
 * Canonical name of a table in a database: `people` and `public.people` are equal, or `people` and the connection's own schema.
 */
export function tableIn(source: string, table: string): string {
  if (!isCluster(source)) return table.replace(/^public\./, '');
  return (table.includes('.') ? table : `${readCluster(source).schema}.${table}`).toLowerCase();
}
