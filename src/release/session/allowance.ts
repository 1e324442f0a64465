import { Fault } from '../../base/errors.js';
import type { Rational } from '../../base/exact/rational.js';
import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { RecordClass } from '../../privacy/mechanism/record-class.js';
import type { RequestReading } from '../accountant/request-reading.js';
import { type RouteAllowance, routeAllowance, selectionOfPart, type TouchedPart } from '../accountant/route-allowance.js';
import { type AccountBalance, chooseShare, epsilonText, fittingShare, type SpendOptions } from '../accountant/share.js';
import { quotaFor } from './quota.js';
import type { ReleaseContext } from './release-context.js';

export interface Allowance extends RouteAllowance {
  readonly share: Rational;
  readonly epsilonText: string;
  readonly fresh: boolean;
  readonly spent: AccountBalance;
  readonly reading: RequestReading;
}
/** Fields of a plan that come from its allowance. */
export const planFieldsOf = ({ share, spent, route, reading }: Allowance) => ({ share, spent, route, reading });

/** An analysis covers the definition of neighbouring data sets that it was proven for. */
export function refuseUnproven(policy: Policy, reading: RequestReading): void {
  if (isAddRemove(policy) && !reading.addRemove)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This analysis is proven for records that are replaced; this policy adds and removes them.',
      'Ask counts, sums, means, shares, histograms, cross tables or quantiles, or leave protect.neighbours out.',
    );
  if (policy.known && !reading.knownTotals)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This analysis is proven for one record that is replaced; beside known totals several change at once.',
      'Ask counts, sums, means, shares, histograms, cross tables, quantiles or workloads, or leave known out.',
    );
}

/** Records that a request depends on, and the costs spent before it. */
export interface TouchedRecords {
  readonly spent: AccountBalance;
  readonly record: RecordClass;
  readonly reading: RequestReading;
  readonly part?: TouchedPart | undefined;
}

/**
 * Allowance of a request that depends on every record of a class, per proven route: pure base epsilon,
 * and rho when delta allows it. What it reads decides which routes cover it.
 */
export function allowanceOf(
  context: ReleaseContext,
  options: SpendOptions & { readonly fresh?: boolean },
  { spent, record, reading, part }: TouchedRecords,
): Allowance {
  const { account } = context;
  const quota = quotaFor(context);
  const allowanceWith = (share: Rational) => routeAllowance(account, { spent, share, record, reading, quota, part });
  const requested = chooseShare(account, options, spent, selectionOfPart(part));
  const fitting =
    options.epsilon === undefined && !allowanceWith(requested).admitted
      ? fittingShare(requested, (share) => allowanceWith(share).admitted)
      : undefined;
  const share = fitting ?? requested;
  return {
    share,
    epsilonText: epsilonText(options),
    fresh: options.fresh === true,
    spent,
    reading,
    ...allowanceWith(share),
  };
}
