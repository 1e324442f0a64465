import { Fault } from '../../base/errors.js';
import { add, compare, one, type Rational } from '../../base/exact/rational.js';
import { type Allotment, pure as pureOf, zcdp } from '../../privacy/mechanism/allotment.js';
import { nothingSpent, type Profile, spend } from '../../privacy/mechanism/profile.js';
import { columnsIn, type RecordClass, type Slicing } from '../../privacy/mechanism/record-class.js';
import type { Values } from '../../privacy/mechanism/slices.js';
import { type Account, costOf, decidingNoise, type Quota, type Route, spentUnder, usedShare } from './account.js';
import { type About, aboutEverybody, roomBySlice } from './by-slice.js';
import { amountWithin, movedBy } from './moved.js';
import { meets, type Reading } from './reading.js';
import { changesQuotas, costsMoreBeside, mostSpendable, roomsUnder, spendable } from './room.js';
import { refusalOf, type Standing } from './share.js';
import { coversSources } from './sources.js';

/** Budget that a share allows one record, by the route that proves it. */
export interface RoomToSpend {
  readonly route: Route;
  /** Base epsilon one record may spend on pure noise. */
  readonly pure?: Allotment;
  /** rho one record may spend on Gaussian noise. */
  readonly rho?: Allotment;
  /** After pure noise later questions could use Gaussian noise only by paying more for what was released before. */
  readonly closes?: true;
  /** Reason why pure noise is not offered although something remains. */
  readonly whyNoPure?: Fault;
  /** True if the ledger would admit either. */
  readonly admitted: boolean;
}

export interface Sharing {
  readonly spent: Standing;
  readonly share: Rational;
  /** Record class that the request depends on. */
  readonly record: RecordClass;
  /** Decides which routes cover it. */
  readonly reading: Reading;
  /** Quota of the payer. */
  readonly quota: Quota | undefined;
  /** Values of public columns that it depends on, where its cost is recorded by them. */
  readonly part?: PartTouched;
}

export interface PartTouched {
  readonly slicing: Slicing;
  /** One entry for each of its columns. */
  readonly values: readonly Values[];
  /** Cost recorded when records of these values spend all of a budget share; other records may pay more. */
  readonly cost: (allotment: Allotment) => Profile;
}

export function roomFor(account: Account, asked: Sharing): RoomToSpend {
  const { spent, share, record, reading, quota, part } = asked;
  const about = part && aboutPart(part);
  // Costs spent on other data are refused with a reason of their own.
  const before = coversSources(account.source, spent) ? spent : nothingSpent;
  const target = add(usedShare(account, before, about), share);
  const decides = decidingNoise(account, before, about);
  const speaking = account.routes.filter(
    (r) => r.amplifier.scope(record) && !r.amplifier.factoredOnly && spentUnder(r, spent) !== undefined,
  );
  const met = (r: Route, noise: Profile['noise']) => r.conditions.every((c) => meets(c, noise, reading));
  const moved = movedBy(account, before, about ?? aboutEverybody);
  const costs = (allotment: Allotment) => part?.cost(allotment) ?? costOf(allotment, [record]);
  const booked = (allotment: Allotment) => account.book(costs(allotment), reading);
  // A request above the remaining budget is planned in full, and refused.
  const within = (route: Route, allotment: Allotment) => {
    const most = (amount: Rational) => moved.most(booked({ ...allotment, amount }));
    const amount = moved.alone || compare(target, one) > 0 ? allotment.amount : amountWithin(allotment.amount, share, most);
    return amount ? [{ route, allotment: { ...allotment, amount } }] : [];
  };
  const rooms = speaking.flatMap((route) => {
    const room = part ? [roomBySlice(route, before, { ...part, target })] : roomsUnder(route, before, target);
    const { pure, rho } = mostSpendable(room.map((r) => spendable(account, route, r, { share, target, spent: before, decides })));
    return [
      ...(pure && met(route, 'pure') ? within(route, pureOf(pure)) : []),
      ...(rho && met(route, 'zcdp') ? within(route, zcdp(rho)) : []),
    ];
  });
  const routes = speaking.filter((r) => met(r, 'pure'));
  const refused = () =>
    costsMoreBeside(account, spent, { routes, ...(about && { about }) }) ??
    moved.refusal() ??
    changesQuotas(account, spent, about);
  const beside = rooms.length === 0 && refused();
  if (beside) throw beside;
  // If neither kind of noise fits, both are planned and refused with a reason; if one fits, the other is not offered.
  const most = (noise: Profile['noise']) =>
    rooms
      .filter(({ allotment }) => allotment.noise === noise)
      .reduce<(typeof rooms)[number] | undefined>(
        (best, r) => (best && compare(best.allotment.amount, r.allotment.amount) >= 0 ? best : r),
        undefined,
      );
  const possible = [most('pure'), most('zcdp')].filter((r) => r !== undefined);
  const fitting = possible.filter(({ allotment }) => !refusalOf(account, quota, spent, costs(allotment), reading));
  const given = fitting.length > 0 ? fitting : possible;
  const route = (given.find(({ allotment }) => allotment.noise === 'zcdp') ?? given[0])?.route ?? speaking[0];
  if (!route)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'No proven route covers this kind of release under this policy.',
      'Check protect: and dependence: in the policy.',
    );
  const of = (noise: Profile['noise']) => given.find(({ allotment }) => allotment.noise === noise);
  const [pure, rho] = [of('pure'), of('zcdp')];
  const whyNoPure = pure ? undefined : refused();
  const closes = pure && moved.isClosed(spend(spent, booked(pure.allotment)));
  return {
    route,
    ...(pure && { pure: pure.allotment }),
    ...(rho && { rho: rho.allotment }),
    ...(closes && { closes }),
    ...(whyNoPure && { whyNoPure }),
    admitted: fitting.length > 0,
  };
}

const aboutPart = ({ slicing, values }: PartTouched): About =>
  new Map(columnsIn(slicing).map((column, k) => [column, values[k]!]));
