import { Fault } from '../../base/errors.js';
import { readFileSync } from '../../base/platform/files.js';
import { userInfo } from '../../base/platform/host.js';
import type { DatabaseAddress } from '../../policy/address.js';

/**
 * User name for a server: from the address, the environment, or the operating
 * system, which has no name for every user (as in many containers).
 */
export function userName(given: string | undefined, variable: 'PGUSER' | 'TRINO_USER'): string {
  const found = given ?? process.env[variable];
  if (found !== undefined) return found;
  try {
    return userInfo().username;
  } catch {
    throw new Fault(
      'ACCESS_DENIED',
      'Nobody says as which user to enter the database, and this process has no user name of its own.',
      `Name the user in the address (${variable === 'PGUSER' ? 'postgres' : 'trino'}://reader@host/…), or set ${variable}.`,
    );
  }
}

interface TlsOptions {
  readonly ca?: string;
  readonly rejectUnauthorized?: boolean;
  readonly checkServerIdentity?: () => undefined;
}

/** As the mode demands; undefined without encryption. */
export function tlsOptions({ tls, rootCertificate }: Pick<DatabaseAddress, 'tls' | 'rootCertificate'>): TlsOptions | undefined {
  if (tls === 'disable') return undefined;
  const ca = rootCertificate === undefined ? {} : { ca: certificate(rootCertificate) };
  if (tls === 'verify-full') return ca;
  const anyName = { ...ca, checkServerIdentity: () => undefined };
  return tls === 'verify-ca' ? anyName : { ...anyName, rejectUnauthorized: rootCertificate !== undefined };
}

function certificate(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault('DATA_NOT_FOUND', 'The certificate that data.source names cannot be read.', 'Check sslrootcert.', {
      place: { file },
    });
  }
}

/** Codes of the system for a server that cannot be reached, and for encryption that fails or cannot be trusted. */
export const unreachable = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/;
export const untrusted = /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME_MISMATCH)/;
