import type { Policy, Relation } from '../../policy/policy.js';
import type { PatternAnalysis } from './query/analyse.js';
import { bindingCount } from './query/sensitivity.js';

/** Column of the one person who owns a tuple. A symmetric tie belongs to both ends, whatever its columns are called. */
const ownerColumn = ({ protect: { unit } }: Policy, { columns, symmetric }: Relation): number =>
  unit === undefined || symmetric ? -1 : columns.indexOf(unit);

export const ownsTuples = (policy: Policy, relation: Relation): boolean => ownerColumn(policy, relation) >= 0;

/**
 * Symbol of the owner: with one private goal with an owner, and every variable counted, each result belongs to one person. Otherwise
 * every column names people.
 */
export function resultOwner(policy: Policy, a: PatternAnalysis): number | undefined {
  const secret = a.pattern.goals.filter((g) => a.pattern.relations[g.relation]!.private);
  const column = ownerColumn(policy, a.pattern.relations[secret[0]!.relation]!);
  const owner = secret[0]!.symbols[column];
  const whole = a.pattern.head.length === a.pattern.variables.length;
  return owner !== undefined && owner >= a.pattern.constants.length && secret.length === 1 && whole ? owner : undefined;
}

/** The most results one person can own. */
export const maxPerOwner = (a: PatternAnalysis, person: number): bigint =>
  bindingCount(
    a.pattern,
    a.pattern.head.filter((s) => s !== person),
    [person],
  );
