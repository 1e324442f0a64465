import { directAssumption } from '../dependence/uninformed/direct.js';
import type { Dependence } from '../policy/policy.js';

/** What each declared dependence assumes, in plain words; plans and receipts print it. */
const words: { [K in Dependence['kind']]: (d: Extract<Dependence, { kind: K }>) => string } = {
  groups: (d) =>
    `Records in one group (${d.by.join(', ')}) are tied with an odds ratio of at most ${odds(d.oddsRatio)}${d.hidden ? ' to a hidden type of the group' : ''}${d.maxSize ? `; no group has more than ${d.maxSize} members` : '; who is in which group is known to the attacker'}.`,
  ties: (d) =>
    `Records in the relation "${d.relation}" are tied with an odds ratio of at most ${d.oddsColumn ? 'what the table says' : odds(d.oddsRatio)}; who is tied to whom is known to the attacker.${d.reach === 'direct' ? ` ${directAssumption.independent}` : ''}`,
  sequence: (d) => `The steps of one "${d.by}" in the order of "${d.order}" form a Markov chain with the declared transitions.`,
  gaussian: () =>
    'Numbers follow a Gaussian law with the declared precision matrix, restricted to the bounds in its file: no number lies outside these, not even one that releases pull to the bounds of its column, and none is missing.',
  factors: () => 'Records follow a distribution on the declared model graph whose odds ratios stay below the declared ones.',
  columns: () => 'Answers of one person follow the declared network; when the whole row is the secret it does not matter.',
};
const odds = (ratio: number) => (ratio === Number.POSITIVE_INFINITY ? 'any size (copies)' : `${ratio}`);

export const wordsFor = (d: Dependence): string => (words[d.kind] as (d: Dependence) => string)(d);
