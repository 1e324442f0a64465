import { Fault } from '../../base/errors.js';
import { dirname, join, resolve } from '../../base/platform/paths.js';

/**
 * Folders of a service: tokens, log, files sent by stewards, policies made of them, and the registry of data with a budget; next
 * to the first policy by default.
 */
export function serviceFolders(
  policy: string,
  given: { readonly tokens?: string; readonly log?: string; readonly name?: string } = {},
): {
  readonly tokens: string;
  readonly log: string;
  readonly drafts: string;
  readonly made: string;
  readonly registry: string;
} {
  const { name = 'service' } = given;
  if (!/^[\w-]{1,60}$/.test(name))
    throw new Fault('USAGE', 'The name of a service is letters, digits, - and _.', 'Use for example --name second.');
  const policyFolder = dirname(resolve(policy));
  return {
    tokens: resolve(given.tokens ?? join(policyFolder, 'fugu-tokens')),
    drafts: join(policyFolder, 'fugu-drafts'),
    made: join(policyFolder, 'fugu-policies'),
    registry: join(policyFolder, 'fugu-known-data'),
    log: join(resolve(given.log ?? join(policyFolder, 'fugu-log')), name),
  };
}
