import { toText } from '../exact/rational.js';
import type { Adversary, SecretKind } from '../policy/policy.js';
import { accountDoubts } from '../policy/population.js';
import { type Explanation, explain } from '../terms/explain.js';
import { openEngine } from '../terms/open.js';
import { readPolicy } from '../terms/read.js';
import { type FileName, faulting, fileNamed } from './door.js';

/** What a policy declares, checked against its data, in plain words. */
export interface CheckedPolicy {
  readonly policy: string;
  /** False while domains that were read from the data are not confirmed. */
  readonly ready: boolean;
  readonly population: string;
  readonly ledger: string;
  readonly secret: SecretKind;
  readonly adversary: Adversary;
  readonly epsilon: string;
  readonly delta: string;
  readonly columns: number;
  readonly unconfirmed: readonly string[];
  readonly digest: string;
  readonly explanation: readonly Explanation[];
  readonly warnings: readonly string[];
}

/**
 * Says what a policy protects, and from whom, and proves that its data can be read and has the columns it speaks of.
 *
 * @example
 * const { ready, explanation } = await checkPolicy('policy.yaml');
 * console.log(ready, explanation[0].text);
 */
export async function checkPolicy(policy: FileName): Promise<CheckedPolicy> {
  return faulting(async () => {
    const read = await readPolicy(fileNamed(policy, 'The policy'));
    await (await openEngine(read)).close();
    return {
      policy: read.file,
      ready: read.unconfirmed.length === 0,
      population: read.population,
      ledger: read.ledger,
      secret: read.protect.secret,
      adversary: read.protect.adversary,
      epsilon: toText(read.budget.epsilon),
      delta: toText(read.budget.delta),
      columns: read.columns.size,
      unconfirmed: read.unconfirmed,
      digest: read.digest,
      explanation: explain(read),
      warnings: await accountDoubts(read),
    };
  });
}
