import { Fault } from '../../base/errors.js';
import { compare, isPositive, negate, type Rational, rational, subtract, zero } from '../../base/exact/rational.js';
import { sha256 } from '../../base/platform/hash.js';
import { isAbsolute } from '../../base/platform/paths.js';
import { type TieKinds, tieKindOf, tieKinds } from '../../data/ties/kinds.js';
import { dataSource, hasOneSource, placeOfData } from '../../policy/data-source.js';
import type { Policy } from '../../policy/policy.js';
import {
  markedCost,
  type PrivacyCost,
  renameClasses,
  type SpentCosts,
  withoutZcdp,
} from '../../privacy/mechanism/privacy-cost.js';
import {
  boxIn,
  declaredMark,
  everyRecord,
  isSlice,
  isSliced,
  isSourceMark,
  type Mark,
  type RecordClass,
  type Slicing,
  sliced,
  sliceOfAll,
  slicingIn,
  sourceMark,
} from '../../privacy/mechanism/record-class.js';

/** Data that an account reads: its ties and known totals bound only the costs spent on it (sources.proof.md). */
export interface AccountSource {
  /** Second class under which every cost is recorded. */
  readonly mark: Mark;
  /** Marks of costs that were spent on the same data: its own, and the one without tie relations. */
  readonly own: ReadonlySet<Mark>;
  /** False where all of the population's policies read one table, and their costs need no mark. */
  readonly isMarked: boolean;
  /** Costs without a mark were spent on this data: the population is named after its file. */
  readonly ownsUnmarked: boolean;
  /** True if bounds depend on ties or known totals of this data. */
  readonly isTied: boolean;
}

export function accountSource(policy: Policy, kinds: TieKinds = tieKinds): AccountSource {
  const data = digest([dataSource(policy)]);
  const relations = tieRelations(policy, kinds);
  const mark = relations.length === 0 ? sourceMark(data) : sourceMark(data, digest(relations));
  const one = hasOneSource(policy);
  return {
    mark,
    own: new Set([mark, sourceMark(data)]),
    isMarked: !one || relations.length > 0,
    ownsUnmarked: one,
    isTied: policy.protect.secret !== 'edge' && (policy.dependence.length > 0 || policy.known !== undefined),
  };
}

/** Tables that say who is tied to whom, sorted. */
const tieRelations = (policy: Policy, kinds: TieKinds): readonly string[] =>
  policy.dependence
    .flatMap((d) => policy.relations.get(tieKindOf(d, kinds).relation?.(d).name ?? '') ?? [])
    .map(({ name, table }) => JSON.stringify([name, isAbsolute(table) ? placeOfData(table, policy) : table]))
    .sort();

const digest = (parts: readonly string[]): string => sha256(JSON.stringify(parts)).slice(0, 24);

/** Costs that are not known to be of this data, by the mark that would declare them so. */
type CostsElsewhere = ReadonlyMap<Mark, Rational>;

/**
 * Costs on other sources, each less what was declared of it. An entry has at most one source mark,
 * so no cost is in two of them, and a declaration about one source never offsets another.
 */
export function spentElsewhere({ perRecord }: PrivacyCost, { mark, own, ownsUnmarked }: AccountSource): CostsElsewhere {
  const undeclared = (name: Mark, cost: Rational) => [name, subtract(cost, perRecord.get(name) ?? zero)] as const;
  const { marked, unmarked } = bySource(perRecord);
  const others = marked.filter(([name]) => !own.has(name)).map(([name, cost]) => undeclared(declaredMark(mark, name), cost));
  const unknown = undeclared(declaredMark(mark), unmarked);
  return new Map([
    ...others.filter(([, cost]) => isPositive(cost)),
    ...(ownsUnmarked || compare(unknown[1], roundings) <= 0 ? [] : [unknown]),
  ]);
}

/** Costs by the source mark of their entries, and the rest of the total. */
function bySource(perRecord: PrivacyCost['perRecord']) {
  const marked = [...perRecord].filter((entry): entry is [Mark, Rational] => isSourceMark(entry[0]));
  const unmarked = marked.reduce((rest, [, cost]) => subtract(rest, cost), perRecord.get(everyRecord) ?? zero);
  return { marked, unmarked };
}
/** Running totals are rounded at 2^-256 separately: a difference below this is no cost. */
const roundings = rational(1n, 1n << 200n);

