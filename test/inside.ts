/** Internals that tests may use and the library does not export. */

export { chooseSurveyBatch } from '../src/analysis/survey/plan.js';
export { Fault, type Outcome } from '../src/base/errors.js';
export type { Engine } from '../src/data/engine/engine.js';
export { openEngine } from '../src/data/terms/open.js';
export { readPolicy } from '../src/data/terms/read.js';
export type { Ledger } from '../src/release/ledger/ledger.js';
export { openLedger } from '../src/release/ledger/open.js';
export { OutcomeLog } from '../src/release/session/outcome.js';
export { createSession, PrivacySession } from '../src/release/session/session.js';
