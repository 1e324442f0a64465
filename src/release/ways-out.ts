import { type Account, openAccount, usedShare } from '../accounting/account.js';
import { chooseNoise } from '../accounting/choose.js';
import { compare, isPositive, isZero, multiply, one, type Rational, rational, subtract, toNumber } from '../exact/rational.js';
import { inDoubles } from '../mechanism/law.js';
import type { Spent } from '../mechanism/profile.js';
import type { Policy } from '../policy/policy.js';
import { bindBatch } from '../query/bind.js';
import type { Batch } from '../query/query.js';
import { worstCount } from './warnings.js';

/** What would have to change for an answer worth having, and how wrong it would then be. */
export interface WayOut {
  readonly change: string;
  /** The largest 95 % error of a count. */
  readonly error: number;
}

interface Stuck {
  readonly policy: Policy;
  readonly account: Account;
  readonly spent: Spent;
  readonly share: Rational;
  readonly batch: Batch;
  readonly fits: boolean;
}

/** Beyond this a larger epsilon is no way out. */
const mostEpsilon = 10;
const usualDelta = rational(1, 1_000_000);

/** The three best ways out of a budget that is too small, by the error they leave. Worked out by the planner itself, from public numbers only. */
export function waysOut(stuck: Stuck): readonly WayOut[] {
  const { policy, account, batch } = stuck;
  const { epsilon, delta } = account;
  const many = batch.queries.length;
  const few = Math.max(1, Math.round(many / 10));
  const left = leftOf(account, stuck.spent);
  const written = (e: Rational, d: Rational) => `budget: {epsilon: ${toNumber(e)}${isZero(d) ? '' : `, delta: ${toNumber(d)}`}}`;
  const under = (e: Rational, d: Rational) =>
    errorOf(
      stuck,
      batch.queries,
      openAccount({ ...policy, budget: { ...policy.budget, epsilon: e, delta: d } }, amplifiersOf(account)),
    );
  const twice = multiply(epsilon, rational(2));
  const ways: (WayOut | undefined)[] = [
    stuck.fits
      ? undefined
      : way(`ask for what is left: --epsilon ${downTo(multiply(left, epsilon))}`, errorOf(stuck, batch.queries, account)),
    many > 1
      ? way(`ask fewer questions at once, ${few} of the ${many}`, errorOf(stuck, batch.queries.slice(0, few), account))
      : undefined,
    isZero(delta) ? way(`allow a delta: ${written(epsilon, usualDelta)}`, under(epsilon, usualDelta)) : undefined,
    toNumber(twice) <= mostEpsilon ? way(`allow a larger epsilon: ${written(twice, delta)}`, under(twice, delta)) : undefined,
  ];
  return ways
    .filter((w) => w !== undefined)
    .sort((a, b) => a.error - b.error)
    .slice(0, 3);
}

const way = (change: string, error: number | undefined): WayOut | undefined =>
  error === undefined || !Number.isFinite(error) ? undefined : { change, error };

const leftOf = (account: Account, spent: Spent): Rational => subtract(one, usedShare(account, spent));
const amplifiersOf = ({ routes }: Account) => [...new Set(routes.map(({ amplifier }) => amplifier))];
/** As people type it, and never more than it is. */
const downTo = (x: Rational): number => Math.floor(toNumber(x) * 1e6) / 1e6;

/** With the share that was asked for where that fits, else with all that is left. */
function errorOf({ policy, spent, share, fits }: Stuck, queries: Batch['queries'], account: Account): number | undefined {
  const left = leftOf(account, spent);
  const part = fits && compare(share, left) < 0 ? share : left;
  if (!isPositive(part)) return undefined;
  const { measures, foresee } = bindBatch({ queries }, policy);
  const best = chooseNoise(measures, account, part, spent).find((plan) => plan.fits);
  return best && worstCount(foresee(best.mechanisms.map(({ law }) => inDoubles(law))))?.halfWidth;
}
