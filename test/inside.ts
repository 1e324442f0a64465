/** What tests may take hold of and the library keeps to itself. */
export type { Engine } from '../src/engine/engine.js';
export { Fault, type Outcome } from '../src/errors.js';
export type { Ledger } from '../src/ledger/ledger.js';
export { openLedger } from '../src/ledger/open.js';
export { Outcomes } from '../src/release/outcome.js';
export { createSession, Session } from '../src/release/session.js';
export { chooseSurveyBatch } from '../src/survey/plan.js';
export { openEngine } from '../src/terms/open.js';
export { readPolicy } from '../src/terms/read.js';
