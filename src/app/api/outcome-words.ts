/** Outcome of a release as text, for programs that end; unchecked, since our own code made it. */
export { asFault, notSpent, OutcomeLog, outcomeSentence } from '../../release/session/outcome.js';
