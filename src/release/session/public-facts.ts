import { readingDigest } from '../../data/ties/slicing-column.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import type { Policy } from '../../policy/policy.js';
import type { PrivacyCost } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Measure } from '../../query/count/measure.js';
import { columnsOf } from '../../query/count/measure.js';
import { protectedStepsFault } from '../../query/count/public-steps.js';
import type { Account } from '../accountant/account.js';

/**
 * Fact that a release used at no cost because the terms declare it known. The ledger keeps it with the entry, so that terms
 * under which it would be secret are refused later. The forms, from `step in X` to `relation R`: public-facts.proof.md.
 */
export type PublicFact = string;

export const rowsFact: PublicFact = 'rows';
export const columnFact = (name: string): PublicFact => `column ${name}`;
export const stepFact = (name: string): PublicFact => `step in ${name}`;
/** Definition by which a public column is read; it decides which rows have the same value in it. */
export const readingIn = (policy: Policy, name: string): PublicFact =>
  `reading ${readingDigest(policy, name) ?? 'none'} of ${name}`;
/** True if it states how a public column was read. */
export const isReading = (what: PublicFact): boolean => what.startsWith('reading ');
export const relationFact = (name: string): PublicFact => `relation ${name}`;
const tableFact = (name: string): PublicFact => `table ${name}`;
const ownedTableFact = (name: string, unit: string): PublicFact => `rows of ${name} by ${unit}`;
const secretColumns = 'secret columns ';
const pairsFact = (digest: string): PublicFact => `pairs ${digest}`;
const knownFact = (digest: string): PublicFact => `known ${digest}`;
/** True if it explains an exact answer: zero sensitivity along pairs, known to everybody, or public rows of each step. */
export const explainsExactness = (what: PublicFact): boolean =>
  what.startsWith(pairsFact('')) || what.startsWith(knownFact('')) || what.startsWith(stepFact(''));

/** A cost of the whole row covers its secret answers only: public columns may have been read at no cost. */
export const factsByRow = ({ protect, columns }: Policy, { perRecord }: PrivacyCost): readonly PublicFact[] =>
  protect.secret === 'answer' && perRecord.size === 1 && perRecord.has(everyRecord)
    ? [...columns.values()].filter((c) => c.public).map((c) => columnFact(c.name))
    : [];
/** The same for releases of other publishers, who may have read columns that are not declared here. */
export const factsByOthers = ({ protect, columns }: Policy): readonly PublicFact[] =>
  protect.secret === 'answer'
    ? [`${secretColumns}${JSON.stringify([...columns.values()].filter((c) => !c.public).map((c) => c.name))}`]
    : [];
/** True if it lists the columns that were secret, so that no cost covers others. */
export const namesSecretColumns = (what: PublicFact): boolean => what.startsWith(secretColumns);

/** Public columns used in the bounds under ties: the scale of the noise reveals the values at which tied records stand. */
export const reliedByTies = (policy: Policy, { routes }: Pick<Account, 'routes'>): readonly PublicFact[] =>
  slicingsOf(policy)
    .filter(({ slicing }) => routes.some(({ amplifier }) => amplifier.slicings?.has(slicing)))
    .map(({ column: { name } }) => stepFact(name));

/** Facts that the measures of a batch take for known: columns that they depend on at no cost. */
export function factsReliedOn(measures: readonly Measure[], policy: Policy): readonly PublicFact[] {
  const { protect, columns, known: totals } = policy;
  const tables = [...new Set(measures.flatMap(({ countedView }) => countedView?.tables ?? []))].sort();
  if (tables.length > 0)
    return tables.map((name) => {
      const { unit } = policy.tables!.get(name)!;
      return unit === undefined ? tableFact(name) : ownedTableFact(name, unit);
    });
  if (totals) return measures.some((m) => m.sensitivity.size === 0) ? [knownFact(totals.digest)] : [];
  const { pairs } = protect;
  if (pairs) return measures.some((m) => m.sensitivity.size === 0) ? [pairsFact(pairs.digest)] : [];
  if (protect.secret !== 'answer') return [];
  const known = measures.flatMap((m) => columnsOf(m.counting).filter((name) => columns.get(name)?.public));
  const exact = measures.some((m) => m.sensitivity.size === 0);
  return [...(exact ? [rowsFact] : []), ...[...new Set(known)].sort().map(columnFact)];
}

/** The facts that these terms make secret. */
export const nowSecret = (relied: Iterable<PublicFact>, policy: Policy): readonly PublicFact[] =>
  [...new Set(relied)].filter((what) => isSecret(what, policy));

function isSecret(what: PublicFact, policy: Policy): boolean {
  const {
    protect: { secret, pairs },
    dependence,
    columns,
    relations,
  } = policy;
  const owned = /^rows of (\S+) by (.*)$/s.exec(what);
  // A removed table answers nothing more; with another unit the cost would be that of other people.
  if (owned) return policy.tables?.has(owned[1]!) === true && policy.tables.get(owned[1]!)!.unit !== owned[2];
  if (what.startsWith(tableFact(''))) return policy.tables?.get(what.slice(tableFact('').length))?.public === false;
  // Other pairs may have non-zero sensitivity, and ties carry the privacy loss of any record.
  if (what.startsWith(knownFact(''))) return policy.known === undefined || what !== knownFact(policy.known.digest);
  if (what.startsWith(pairsFact(''))) return pairs === undefined || what !== pairsFact(pairs.digest) || dependence.length > 0;
  if (namesSecretColumns(what)) {
    const booked = new Set(JSON.parse(what.slice(secretColumns.length)) as readonly string[]);
    return secret === 'answer' && [...columns.values()].some((c) => !c.public && !booked.has(c.name));
  }
  const read = /^reading \S+ of (.*)$/s.exec(what);
  if (read) return what !== readingIn(policy, read[1]!);
  if (what === rowsFact) return secret !== 'answer';
  const step = what.startsWith(stepFact('')) ? what.slice(stepFact('').length) : undefined;
  if (step !== undefined) return protectedStepsFault(policy, step) !== undefined;
  const name = what.slice(what.indexOf(' ') + 1);
  if (what === columnFact(name)) return secret === 'answer' && columns.get(name)?.public !== true;
  if (what === relationFact(name)) return (secret === 'edge' || secret === 'person') && relations.get(name)?.private !== false;
  // A note in a form that only another version can read.
  return true;
}
