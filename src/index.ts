/** The library: everything the command line does, as functions over plain data. */

export type { WeightTerm } from './analysis/learn/classify/features.js';
export type { ClassifierWeight, ClassifyResult, Prediction } from './analysis/learn/classify/predict.js';
export type { FoundKey, LearnedKeys } from './analysis/learn/keys/learn-keys.js';
export type { KmeansResult } from './analysis/learn/kmeans/kmeans.js';
export type { OddsEvidence } from './analysis/learn/odds/odds-evidence.js';
export type { OddsInterval } from './analysis/learn/odds/odds-interval.js';
export type { TieRow } from './analysis/learn/odds/tie.js';
export type { LearnedTransitions } from './analysis/learn/transitions/learn-transitions.js';
export type { ClusteringResult } from './analysis/pattern/clustering.js';
export type { DegreeForm } from './analysis/pattern/degrees/distribution.js';
export type { DegreeResult } from './analysis/pattern/degrees/release.js';
export type { PatternResult } from './analysis/pattern/release.js';
export type { PatternMechanism } from './analysis/pattern/strategies/strategies.js';
export type { PatternCandidate } from './analysis/pattern/strategies/strategy.js';
export type { SurveyCandidate, SurveyChoice } from './analysis/survey/choice.js';
export type { ReleaseError } from './analysis/survey/error.js';
export type { SynthMode } from './analysis/synth/form.js';
export type { PairQuality, Quality, TableQuality } from './analysis/synth/quality.js';
export type { MeasuredTable, SynthPlan, SynthResult } from './analysis/synth/release.js';
export type { SynthColumn } from './analysis/synth/rows.js';
export type { EstimatedTables } from './analysis/workload/estimate-tables.js';
export type { WorkloadPlan } from './analysis/workload/release.js';
export { type AttackOptions, attack } from './app/api/attack.js';
export { attackStream, type StreamAttackOptions } from './app/api/attack-stream.js';
export { type AuditOptions, auditScale, type CompareOptions, compareMechanisms } from './app/api/audit.js';
export { type BeliefBudgetOptions, type BeliefGoal, beliefAfter, budgetForBelief } from './app/api/belief.js';
export type { BeliefAfter, BudgetForBelief } from './app/api/belief-figures.js';
export type { LearnedBounds } from './app/api/bounds-query.js';
export { type CheckedPolicy, type CheckOptions, checkPolicy } from './app/api/check.js';
export {
  type ConfirmedPolicy,
  type ConfirmOptions,
  confirmPolicy,
  type UnconfirmedColumn,
  unconfirmedColumns,
} from './app/api/confirm.js';
export {
  type DraftAnswers,
  type DraftedPolicy,
  type DraftOptions,
  draftPolicy,
  type Found,
  type FoundColumn,
} from './app/api/draft.js';
export { type EnteredSpending, type EnterOptions, enterSpending } from './app/api/enter.js';
export type { EstimateRequest } from './app/api/estimate.js';
export { type AskOptions, type Fugu, type OpenOptions, open } from './app/api/fugu.js';
export type { FileName, ProgressCallback } from './app/api/input.js';
export type { Answer } from './app/api/kind.js';
export type { PaidOdds } from './app/api/kinds/odds.js';
export type { PatternAnswer } from './app/api/kinds/pattern.js';
export type { SurveyPlan, SurveyRelease } from './app/api/kinds/survey.js';
export type { LearnedSteps } from './app/api/kinds/transitions.js';
export type { AnyAnswer, AnyPlan, Question, QuestionMethods } from './app/api/kinds.js';
export { type LeakageOptions, leakage } from './app/api/leakage.js';
export type { Leakage } from './app/api/leakage-figures.js';
export { type LearnedSpread, learnNetwork, learnSpread, type NetworkOptions, type SpreadOptions } from './app/api/learn.js';
export {
  type BoundsOptions,
  type KeysOptions,
  type LearnedDomain,
  type LearnedRows,
  learnBounds,
  learnKeys,
  learnRows,
  type RowsOptions,
} from './app/api/learn-domain.js';
export { type Accuracy, type AccuracyOptions, type AccuracyQuestion, leastEpsilon } from './app/api/least-epsilon.js';
export {
  type AmendedTerms,
  amendTerms,
  backupLedger,
  type LedgerEntry,
  type LedgerOptions,
  type ReasonedOptions,
  type RestoreOptions,
  recoverLedger,
  restoreLedger,
  type Spending,
  type VerifiedLedger,
  verifyLedger,
} from './app/api/ledger.js';
export { type Location, type LocationOptions, location, type ReleasedMoment } from './app/api/location.js';
export {
  type AffinityTieOptions,
  type DistanceTieOptions,
  type MadeTies,
  makeAffinityTies,
  makeDistanceTies,
} from './app/api/make-ties.js';
export { type LearnedOdds, learnOdds, type OddsOptions } from './app/api/odds.js';
export { outcomeText } from './app/api/outcomes.js';
export { type AnalysedPattern, analysePattern, type PatternAnalysisOptions } from './app/api/pattern.js';
export {
  type BelievedValue,
  type ModelSuspicion,
  posterior,
  posteriorOnModel,
  type Suspicion,
} from './app/api/posterior.js';
export { type PredictRow, predict } from './app/api/predict.js';
export { judgePublishedSurvey, type PublishedOptions } from './app/api/published.js';
export { declareSameData, type SameDataDeclared } from './app/api/same-data.js';
export { planStream, type StreamedStep, type StreamOptions, type StreamPlan, stream } from './app/api/stream.js';
export { type Temporal, type TemporalOptions, temporal } from './app/api/temporal.js';
export { learnTransitions, type TransitionsOptions } from './app/api/transitions.js';
export { Fault, type FaultCode, type FaultPlace, faultCodes, type Outcome } from './base/errors.js';
export type { Rational } from './base/exact/rational.js';
export type { DraftProtect, DraftResult } from './data/draft/draft.js';
export type { FoundGroups } from './data/draft/groups.js';
export type { LeftOutReason } from './data/draft/guess.js';
export type { FoundPanel } from './data/draft/panel.js';
export type { Explanation } from './data/terms/explain.js';
export type { LearnedFrom, TransitionFile } from './data/ties/transitions.js';
export type * from './deprecated.js';
export type { GainSummary } from './evaluate/attack/gain.js';
export type { AttackerResult, ExposedRecord, PolicyAttack } from './evaluate/attack/policy/attack.js';
export type { BeliefChange, Believer } from './evaluate/attack/policy/beliefs.js';
export type { ReleasedTable } from './evaluate/attack/policy/table.js';
export type { ModelPosterior, ValueBelief } from './evaluate/attack/posterior.js';
export type { StreamAttack, StreamAttacker, Trajectory, TrajectoryStep } from './evaluate/attack/stream/attack.js';
export type { PublishedFigure } from './evaluate/attack/survey/published.js';
export type { Audit, Calibrated } from './evaluate/audit/audit.js';
export type { ComparedMechanism, MechanismComparison } from './evaluate/papers/compare/judge.js';
export type { Calibration } from './evaluate/papers/compare/mechanism.js';
export type { TabularReadingName } from './evaluate/papers/correlated-columns/tabular.js';
export type { ProtectedPair } from './evaluate/papers/location/location.js';
export type { KnownWords } from './policy/known/words.js';
export type { Neighbours } from './policy/neighbours.js';
export type { Adversary, SecretKind } from './policy/policy.js';
export type { WhatIf } from './privacy/dependence/amplifier.js';
export type { Network, NetworkOrigin, NetworkVariable } from './privacy/dependence/model/network.js';
export type { LevelValue, ValueLevels } from './privacy/dependence/model/value-levels.js';
export type { PairwiseSpread } from './privacy/dependence/pairwise/leakage.js';
export type { AttackFigure, SpreadTables } from './privacy/dependence/pairwise/spread-file.js';
export type { WhatIfLeakage } from './privacy/dependence/what-if.js';
export type {
  AdditiveDistribution,
  LadderDistribution,
  NoiseDistribution,
  PublishedDistribution,
  SelectionDistribution,
  SmoothDistribution,
  TiltDistribution,
} from './privacy/mechanism/distribution.js';
export type { MechanismSummary } from './privacy/mechanism/mechanism.js';
export type { StoredCost } from './privacy/mechanism/privacy-cost.js';
export type { AnswerRow, AnswerTable, ErrorKind, ExpectedError } from './query/bound.js';
export type { ExecutionPlan } from './query/count/count.js';
export type { GroupSizes, HiddenCells, PrivateFigures } from './query/count/hidden-cells.js';
export type { KnownAgreement } from './query/count/known-agreement.js';
export type { LeafCondition } from './query/form.js';
export type { Batch, Query, RowCondition } from './query/query.js';
export type { TradeOff } from './release/accountant/accuracy.js';
export type { BudgetState } from './release/accountant/budget-state.js';
export type { Guarantee } from './release/accountant/guarantee.js';
export type { Verification } from './release/ledger/ledger.js';
export type { Backup, Restored } from './release/ledger/rescue/backup.js';
export type { Recovery } from './release/ledger/rescue/recover.js';
export type { Amended } from './release/session/amend.js';
export type { BudgetRemedy } from './release/session/budget-remedies.js';
export type { PartUse } from './release/session/parts.js';
export type { Plan, PlannedMeasure } from './release/session/plan.js';
export type { PrivacyUnit } from './release/session/privacy-unit.js';
export type { QueryLog } from './release/session/query-log.js';
export type { QuotaUse } from './release/session/quota.js';
export type { Receipt, Release } from './release/session/receipt.js';
export type { TotalOfCell } from './release/session/running.js';
