import { Fault } from '../../base/errors.js';
import { addUp, logUp, mulUp } from '../../base/exact/outward.js';
import { one, toNumberDown, toNumberUp } from '../../base/exact/rational.js';
import type { Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { type BaseCost, baseCostOf, commonBaseCost } from '../../privacy/dependence/base-cost.js';
import { push } from '../../privacy/dependence/graph/push.js';
import { largestBelow } from '../../privacy/dependence/largest-below.js';
import { directAssumption } from '../../privacy/dependence/uninformed/direct.js';
import { type RecordClass, tuplesIn } from '../../privacy/mechanism/record-class.js';
import type { ClassScope } from '../../privacy/mechanism/sensitivity.js';
import type { TiesDependence } from './relation.js';

/**
 * Tuples that influence one another: friends of friends befriend. A record is one possible tuple (there or not); each is tied to at most `maxTies` others of
 * its relation, a public bound, by pairs of odds ratio at most `oddsRatio`. See tuples.proof.md.
 */
export interface TupleTies {
  readonly logOdds: number;
  readonly ties: number;
  readonly reach: 'any' | 'direct';
}

/** Upper bound on the leakage of one tuple when every tuple costs `base`; rounded up. */
export function tupleLeakage(base: number, { logOdds, ties, reach }: TupleTies): number {
  if (base === 0 || ties === 0) return base;
  if (reach === 'direct') return addUp(base, mulUp(ties, push(base, logOdds)));
  // Messages from above: every iterate is a valid bound, so stopping early is safe.
  let message = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 1000; round++) {
    const next = addUp(base, mulUp(ties - 1, push(message, logOdds)));
    if (!(next < message)) break;
    const settled = message - next <= 1e-12 * next;
    message = next;
    if (settled) break;
  }
  return addUp(base, mulUp(ties, push(message, logOdds)));
}

/** Declared ties of the tuples of one relation. */
export interface TiedTuples {
  readonly relation: string;
  readonly ties: TupleTies;
  readonly words: string;
}

export function tupleAmplifier(policy: Policy, list: readonly TiedTuples[]): Amplifier {
  const declared = list.map(({ ties }) => ties);
  const names = list.map(({ relation }) => relation);
  const repeated = names.find((n, i) => names.indexOf(n) !== i);
  if (repeated !== undefined)
    throw new Fault(
      'POLICY_INVALID',
      `The ties of "${repeated}" are declared twice.`,
      'Declare them once, with the larger odds ratio and the sum of maxTies.',
    );
  const relations = new Set<RecordClass>([...policy.relations.values()].filter((r) => r.private).map((r) => tuplesIn(r.name)));
  // Tuples of different relations are independent: the leakage of each relation depends only on the cost of its own tuples.
  const worst = (base: BaseCost, times = 1, change = (t: TupleTies): TupleTies => t): number => {
    const spentBy = (record: RecordClass) => mulUp(times, toNumberUp(baseCostOf(base, record)));
    return Math.max(
      ...[...relations].map(spentBy),
      ...declared.map((t, k) => tupleLeakage(spentBy(tuplesIn(names[k]!)), change(t))),
    );
  };
  const scope: ClassScope = (record) => relations.has(record);
  return {
    name: 'tied tuples',
    scope,
    leakage: (base) => worst(base),
    largestBase: (epsilon, parts) => {
      const limit = toNumberDown(epsilon);
      return largestBelow(
        (times) => worst(parts ?? one, times),
        limit,
        limit / toNumberDown(commonBaseCost(parts ?? one, scope)),
      );
    },
    gaussian: [],
    conditions: [],
    whatIf: (base) => {
      const at = (change: (t: TupleTies) => TupleTies) => worst(base, 1, change);
      return [
        { change: 'odds ratios were twice as large', leakage: at((t) => ({ ...t, logOdds: addUp(t.logOdds, logUp(2)) })) },
        { change: 'odds ratios were four times as large', leakage: at((t) => ({ ...t, logOdds: addUp(t.logOdds, logUp(4)) })) },
        { change: 'every tuple had one more tie', leakage: at((t) => ({ ...t, ties: t.ties + 1 })) },
      ];
    },
    factoredOnly: false,
    assumptions: [
      ...list.map(({ words }) => words),
      'Tuples of different relations are independent; a tie that is not declared is not protected.',
    ],
    method: 'The noise covers the ties between tuples, within their public bound.',
  };
}

export function tupleTies(d: TiesDependence, policy: Policy): TupleTies {
  const wrong = (message: string, hint: string) => new Fault('POLICY_INVALID', message, hint);
  if (!policy.relations.get(d.relation)?.private)
    throw wrong(
      `The tied tuples must belong to a private relation, and "${d.relation}" is none.`,
      'Name a private relation under relations:.',
    );
  if (d.maxTies === undefined)
    throw wrong(
      `How many other tuples a tuple of "${d.relation}" may depend on is not said.`,
      'Add maxTies: a public bound; it cannot be read from the secret tuples.',
    );
  if (d.reach === 'direct' && policy.protect.adversary !== 'uninformed')
    throw wrong(
      'reach: direct holds against an uninformed attacker only.',
      'Write adversary: uninformed under protect:, or leave reach out.',
    );
  return { logOdds: logUp(d.oddsRatio), ties: d.maxTies, reach: d.reach };
}

export const tupleWords = (d: TiesDependence): string =>
  `Each possible tuple of "${d.relation}" depends on at most ${d.maxTies} others, with an odds ratio of at most ${d.oddsRatio}.${d.reach === 'direct' ? ` ${directAssumption.independent}` : ''}`;
