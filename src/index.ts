/** The library: everything the command line does, as functions over plain data. */

export type { Engine, EngineLimits } from './engine/engine.js';
export { Fault, type FaultCode, faultCodes, type Outcome } from './errors.js';
export { planClassify, releaseClassify } from './learn/classify/classify.js';
export { type ClassifyResult, predict } from './learn/classify/predict.js';
export { type KmeansResult, planKmeans, releaseKmeans } from './learn/kmeans/kmeans.js';
export type { Ledger } from './ledger/ledger.js';
export { openLedger } from './ledger/open.js';
export { planDegrees, releaseDegrees } from './pattern/degrees/release.js';
export { planPattern, releasePattern } from './pattern/release.js';
export type { Policy } from './policy/policy.js';
export type { AnswerRow, AnswerTable } from './query/bound.js';
export type { Batch, Query } from './query/query.js';
export { parseSql } from './query/sql/sql.js';
export { Outcomes, outcomeText } from './release/outcome.js';
export type { Plan } from './release/plan.js';
export type { QuotaUse } from './release/quota.js';
export type { Receipt, Release } from './release/receipt.js';
export { type AskOptions, createSession, type Session, type SessionParts } from './release/session.js';
export { chooseSurveyBatch } from './survey/plan.js';
export { surveyBatch } from './survey/query.js';
export { openEngine } from './terms/open.js';
export { readPolicy } from './terms/read.js';
