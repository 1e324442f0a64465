import type { Policy } from '../../policy/policy.js';
import { type Slicing, slicingTogether } from '../../privacy/mechanism/record-class.js';
import { type TieKinds, tieKindOf, tieKinds } from './kinds.js';
import { type SlicingColumn, slicingsBefore, slicingsBy } from './slicing-column.js';

/**
 * Public columns of a policy by which costs are recorded, and the order of a sequence. Only if one row
 * is the secret: a person may have rows of several values, and an answer is recorded by its column.
 */
export function slicingsOf(policy: Policy, kinds: TieKinds = tieKinds): readonly SlicingColumn[] {
  const known = found.get(policy);
  if (known) return known;
  const { secret } = policy.protect;
  const orders = new Set(policy.dependence.flatMap((d) => tieKindOf(d, kinds).order?.(d) ?? []));
  // Known totals tie records of all values: a release about one week reveals something about others (policy/known/known.proof.md).
  const made =
    policy.known === undefined && (secret === 'row' || secret === 'step')
      ? [...policy.columns.values()].filter((c) => c.public || orders.has(c.name)).flatMap((c) => slicingsBy(c, policy))
      : [];
  found.set(policy, made);
  return made;
}
const found = new WeakMap<Policy, readonly SlicingColumn[]>();

/** Slicings by which costs are evaluated: each of these columns, and all of them jointly if there are several. */
export function readingsOf(policy: Policy): readonly Slicing[] {
  const each = slicingsOf(policy).map(({ slicing }) => slicing);
  return each.length > 1 ? [...each, slicingTogether(each)] : each;
}

/** Each of them by its name in version 0.2; empty where the name is the same. */
export function namesBefore(policy: Policy): ReadonlyMap<Slicing, Slicing> {
  const now = slicingsOf(policy);
  const each = now.map(({ slicing, column }) => [slicing, slicingsBefore(column, policy)[0]!.slicing] as const);
  if (each.every(([own, before]) => own === before)) return new Map();
  const together = [0, 1].map((k) => slicingTogether(each.map((pair) => pair[k]!)));
  return new Map([...each, ...(each.length > 1 ? [[together[0]!, together[1]!] as const] : [])]);
}
