/**
 * Type names of version 0.2, for one version more.
 * @deprecated Use the names that src/index.ts exports.
 */
export type { WeightTerm as Term } from './analysis/learn/classify/features.js';
export type { TieRow as Tie } from './analysis/learn/odds/tie.js';
export type { SynthMode as Mode } from './analysis/synth/form.js';
export type { EstimatedTables as Estimated } from './analysis/workload/estimate-tables.js';
export type { DraftAnswers as Said } from './app/api/draft.js';
export type { EstimateRequest as EstimateAsked } from './app/api/estimate.js';
export type { ProgressCallback as Progress } from './app/api/input.js';
export type { QuestionMethods as Asking } from './app/api/kinds.js';
export type { ReleasedMoment as ToldMoment } from './app/api/location.js';
export type { AffinityTieOptions as AffinityOptions, DistanceTieOptions as DistanceOptions } from './app/api/make-ties.js';
export type { DraftResult as Draft } from './data/draft/draft.js';
export type { LeftOutReason as LeftOut } from './data/draft/guess.js';
export type { ValueBelief as Belief } from './evaluate/attack/posterior.js';
export type { ComparedMechanism as Compared, MechanismComparison as Comparison } from './evaluate/papers/compare/judge.js';
export type { ProtectedPair as ToldApart } from './evaluate/papers/location/location.js';
export type { NetworkVariable as Variable } from './privacy/dependence/model/network.js';
export type { LevelValue as ToldValue, ValueLevels as ToldLevels } from './privacy/dependence/model/value-levels.js';
export type {
  AdditiveDistribution as AdditiveLaw,
  LadderDistribution as LadderLaw,
  NoiseDistribution as Law,
  PublishedDistribution as PublishedLaw,
  SelectionDistribution as SelectionLaw,
  SmoothDistribution as SmoothLaw,
  TiltDistribution as TiltLaw,
} from './privacy/mechanism/distribution.js';
export type { MechanismSummary as Told } from './privacy/mechanism/mechanism.js';
export type { StoredCost as StoredProfile } from './privacy/mechanism/privacy-cost.js';
export type { ExpectedError as Foreseen } from './query/bound.js';
export type { ExecutionPlan as HowCounted } from './query/count/count.js';
export type { GroupSizes as Sizes } from './query/count/hidden-cells.js';
export type { RowCondition as Condition } from './query/query.js';
export type { BudgetRemedy as WayOut } from './release/session/budget-remedies.js';
export type { QueryLog as Trail } from './release/session/query-log.js';
