import { systemAnalyst } from '../../release/session/analyst.js';
import type { Service } from './service.js';

/** Sign-in code for the user who starts the service: steward by a token that is never shown, valid for a working week. */
export function stewardCode({ tokens, sessions }: Service): string {
  const name = systemAnalyst();
  const own = tokens.list().findLast((t) => t.role === 'steward' && t.name === name && !t.policies && tokens.isValid(t));
  return sessions.link((own ?? tokens.make({ name, role: 'steward', days: 7 }).token).id);
}
