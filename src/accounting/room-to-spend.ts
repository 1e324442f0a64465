import { Fault } from '../errors.js';
import { compare, isPositive, multiply, type Rational, zero } from '../exact/rational.js';
import { type Allotment, pureInside, pure as pureOf, zcdp } from '../mechanism/allotment.js';
import type { RecordClass, Slicing } from '../mechanism/record-class.js';
import type { Values } from '../mechanism/slices.js';
import { type Account, costOf, isPlain, type Quota, type Route, spentUnder } from './account.js';
import { roomOn } from './by-slice.js';
import { meets, type Reading } from './reading.js';
import { refusalOf, type Standing } from './share.js';

/** What a share of the budget allows one record, by the route that proves it. */
export interface RoomToSpend {
  readonly route: Route;
  /** Base epsilon one record may spend on pure noise. */
  readonly pure?: Allotment;
  /** rho one record may spend on Gaussian noise. */
  readonly rho?: Allotment;
  /** Whether the ledger would take either. */
  readonly admitted: boolean;
}

export interface Sharing {
  readonly spent: Standing;
  readonly share: Rational;
  /** The class of records that the request touches. */
  readonly record: RecordClass;
  /** Decides which routes speak about it. */
  readonly reading: Reading;
  /** What whoever asks may spend. */
  readonly quota: Quota | undefined;
  /** The values of public columns that it touches, where it is booked by them. */
  readonly part?: PartTouched;
}

export interface PartTouched {
  readonly slicing: Slicing;
  /** One entry for each of its columns. */
  readonly values: readonly Values[];
  /** What it is booked under: the same for each, where the noise is fitted to these values. */
  readonly classes: readonly RecordClass[];
}

export function roomFor(account: Account, { spent, share, record, reading, quota, part }: Sharing): RoomToSpend {
  const speaking = account.routes.filter(
    (r) =>
      r.amplifier.scope(record) &&
      !r.amplifier.factoredOnly &&
      r.conditions.every((c) => meets(c, 'zcdp', reading)) &&
      spentUnder(r, spent) !== undefined,
  );
  // The first amplifier that speaks about it, by whichever of its routes allows most Gaussian noise.
  const most = (r: Route) => r.gaussian?.capacity ?? zero;
  const route = speaking
    .filter((r) => r.amplifier === speaking[0]?.amplifier)
    .reduce<Route | undefined>((best, r) => (best && compare(most(best), most(r)) >= 0 ? best : r), undefined);
  if (!route)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'No proven route covers this kind of release under this policy.',
      'Check protect: and dependence: in the policy.',
    );
  const onlyPure = spent.zcdp.perRecord.size === 0;
  const rho = route.gaussian && multiply(route.gaussian.capacity, share);
  const capacity = part ? roomOn(route, part.slicing, part.values) : route.pureCapacity;
  const pure = onlyPure ? multiply(capacity, share) : rho && isPlain(route) ? pureInside(rho) : undefined;
  const possible = { ...(pure && isPositive(pure) && { pure: pureOf(pure) }), ...(rho && isPositive(rho) && { rho: zcdp(rho) }) };
  // A kind of noise that the ledger would not take, beside what was spent, is no room where another kind is.
  const admits = (allotment: Allotment) =>
    !refusalOf(account, quota, spent, costOf(allotment, part?.classes ?? [record]), reading);
  const admitted = {
    ...(possible.pure && admits(possible.pure) && { pure: possible.pure }),
    ...(possible.rho && admits(possible.rho) && { rho: possible.rho }),
  };
  // What fits nowhere is planned all the same, and refused with its reason.
  const fits = admitted.pure !== undefined || admitted.rho !== undefined;
  return { route, admitted: fits, ...(fits ? admitted : possible) };
}
