import { dirname, join, resolve } from 'node:path';
import { Fault } from '../../base/errors.js';

/**
 * Folders of a service: tokens, log, files sent by stewards, policies made of them, and the registry of data with a budget; next
 * to the first policy by default.
 */
export function placesOf(
  policy: string,
  said: { readonly tokens?: string; readonly log?: string; readonly name?: string } = {},
): {
  readonly tokens: string;
  readonly log: string;
  readonly drafts: string;
  readonly made: string;
  readonly registry: string;
} {
  const { name = 'service' } = said;
  if (!/^[\w-]{1,60}$/.test(name))
    throw new Fault('USAGE', 'The name of a service is letters, digits, - and _.', 'Use for example --name second.');
  const beside = dirname(resolve(policy));
  return {
    tokens: resolve(said.tokens ?? join(beside, 'fugu-tokens')),
    drafts: join(beside, 'fugu-drafts'),
    made: join(beside, 'fugu-policies'),
    registry: join(beside, 'fugu-known-data'),
    log: join(resolve(said.log ?? join(beside, 'fugu-log')), name),
  };
}
