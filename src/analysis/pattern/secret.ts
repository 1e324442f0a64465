import { Fault } from '../../base/errors.js';
import type { Policy, Relation } from '../../policy/policy.js';
import { everyRecord, type RecordClass, tuplesIn } from '../../privacy/mechanism/record-class.js';
import { type RecordSensitivity, sensitivityOn } from '../../privacy/mechanism/sensitivity.js';
import { maxPerPerson } from './per-person.js';
import type { PatternAnalysis } from './query/analyse.js';
import { domainSize } from './query/lambda.js';
import { bindingCount, privateRelations } from './query/sensitivity.js';

/** Protected change of a pattern's records: the classes that pay, and the most one of their records moves the answer in any data. */
export type PatternSecret =
  /** One tuple of a private relation. */
  | (SecretMove & { readonly what: 'tuple' })
  /** All ties of a person. */
  | (SecretMove & { readonly what: 'person' })
  /** All tuples of a person, where each result is one person's, named by the symbol `owner`. */
  | (SecretMove & { readonly what: 'owner'; readonly owner: number });

interface SecretMove {
  readonly classes: readonly RecordClass[];
  readonly moves: bigint;
}

export const tupleSecret = (a: PatternAnalysis): PatternSecret => ({
  what: 'tuple',
  classes: privateRelations(a.pattern).map((r) => tuplesIn(a.pattern.relations[r]!.name)),
  moves: a.bounds.globalSensitivity,
});
export const personSecret = (a: PatternAnalysis): PatternSecret => ({
  what: 'person',
  classes: [everyRecord],
  moves: maxPerPerson(a, domainSize(a.pattern) - 1),
});
export const ownerSecret = (a: PatternAnalysis, owner: number): PatternSecret => ({
  what: 'owner',
  classes: [everyRecord],
  moves: maxPerOwner(a, owner) / a.divisor,
  owner,
});

/** An answer that nobody can move gets noise and is paid for like any other, because whether it is one depends on the data. */
export const secretSensitivity = ({ classes, moves }: PatternSecret): RecordSensitivity => {
  const l1 = moves || 1n;
  return sensitivityOn(classes, { l1, l2squared: l1 * l1 });
};

export function patternSecret(policy: Policy, a: PatternAnalysis): PatternSecret {
  return policy.protect.secret === 'person' ? personSecretIn(policy, a) : tupleSecret(a);
}

export function refuseOtherSecrets({ protect: { secret } }: Policy): void {
  if (secret !== 'edge' && secret !== 'person')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Patterns are about relations, but the protected secret is not a tuple of a relation.',
      'Write protect: { secret: edge } to protect single ties, or { secret: person, unit: COLUMN } to protect all ties of a person.',
    );
}

function personSecretIn(policy: Policy, a: PatternAnalysis): PatternSecret {
  if (a.pattern.sum)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A sum over a join cannot be released with persons as the secret.',
      'Ask for a count, or protect single tuples.',
    );
  const owner = resultOwner(policy, a);
  if (owner !== undefined) return ownerSecret(a, owner);
  const [relation, ...others] = privateRelations(a.pattern).map((r) => a.pattern.relations[r]!);
  if (others.length > 0 || relation!.columns.length !== 2 || ownsTuples(policy, relation!))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'With persons as the secret, a pattern may use one private relation between two persons.',
      'Declare the other relations public if they are, or protect single tuples with secret: edge.',
    );
  return personSecret(a);
}

/** Column of the one person who owns a tuple. A symmetric tie belongs to both ends, whatever its columns are called. */
const ownerColumn = ({ protect: { unit } }: Policy, { columns, symmetric }: Relation): number =>
  unit === undefined || symmetric ? -1 : columns.indexOf(unit);

const ownsTuples = (policy: Policy, relation: Relation): boolean => ownerColumn(policy, relation) >= 0;

/**
 * Symbol of the owner: with one private goal with an owner, and every variable counted, each result belongs to one person. Otherwise
 * every column names people.
 */
function resultOwner(policy: Policy, a: PatternAnalysis): number | undefined {
  const secret = a.pattern.goals.filter((g) => a.pattern.relations[g.relation]!.private);
  const column = ownerColumn(policy, a.pattern.relations[secret[0]!.relation]!);
  const owner = secret[0]!.symbols[column];
  const whole = a.pattern.head.length === a.pattern.variables.length;
  return owner !== undefined && owner >= a.pattern.constants.length && secret.length === 1 && whole ? owner : undefined;
}

/** The most results one person can own. */
const maxPerOwner = (a: PatternAnalysis, person: number): bigint =>
  bindingCount(
    a.pattern,
    a.pattern.head.filter((s) => s !== person),
    [person],
  );
