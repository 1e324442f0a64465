import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { type Effects, effectOn } from '../../privacy/mechanism/effect.js';
import { everyRecord, type RecordClass, tuplesOf } from '../../privacy/mechanism/record-class.js';
import { ownerOf, ownsTuples, perOwner } from './owner.js';
import { perPerson } from './per-person.js';
import type { PatternAnalysis } from './query/analyse.js';
import { domainSize } from './query/lambda.js';
import { privateRelations } from './query/sensitivity.js';

/** Protected change of a pattern's records: the classes that pay, and the most one of their records moves the answer in any data. */
export type Hidden =
  /** One tuple of a private relation. */
  | (Moving & { readonly what: 'tuple' })
  /** All ties of a person. */
  | (Moving & { readonly what: 'person' })
  /** All tuples of a person, where each result is one person's, named by the symbol `owner`. */
  | (Moving & { readonly what: 'owner'; readonly owner: number });

interface Moving {
  readonly classes: readonly RecordClass[];
  readonly moves: bigint;
}

export const oneTuple = (a: PatternAnalysis): Hidden => ({
  what: 'tuple',
  classes: privateRelations(a.pattern).map((r) => tuplesOf(a.pattern.relations[r]!.name)),
  moves: a.bounds.globalSensitivity,
});
export const onePerson = (a: PatternAnalysis): Hidden => ({
  what: 'person',
  classes: [everyRecord],
  moves: perPerson(a, domainSize(a.pattern) - 1),
});
export const oneOwner = (a: PatternAnalysis, owner: number): Hidden => ({
  what: 'owner',
  classes: [everyRecord],
  moves: perOwner(a, owner) / a.divisor,
  owner,
});

/** An answer that nobody can move gets noise and is paid for like any other, because whether it is one depends on the data. */
export const effectsOf = ({ classes, moves }: Hidden): Effects => {
  const l1 = moves || 1n;
  return effectOn(classes, { l1, l2squared: l1 * l1 });
};

/** Secret of a policy in a pattern. */
export function hiddenIn(policy: Policy, a: PatternAnalysis): Hidden {
  return policy.protect.secret === 'person' ? personIn(policy, a) : oneTuple(a);
}

export function refuseOtherSecrets({ protect: { secret } }: Policy): void {
  if (secret !== 'edge' && secret !== 'person')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Patterns are about relations, but the protected secret is not a tuple of a relation.',
      'Write protect: { secret: edge } to protect single ties, or { secret: person, unit: COLUMN } to protect all ties of a person.',
    );
}

function personIn(policy: Policy, a: PatternAnalysis): Hidden {
  if (a.pattern.sum)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A sum over a join cannot be released with persons as the secret.',
      'Ask for a count, or protect single tuples.',
    );
  const owner = ownerOf(policy, a);
  if (owner !== undefined) return oneOwner(a, owner);
  const [relation, ...others] = privateRelations(a.pattern).map((r) => a.pattern.relations[r]!);
  if (others.length > 0 || relation!.columns.length !== 2 || ownsTuples(policy, relation!))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'With persons as the secret, a pattern may use one private relation between two persons.',
      'Declare the other relations public if they are, or protect single tuples with secret: edge.',
    );
  return onePerson(a);
}
