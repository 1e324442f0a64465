/** What tests may take hold of and the library keeps to itself. */
export type { Engine } from '../src/data/engine/engine.js';
export { Fault, type Outcome } from '../src/base/errors.js';
export type { Ledger } from '../src/release/ledger/ledger.js';
export { openLedger } from '../src/release/ledger/open.js';
export { Outcomes } from '../src/release/outcome.js';
export { createSession, Session } from '../src/release/session.js';
export { chooseSurveyBatch } from '../src/analysis/survey/plan.js';
export { openEngine } from '../src/data/terms/open.js';
export { readPolicy } from '../src/data/terms/read.js';
