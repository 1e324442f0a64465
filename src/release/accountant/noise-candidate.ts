import { multiply, type Rational, toNumber } from '../../base/exact/rational.js';
import { type AdditiveMechanism, additiveMechanism } from '../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import { varianceOf } from '../../privacy/mechanism/distribution.js';
import { type ExponentialMechanism, exponentialMechanism } from '../../privacy/mechanism/exponential-mechanism.js';
import { type Mechanism, totalCostOf } from '../../privacy/mechanism/mechanism.js';
import { meanNumbers } from '../../privacy/mechanism/ordered/forest.js';
import { prefixEstimator } from '../../privacy/mechanism/ordered/prefix-estimator.js';
import type { PrivacyCost } from '../../privacy/mechanism/privacy-cost.js';
import { boxIn, isDataPart, isSlice, type Slicing } from '../../privacy/mechanism/record-class.js';
import { type ClassScope, largestSensitivity } from '../../privacy/mechanism/sensitivity.js';
import type { Measure, MechanismOf } from '../../query/count/measure.js';
import type { LeakageRoute } from './account.js';
import { allocate } from './allocate.js';

/** One way to answer a batch, before it is judged. */
export interface Candidate {
  readonly route: LeakageRoute;
  readonly kind: 'laplace' | 'gaussian';
  /** One per measure. */
  readonly mechanisms: readonly MechanismOf[];
  readonly cost: PrivacyCost;
  /** Public column by whose values the budget was divided and found. */
  readonly slicing?: Slicing;
  /** Sum over cells of the noise variance in units of the sensitivity: comparable between measures. */
  readonly error: number;
  readonly budget: Rational;
  /** The same with another budget. */
  readonly withBudget: (budget: Rational) => Candidate;
}

/** The two kinds of noise; the weights minimise the total squared error in units of each measure's own sensitivity. */
const kinds = {
  laplace: { noise: 'pure', weight: Math.cbrt },
  gaussian: { noise: 'zcdp', weight: Math.sqrt },
} as const;

/** The measures, and the route and records that their noise is fitted to. */
export interface CandidateParts {
  readonly measures: readonly Measure[];
  readonly route: LeakageRoute;
  readonly slicing?: Slicing | undefined;
  /** Other scopes than the route's: of the classes that share the budget, and of each measure. */
  readonly fitted?: { readonly shared: ClassScope; readonly each: (m: Measure) => ClassScope };
}

export function candidateWith(kind: Candidate['kind'], budget: Rational, parts: CandidateParts): Candidate {
  const { measures, route, slicing, fitted } = parts;
  const { noise, weight } = kinds[kind];
  const { scope } = route.amplifier;
  const mechanisms = allocate(measures, fitted?.shared ?? scope, (m) => weight(noisyCellCount(m)), slicing).map((share, k) =>
    noised(
      measures[k]!,
      { noise, amount: multiply(budget, share) },
      fitted?.each(measures[k]!) ?? chargedScope(measures[k]!, scope, slicing),
    ),
  );
  return {
    route,
    kind,
    mechanisms,
    cost: totalCostOf(mechanisms),
    error: expectedError(measures, mechanisms, scope),
    budget,
    withBudget: (other) => candidateWith(kind, other, parts),
    ...(slicing && { slicing }),
  };
}

/**
 * Noise is scaled to the sensitivity within a value of a public column if the budget was found by those values:
 * for a table by that column it is below the sensitivity to a change of the value.
 */
function chargedScope({ sensitivity }: Measure, scope: ClassScope, slicing: Slicing | undefined): ClassScope {
  if (slicing === undefined) return scope;
  const own: ClassScope = (record) => isSlice(record) && boxIn(record).of === slicing;
  return [...sensitivity.keys()].some(own) ? own : scope;
}

/** A measure is its own factor if it depends on one column's answers only. */
export const isFactored = (m: Measure): boolean => [...m.sensitivity.keys()].filter(isDataPart).length <= 1;

export function noised<M extends Measure>(measure: M, budgetShare: BudgetShare, scope: ClassScope): MechanismOf<M>;
export function noised(m: Measure, share: BudgetShare, scope: ClassScope): AdditiveMechanism | ExponentialMechanism {
  const counted = { name: m.name, cells: m.cells.length, sensitivity: m.sensitivity, factored: isFactored(m) };
  if (m.mechanism === 'exponential') return exponentialMechanism(counted, share, scope);
  if (m.mechanism === 'additive')
    return additiveMechanism(
      { ...counted, unit: toNumber(m.grid), ...(m.tables !== undefined && { tables: m.tables }) },
      share,
      scope,
    );
  // Of a range of positions, over all of them; of a cell.
  const variance = 'parent' in m.strategy ? meanNumbers(m.strategy) : prefixEstimator(m.strategy).meanVariance();
  return additiveMechanism({ ...counted, unit: Math.sqrt(variance) }, share, scope);
}

/** Noisy cells over all the tables that are computed from a measure. */
const noisyCellCount = (m: Measure): number =>
  m.mechanism === 'additive' ? (m.worth ?? m.cells.length * (m.tables ?? 1)) : m.cells.length;

function expectedError(measures: readonly Measure[], mechanisms: readonly Mechanism[], scope: ClassScope): number {
  return measures.reduce((total, m, k) => {
    const { distribution } = mechanisms[k]!;
    const sensitivity = Number(largestSensitivity(m.sensitivity, 'l1', scope));
    if (distribution.kind === 'none') return total;
    if (distribution.kind === 'selection') return total + m.cells.length / (sensitivity * toNumber(distribution.sharpness)) ** 2;
    return total + (noisyCellCount(m) * varianceOf(distribution)) / sensitivity ** 2;
  }, 0);
}
