import { Fault } from '../errors.js';
import type { Rational } from '../exact/rational.js';
import type { Policy, Relation } from '../policy/policy.js';
import type { Session } from '../release/session.js';
import { type PatternCandidate, pureGuarantee } from './candidates.js';
import { personCandidates } from './person-candidates.js';
import type { PatternAnalysis } from './query/analyse.js';
import { privateRelations, ways } from './query/sensitivity.js';

/** The column that names the person whose alone a tuple is. A symmetric tie belongs to both its ends, whatever its columns are called. */
const ownerColumn = ({ protect: { unit } }: Policy, { columns, symmetric }: Relation): number =>
  unit === undefined || symmetric ? -1 : columns.indexOf(unit);

/** With one private goal whose tuples are owned, and every variable counted, each result is one person's. Otherwise every column names people. */
export function ownerSymbol({ policy }: Session, a: PatternAnalysis): number | undefined {
  const secret = a.pattern.goals.filter((g) => a.pattern.relations[g.relation]!.private);
  const column = ownerColumn(policy, a.pattern.relations[secret[0]!.relation]!);
  const owner = secret[0]!.symbols[column];
  const whole = a.pattern.head.length === a.pattern.variables.length;
  return owner !== undefined && owner >= a.pattern.constants.length && secret.length === 1 && whole ? owner : undefined;
}
/** The most results one person can own. */
export const perOwner = (a: PatternAnalysis, person: number): bigint =>
  ways(
    a.pattern,
    a.pattern.head.filter((s) => s !== person),
    [person],
  );

export function personWays(session: Session, a: PatternAnalysis, epsilon: Rational, degree: number): readonly PatternCandidate[] {
  const touched = privateRelations(a.pattern).map((r) => a.pattern.relations[r]!);
  if (a.pattern.sum)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A sum over a join cannot be released with persons as the secret.',
      'Ask for a count, or protect single tuples.',
    );
  if (ownerSymbol(session, a) !== undefined) {
    const levels = Math.max(1, perOwner(a, ownerSymbol(session, a)!).toString(2).length);
    const scale = levels / (Number(epsilon.num) / Number(epsilon.den));
    return [
      {
        mechanism: 'r2t',
        scale,
        expectedError: scale * degree * Math.log(20 * levels),
        guarantee: pureGuarantee,
        meets: true,
        note: `if nobody has more than ${degree} results`,
      },
    ];
  }
  const owned = touched.some((r) => ownerColumn(session.policy, r) >= 0);
  if (touched.length !== 1 || touched[0]!.columns.length !== 2 || owned)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'With persons as the secret, a pattern may use one private relation between two persons.',
      'Declare the other relations public if they are, or protect single tuples with secret: edge.',
    );
  return personCandidates(a, epsilon, degree);
}