/** Marks that hold more than the total: one cost is in two of them, and nothing can be derived. */
const marksOverlap = ({ perRecord }: PrivacyCost): boolean => compare(bySource(perRecord).unmarked, negate(roundings)) < 0;

/** True if the bounds of an account cover everything that was spent. */
export const coversSources = (source: AccountSource, spent: SpentCosts): boolean =>
  !source.isTied ||
  [spent.pure, spent.zcdp].every((privacyCost) => !marksOverlap(privacyCost) && spentElsewhere(privacyCost, source).size === 0);

/** Whether part of the costs was spent on another file or table, and not declared to be on this data. */
export const spentOnOthers = (source: AccountSource, { pure, zcdp }: SpentCosts): boolean =>
  [pure, zcdp].some((privacyCost) =>
    [...spentElsewhere(privacyCost, source).keys()].some((name) => name !== declaredMark(source.mark)),
  );

const separateHint =
  'Give these records a population of their own: what is promised about both adds up. Or release everything from one file, others as tables: of it.';

/** Refusal where costs on another file or table, which count for every public value here, use up the budget. */
export const countedInFull = (counted: string, details: Readonly<Record<string, number>>): Fault =>
  new Fault(
    'BUDGET_EXCEEDED',
    `The budget does not allow this: ${inFull}, ${counted} (in epsilon, ties included).`,
    separateHint,
    {
      details,
    },
  );
export const inFull = 'costs on another file or table count for every value of the public columns here';

/** Refusal where costs were spent on data whose ties are not known here. */
export function otherSourceRefusal(source: AccountSource, spent: SpentCosts): Fault | undefined {
  if (coversSources(source, spent)) return undefined;
  const privacyCosts = [spent.pure, spent.zcdp];
  if (privacyCosts.some(marksOverlap)) return twiceMarked();
  const declare = '"fugu ledger POLICY same-data --reason TEXT"';
  return spentOnOthers(source, spent)
    ? new Fault(
        'BUDGET_EXCEEDED',
        'This account has spent on another file or table, whose ties are not known here.',
        `${separateHint} If it is the same data, moved: ${declare}.`,
      )
    : new Fault(
        'BUDGET_EXCEEDED',
        'This account has spent on data that is not on record, so its ties are not known.',
        `It was opened by an earlier version. If all of it was spent on this data, declare that: ${declare}.`,
      );
}

const twiceMarked = (): Fault =>
  new Fault(
    'BUDGET_EXCEEDED',
    'This account holds a declaration of an unreleased version, by which one cost was spent on two files.',
    'Give these records a population of their own: what is promised about both adds up.',
  );

/** Notes that declare all costs to be of this data: for each source the part not declared before. */
export function declaredOwn(source: AccountSource, { pure, zcdp }: SpentCosts): readonly PrivacyCost[] {
  if ([pure, zcdp].some(marksOverlap)) throw twiceMarked();
  return [pure, zcdp]
    .map((privacyCost) => markedCost(privacyCost.noise, spentElsewhere(privacyCost, source)))
    .filter(({ perRecord }) => perRecord.size > 0);
}

type Renames = ReadonlyMap<Slicing, Slicing>;

/** Costs that, recorded once more, let slices under the names of version 0.2 count as slices of this data. */
export const declaredSlices = (renames: Renames, spent: PrivacyCost): readonly PrivacyCost[] =>
  [renameClasses(spent, (name) => renamedSlice(name, renames))].filter(({ perRecord }) => perRecord.size > 0);

function renamedSlice(name: RecordClass, renames: Renames): RecordClass | undefined {
  if (isSliced(name)) {
    const now = renames.get(slicingIn(name));
    return now && sliced(now);
  }
  if (!isSlice(name)) return undefined;
  const { of, box } = boxIn(name);
  const now = renames.get(of);
  return now && sliceOfAll(now, box);
}

/** A cost as version 0.2 recorded it: without the data source in any name, and without the zCDP cost of pure noise. */
export const withoutSource = (privacyCost: PrivacyCost, renames: Renames): PrivacyCost =>
  renameClasses(withoutZcdp(privacyCost), (name) => (isSourceMark(name) ? undefined : (renamedSlice(name, renames) ?? name)));
