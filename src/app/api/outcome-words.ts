/** What became of the budget, for whoever ends the process: of our own making, so nothing is checked. */
export { asFault, notSpent, Outcomes, outcomeText } from '../../release/session/outcome.js';
