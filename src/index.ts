/** The library: everything the command line does, as functions over plain data. */

export type { TradeOff } from './accounting/accuracy.js';
export type { BudgetState } from './accounting/budget-state.js';
export type { Guarantee } from './accounting/guarantee.js';
export { type AttackOptions, attack } from './ask/attack.js';
export { attackStream, type StreamAttackOptions } from './ask/attack-stream.js';
export { type AuditOptions, auditScale, type CompareOptions, compareMechanisms } from './ask/audit.js';
export { type BeliefBudgetOptions, type BeliefGoal, beliefAfter, budgetForBelief } from './ask/belief.js';
export type { BeliefAfter, BudgetForBelief } from './ask/belief-figures.js';
export type { LearnedBounds } from './ask/bounds-query.js';
export { type CheckedPolicy, type CheckOptions, checkPolicy } from './ask/check.js';
export {
  type ConfirmedPolicy,
  type ConfirmOptions,
  confirmPolicy,
  type UnconfirmedColumn,
  unconfirmedColumns,
} from './ask/confirm.js';
export type { FileName, Progress } from './ask/door.js';
export { type DraftedPolicy, type DraftOptions, draftPolicy, type Found, type FoundColumn, type Said } from './ask/draft.js';
export { type EnteredSpending, type EnterOptions, enterSpending } from './ask/enter.js';
export type { EstimateAsked } from './ask/estimate.js';
export { type AskOptions, type Fugu, type OpenOptions, open } from './ask/fugu.js';
export type { Answer } from './ask/kind.js';
export type { PaidOdds } from './ask/kinds/odds.js';
export type { PatternAnswer } from './ask/kinds/pattern.js';
export type { SurveyPlan, SurveyRelease } from './ask/kinds/survey.js';
export type { LearnedSteps } from './ask/kinds/transitions.js';
export type { AnyAnswer, AnyPlan, Asking, Question } from './ask/kinds.js';
export { type LeakageOptions, leakage } from './ask/leakage.js';
export type { Leakage } from './ask/leakage-figures.js';
export { type LearnedSpread, learnNetwork, learnSpread, type NetworkOptions, type SpreadOptions } from './ask/learn.js';
export {
  type BoundsOptions,
  type KeysOptions,
  type LearnedDomain,
  type LearnedRows,
  learnBounds,
  learnKeys,
  learnRows,
  type RowsOptions,
} from './ask/learn-domain.js';
export { type Accuracy, type AccuracyOptions, type AccuracyQuestion, leastEpsilon } from './ask/least-epsilon.js';
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
} from './ask/ledger.js';
export { type Location, type LocationOptions, location, type ToldMoment } from './ask/location.js';
export {
  type AffinityOptions,
  type DistanceOptions,
  type MadeTies,
  makeAffinityTies,
  makeDistanceTies,
} from './ask/make-ties.js';
export { type LearnedOdds, learnOdds, type OddsOptions } from './ask/odds.js';
export { outcomeText } from './ask/outcomes.js';
export { type AnalysedPattern, analysePattern, type PatternAnalysisOptions } from './ask/pattern.js';
export {
  type BelievedValue,
  type ModelSuspicion,
  posterior,
  posteriorOnModel,
  type Suspicion,
} from './ask/posterior.js';
export { type PredictRow, predict } from './ask/predict.js';
export { judgePublishedSurvey, type PublishedOptions } from './ask/published.js';
export { declareSameData, type SameDataDeclared } from './ask/same-data.js';
export { planStream, type StreamedStep, type StreamOptions, type StreamPlan, stream } from './ask/stream.js';
export { type Temporal, type TemporalOptions, temporal } from './ask/temporal.js';
export { learnTransitions, type TransitionsOptions } from './ask/transitions.js';
export type { AttackerResult, ExposedRecord, PolicyAttack } from './attack/policy/attack.js';
export type { BeliefChange, Believer } from './attack/policy/beliefs.js';
export type { ReleasedTable } from './attack/policy/table.js';
export type { Belief, ModelPosterior } from './attack/posterior.js';
export type { StreamAttack, StreamAttacker, Trajectory, TrajectoryStep } from './attack/stream/attack.js';
export type { PublishedFigure } from './attack/survey/published.js';
export type { Audit, Calibrated } from './audit/audit.js';
export type { HowCounted } from './count/count.js';
export type { HiddenCells, PrivateFigures, Sizes } from './count/hidden-cells.js';
export type { KnownAgreement } from './count/known-agree.js';
export type { WhatIf } from './dependence/amplifier.js';
export type { WhatIfLeakage } from './dependence/leakage.js';
export type { Network, NetworkOrigin, Variable } from './dependence/model/network.js';
export type { ToldLevels, ToldValue } from './dependence/model/told-levels.js';
export type { PairwiseSpread } from './dependence/pairwise/leakage.js';
export type { AttackFigure, SpreadTables } from './dependence/pairwise/spread-file.js';
export { Fault, type FaultCode, type FaultPlace, faultCodes, type Outcome } from './errors.js';
export type { Rational } from './exact/rational.js';
export type { Term } from './learn/classify/features.js';
export type { ClassifierWeight, ClassifyResult, Prediction } from './learn/classify/predict.js';
export type { FoundKey, LearnedKeys } from './learn/keys/learn-keys.js';
export type { KmeansResult } from './learn/kmeans/kmeans.js';
export type { OddsEvidence } from './learn/odds/odds-evidence.js';
export type { OddsInterval } from './learn/odds/odds-interval.js';
export type { Tie } from './learn/odds/tie.js';
export type { LearnedTransitions } from './learn/transitions/learn-transitions.js';
export type { Verification } from './ledger/ledger.js';
export type { Backup, Restored } from './ledger/rescue/backup.js';
export type { Recovery } from './ledger/rescue/recover.js';
export type { AdditiveLaw, LadderLaw, Law, PublishedLaw, SelectionLaw, SmoothLaw, TiltLaw } from './mechanism/law.js';
export type { Told } from './mechanism/mechanism.js';
export type { StoredProfile } from './mechanism/profile.js';
export type { Compared, Comparison } from './papers/compare/judge.js';
export type { Calibration } from './papers/compare/mechanism.js';
export type { TabularReadingName } from './papers/correlated-columns/tabular.js';
export type { ToldApart } from './papers/location/location.js';
export type { ClusteringResult } from './pattern/clustering.js';
export type { DegreeForm } from './pattern/degrees/distribution.js';
export type { DegreeResult } from './pattern/degrees/release.js';
export type { PatternResult } from './pattern/release.js';
export type { PatternCandidate } from './pattern/ways/way.js';
export type { PatternMechanism } from './pattern/ways/ways.js';
export type { Draft, DraftProtect } from './policy/draft/draft.js';
export type { FoundGroups } from './policy/draft/groups.js';
export type { LeftOut } from './policy/draft/guess.js';
export type { FoundPanel } from './policy/draft/panel.js';
export type { KnownWords } from './policy/known/words.js';
export type { Neighbours } from './policy/neighbours.js';
export type { Adversary, SecretKind } from './policy/policy.js';
export type { AnswerRow, AnswerTable, ErrorKind, Foreseen } from './query/bound.js';
export type { LeafCondition } from './query/form.js';
export type { Batch, Condition, Query } from './query/query.js';
export type { Amended } from './release/amend.js';
export type { PartUse } from './release/parts.js';
export type { Plan, PlannedMeasure } from './release/plan.js';
export type { PrivacyUnit } from './release/privacy-unit.js';
export type { QuotaUse } from './release/quota.js';
export type { Receipt, Release } from './release/receipt.js';
export type { TotalOfCell } from './release/running.js';
export type { Trail } from './release/trail.js';
export type { WayOut } from './release/ways-out.js';
export type { SurveyCandidate, SurveyChoice } from './survey/choice.js';
export type { ReleaseError } from './survey/error.js';
export type { Mode } from './synth/form.js';
export type { PairQuality, Quality, TableQuality } from './synth/quality.js';
export type { MeasuredTable, SynthPlan, SynthResult } from './synth/release.js';
export type { SynthColumn } from './synth/rows.js';
export type { Explanation } from './terms/explain.js';
export type { LearnedFrom, TransitionFile } from './ties/transitions.js';
export type { WorkloadPlan } from './workload/release.js';
export type { Estimated } from './workload/together.js';
