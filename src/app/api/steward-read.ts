import { type Engine, type Snapshot, withSnapshot } from '../../data/engine/engine.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import type { Policy } from '../../policy/policy.js';
import { withClosing } from './open-handles.js';

/**
 * Unpaid reads of the protected rows, for the steward, who holds them anyway. Each text explains why its result must stay with the
 * steward, or what makes it public. docs/reference/unpaid-reads.md lists them.
 */
export const stewardReads = {
  init: 'Drafts a policy for whoever holds the file. Domains and bounds are marked unconfirmed until a person says that they are public.',
  'check --private': 'Prints exact figures for the steward and writes nothing. The plain check reads names of columns only.',
  attack: 'The result names records and is marked private.',
  'attack --stream': 'The result names persons and is marked private.',
  'learn network': 'The network is marked unpaid, or the steward declares the rows public.',
  'learn spread': 'The numbers are marked unpaid, or the steward declares the rows public.',
  'learn transitions': 'The matrix is marked unpaid, or the steward declares the rows public.',
  'plan --as-published': 'Judges a published mechanism on the protected rows; the figures are marked private.',
  'ties drawn': 'Declared ties are known to the adversary; where the policy hides them the service shows them to stewards only.',
  'stream --follow':
    'Looks at the length of the file and whether its last line has an end, to wait for the rest; the form of a file is visible.',
} as const;
export type StewardRead = keyof typeof stewardReads;

/** Only access to the rows without payment, for the steward: no account is charged, so no result may be published. */
export const readAsSteward = <T>(_read: StewardRead, engine: Engine, work: (data: Snapshot) => Promise<T>): Promise<T> =>
  withSnapshot(engine, work);

/** The same for the data of a policy while `work` runs; no ledger, so nothing can be paid for. */
export async function withStewardData<T>(
  read: StewardRead,
  file: string,
  work: (data: Snapshot, policy: Policy) => Promise<T>,
): Promise<T> {
  const policy = await readPolicy(file);
  const engine = await openEngine(policy);
  return withClosing(engine, () => readAsSteward(read, engine, (data) => work(data, policy)));
}
