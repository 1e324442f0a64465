/** What became of the budget, for whoever runs the process. */
export { asFault, Outcomes, outcomeText } from '../release/outcome.js';
