import { Fault } from '../../base/errors.js';
import type { Rational } from '../../base/exact/rational.js';
import { addsRemoves } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import { columnsIn, type RecordClass } from '../../privacy/mechanism/record-class.js';
import type { Reading } from '../accountant/reading.js';
import { type PartTouched, type RoomToSpend, roomFor } from '../accountant/room-to-spend.js';
import { type Asked, askedText, chooseShare, fittingShare, type Standing } from '../accountant/share.js';
import type { Desk } from './charge.js';
import { quotaFor } from './quota.js';

export interface Allowance extends RoomToSpend {
  readonly share: Rational;
  readonly asked: string;
  readonly fresh: boolean;
  readonly spent: Standing;
  readonly reading: Reading;
}
/** Fields of a plan that come from its allowance. */
export const toldOf = ({ share, spent, route, reading }: Allowance) => ({ share, spent, route, reading });

/** An analysis covers the definition of neighbouring data sets that it was proven for. */
export function refuseUnproven(policy: Policy, reading: Reading): void {
  if (addsRemoves(policy) && !reading.comesAndGoes)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This analysis is proven for records that are replaced; this policy adds and removes them.',
      'Ask counts, sums, means, shares, histograms, cross tables or quantiles, or leave protect.neighbours out.',
    );
  if (policy.known && !reading.together)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This analysis is proven for one record that is replaced; beside known totals several change at once.',
      'Ask counts, sums, means, shares, histograms, cross tables, quantiles or workloads, or leave known out.',
    );
}

/** Records that a request depends on, and the costs spent before it. */
interface Touched {
  readonly spent: Standing;
  readonly record: RecordClass;
  readonly reading: Reading;
  readonly part?: PartTouched;
}

/**
 * Allowance of a request that depends on every record of a class, per proven route: pure base epsilon,
 * and rho when delta allows it. What it reads decides which routes cover it.
 */
export function allowanceOf(
  desk: Desk,
  options: Asked & { readonly fresh?: boolean },
  { spent, record, reading, part }: Touched,
): Allowance {
  const { account } = desk;
  const quota = quotaFor(desk);
  const roomWith = (share: Rational) => roomFor(account, { spent, share, record, reading, quota, ...(part && { part }) });
  const asked = chooseShare(
    account,
    options,
    spent,
    part && new Map(columnsIn(part.slicing).map((column, k) => [column, part.values[k]!])),
  );
  const fitting =
    options.epsilon === undefined && !roomWith(asked).admitted
      ? fittingShare(asked, (share) => roomWith(share).admitted)
      : undefined;
  const share = fitting ?? asked;
  return {
    share,
    asked: askedText(options),
    fresh: options.fresh === true,
    spent,
    reading,
    ...roomWith(share),
  };
}
