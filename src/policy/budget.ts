import { compare, isPositive, type Rational, rational, zero } from '../base/exact/rational.js';
import { epsilonFromOdds, oddsFactor } from './belief.js';
import type { BeliefStatement, Budget } from './policy.js';
import { invalid } from './problems.js';
import type { BudgetEntry } from './schema.js';
import type { Path, YamlFile } from './yaml-file.js';

export function declareBudget(entry: BudgetEntry, yaml: YamlFile): Budget {
  const whole = declareWhole(entry, yaml);
  if (entry.per && isPositive(whole.delta))
    throw invalid(
      yaml,
      ['budget', 'per'],
      'A budget per step has no delta: what Gaussian noise leaks over time is not proven to fade.',
      'Leave delta out.',
    );
  const { others } = entry;
  const aside = others && (others.epsilon || others.rho) ? { others: dropped(others) } : {};
  const budget = { ...whole, ...aside, ...(entry.per && { per: entry.per }) };
  if (!entry.analysts) return budget;
  const { each, ...named } = entry.analysts;
  return { ...budget, analysts: { ...(each && { each }), named: new Map(Object.entries(named)) } };
}

const dropped = ({ epsilon, rho }: NonNullable<BudgetEntry['others']>): NonNullable<Budget['others']> => ({
  ...(epsilon && { epsilon }),
  ...(rho && { rho }),
});

function declareWhole(entry: BudgetEntry, yaml: YamlFile): Budget {
  const delta = entry.delta ?? zero;
  if (entry.epsilon && entry.belief)
    throw invalid(
      yaml,
      ['budget', 'belief'],
      'The budget gives both an epsilon and a belief.',
      'One of them: the belief sets epsilon by itself.',
    );
  if (entry.epsilon) return { epsilon: entry.epsilon, delta };
  if (!entry.belief)
    throw invalid(
      yaml,
      ['budget'],
      'The budget is empty.',
      'Write budget: {epsilon: 1} or budget: {belief: {prior: 0.1, posterior: 0.3}}.',
    );

  const many = Array.isArray(entry.belief);
  const statements = many
    ? (entry.belief as Exclude<typeof entry.belief, unknown[]>[])
    : [entry.belief as Exclude<typeof entry.belief, unknown[]>];
  const beliefs: BeliefStatement[] = statements.map(({ prior, posterior, floor, about }) => ({
    prior,
    ...(posterior && { posterior }),
    ...(floor && { floor }),
    ...(about !== undefined && { about }),
  }));
  const candidates = beliefs.flatMap((belief, i) => limits(belief, many ? ['budget', 'belief', i] : ['budget', 'belief'], yaml));
  const tightest = candidates.reduce((a, b) => (compare(b.epsilon, a.epsilon) < 0 ? b : a));
  return {
    epsilon: tightest.epsilon,
    delta,
    beliefs,
    belief: { prior: tightest.belief.prior, posterior: tightest.belief.posterior ?? tightest.belief.prior },
  };
}

/** Limits on epsilon from one belief: one from its posterior (increase), one from its floor (decrease). */
function limits(belief: BeliefStatement, path: Path, yaml: YamlFile): { epsilon: Rational; belief: BeliefStatement }[] {
  const { prior, posterior, floor } = belief;
  if (!posterior && !floor)
    throw invalid(
      yaml,
      path,
      'The belief has no posterior.',
      'Write {prior: 0.1, posterior: 0.3}: from ten percent to at most thirty.',
    );
  if (posterior && compare(prior, posterior) >= 0)
    throw invalid(
      yaml,
      [...path, 'posterior'],
      'The posterior is not above the prior.',
      'The posterior is what the attacker may believe at most after all releases; write a larger number, or floor: for the way down.',
    );
  if (floor && compare(prior, floor) <= 0)
    throw invalid(
      yaml,
      [...path, 'floor'],
      'The floor is not below the prior.',
      'The floor is how little the attacker may believe at least.',
    );
  const found = [
    ...(posterior ? [{ epsilon: epsilonFromOdds(oddsFactor(prior, posterior)), belief }] : []),
    ...(floor ? [{ epsilon: epsilonFromOdds(oddsFactor(floor, prior)), belief }] : []),
  ];
  if (!found.every((f) => isPositive(f.epsilon)))
    throw invalid(yaml, path, 'Prior and posterior are too close: no budget lies between them.', 'Move them further apart.');
  return found;
}

/** One in a million becomes as good as sure. */
const mostEpsilon = rational(20);
/** A delta of 0.01 permits that one record in a hundred is published outright. */
const mostDelta = rational(1, 100);

/** Reason why this budget protects nobody; undefined if it does protect. */
export function protectsNothing({ epsilon, delta }: Pick<Budget, 'epsilon' | 'delta'>): string | undefined {
  if (compare(epsilon, mostEpsilon) > 0)
    return 'somebody suspected with one in a million may be known for sure afterwards (epsilon above 20)';
  if (compare(delta, mostDelta) > 0) return 'more than one record in a hundred may be revealed outright (delta above 0.01)';
  return undefined;
}
