import { isAbsolute, resolve } from 'node:path';
import { Fault } from '../errors.js';

/** A database that is asked over the network. What lets somebody in stands in the environment, never in an address: policies are shown around. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user?: string;
  /** As in libpq: encrypted or not, and whether the server must show whose it is. */
  readonly tls: TlsMode;
  readonly rootCertificate?: string;
}
const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof modes)[number];

const scheme = /^([a-z][a-z0-9+.-]+):\/\//i;
export const schemeOf = (source: string): string | undefined => scheme.exec(source)?.[1]?.toLowerCase();
export const isDatabase = (source: string): boolean => /^postgres(ql)?$/.test(schemeOf(source) ?? '');

const form = 'Write it like postgres://reader@host:5432/town, with the table in data.table.';
const wrong = (message: string, hint = form) => new Fault('POLICY_INVALID', message, hint);
const local = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

export function readAddress(source: string): DatabaseAddress {
  let url: URL;
  try {
    url = new URL(source);
  } catch {
    throw wrong('The address of the database cannot be read.');
  }
  const said = new Map(url.searchParams);
  if (url.password !== '' || said.has('password'))
    throw wrong(
      'The address of the database holds a password.',
      'Take it out: a policy is no place for it. Set PGPASSWORD, or write it into ~/.pgpass.',
    );
  const known = ['host', 'sslmode', 'sslrootcert'];
  const unknown = [...said.keys()].find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw wrong(`The address of the database says "${unknown}", which is not known.`, `Known: ${known.join(', ')}.`);
  const host = (said.get('host') ?? decodeURIComponent(url.hostname)).toLowerCase();
  const database = decodeURIComponent(url.pathname.slice(1));
  if (host === '' || database === '' || database.includes('/')) throw wrong('The address names no host or no database.');
  const socket = said.get('host')?.startsWith('/') === true;
  const tls = said.get('sslmode') ?? (socket || local.has(host) ? 'disable' : 'verify-full');
  if (!modes.includes(tls as TlsMode))
    throw wrong(
      `The sslmode "${tls}" is not known, or may fall back to no encryption.`,
      'Use verify-full (what holds when nothing is said), verify-ca, require or disable.',
    );
  const root = said.get('sslrootcert');
  return {
    host: socket ? said.get('host')! : host.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 5432 : Number(url.port),
    database,
    ...(url.username !== '' && { user: decodeURIComponent(url.username) }),
    tls: tls as TlsMode,
    ...(root !== undefined && { rootCertificate: root }),
  };
}

/** Files that an address names are looked for beside the policy. */
export function addressFrom(source: string, directory: string): string {
  const { rootCertificate } = readAddress(source);
  if (rootCertificate === undefined || isAbsolute(rootCertificate)) return source;
  const url = new URL(source);
  url.searchParams.set('sslrootcert', resolve(directory, rootCertificate));
  return url.href;
}

/** One database under one name, whoever asks it and however: the same people have one budget. */
export function canonicalAddress(source: string): string {
  const { host, port, database } = readAddress(source);
  return `postgres://${encodeURIComponent(host)}:${port}/${encodeURIComponent(database)}`;
}
