import { Fault } from '../../base/errors.js';
import { userInfo } from '../../base/platform/host.js';

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
