import { readingDigest } from '../../data/ties/slicing-column.js';
import { slicingsOf } from '../../data/ties/slicings.js';
import type { Policy } from '../../policy/policy.js';
import type { Profile } from '../../privacy/mechanism/profile.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Measure } from '../../query/count/measure.js';
import { columnsOf } from '../../query/count/measure.js';
import { hiddenSteps } from '../../query/count/public-steps.js';
import type { Account } from '../accountant/account.js';

/**
 * Fact that a release used at no cost because the terms declare it known. The ledger keeps it with the entry, so that terms
 * under which it would be secret are refused later. The forms, from `step in X` to `relation R`: public-facts.proof.md.
 */
export type Relied = string;

export const rowsThemselves: Relied = 'rows';
export const column = (name: string): Relied => `column ${name}`;
export const stepIn = (name: string): Relied => `step in ${name}`;
/** Definition by which a public column is read; it decides which rows have the same value in it. */
export const readingIn = (policy: Policy, name: string): Relied => `reading ${readingDigest(policy, name) ?? 'none'} of ${name}`;
/** True if it states how a public column was read. */
export const isReading = (what: Relied): boolean => what.startsWith('reading ');
export const relation = (name: string): Relied => `relation ${name}`;
const openTable = (name: string): Relied => `table ${name}`;
const ownedTable = (name: string, unit: string): Relied => `rows of ${name} by ${unit}`;
const secretColumns = 'secret columns ';
const pairsOf = (digest: string): Relied => `pairs ${digest}`;
const knownOf = (digest: string): Relied => `known ${digest}`;
/** True if it explains an exact answer: zero sensitivity along pairs, known to everybody, or public rows of each step. */
export const saysWhyExact = (what: Relied): boolean =>
  what.startsWith(pairsOf('')) || what.startsWith(knownOf('')) || what.startsWith(stepIn(''));

/** A cost of the whole row covers its secret answers only: public columns may have been read at no cost. */
export const reliedByRow = ({ protect, columns }: Policy, { perRecord }: Profile): readonly Relied[] =>
  protect.secret === 'answer' && perRecord.size === 1 && perRecord.has(everyRecord)
    ? [...columns.values()].filter((c) => c.public).map((c) => column(c.name))
    : [];
/** The same for releases of other publishers, who may have read columns that are not declared here. */
export const reliedByOthers = ({ protect, columns }: Policy): readonly Relied[] =>
  protect.secret === 'answer'
    ? [`${secretColumns}${JSON.stringify([...columns.values()].filter((c) => !c.public).map((c) => c.name))}`]
    : [];
/** True if it lists the columns that were secret, so that no cost covers others. */
export const saysWhichColumns = (what: Relied): boolean => what.startsWith(secretColumns);

/** Public columns used in the bounds under ties: the scale of the noise reveals the values at which tied records stand. */
export const reliedByTies = (policy: Policy, { routes }: Pick<Account, 'routes'>): readonly Relied[] =>
  slicingsOf(policy)
    .filter(({ slicing }) => routes.some(({ amplifier }) => amplifier.slicings?.has(slicing)))
    .map(({ column: { name } }) => stepIn(name));

/** Facts that the measures of a batch take for known: columns that they depend on at no cost. */
export function reliedOn(measures: readonly Measure[], policy: Policy): readonly Relied[] {
  const { protect, columns, known: totals } = policy;
  const tables = [...new Set(measures.flatMap(({ seen }) => seen?.tables ?? []))].sort();
  if (tables.length > 0)
    return tables.map((name) => {
      const { unit } = policy.tables!.get(name)!;
      return unit === undefined ? openTable(name) : ownedTable(name, unit);
    });
  if (totals) return measures.some((m) => m.effects.size === 0) ? [knownOf(totals.digest)] : [];
  const { pairs } = protect;
  if (pairs) return measures.some((m) => m.effects.size === 0) ? [pairsOf(pairs.digest)] : [];
  if (protect.secret !== 'answer') return [];
  const known = measures.flatMap((m) => columnsOf(m.counting).filter((name) => columns.get(name)?.public));
  const exact = measures.some((m) => m.effects.size === 0);
  return [...(exact ? [rowsThemselves] : []), ...[...new Set(known)].sort().map(column)];
}

/** The facts that these terms make secret. */
export const nowSecret = (relied: Iterable<Relied>, policy: Policy): readonly Relied[] =>
  [...new Set(relied)].filter((what) => isSecret(what, policy));

function isSecret(what: Relied, policy: Policy): boolean {
  const {
    protect: { secret, pairs },
    dependence,
    columns,
    relations,
  } = policy;
  const owned = /^rows of (\S+) by (.*)$/s.exec(what);
  // A removed table answers nothing more; with another unit the cost would be that of other people.
  if (owned) return policy.tables?.has(owned[1]!) === true && policy.tables.get(owned[1]!)!.unit !== owned[2];
  if (what.startsWith(openTable(''))) return policy.tables?.get(what.slice(openTable('').length))?.public === false;
  // Other pairs may have non-zero sensitivity, and ties carry the privacy loss of any record.
  if (what.startsWith(knownOf(''))) return policy.known === undefined || what !== knownOf(policy.known.digest);
  if (what.startsWith(pairsOf(''))) return pairs === undefined || what !== pairsOf(pairs.digest) || dependence.length > 0;
  if (saysWhichColumns(what)) {
    const booked = new Set(JSON.parse(what.slice(secretColumns.length)) as readonly string[]);
    return secret === 'answer' && [...columns.values()].some((c) => !c.public && !booked.has(c.name));
  }
  const read = /^reading \S+ of (.*)$/s.exec(what);
  if (read) return what !== readingIn(policy, read[1]!);
  if (what === rowsThemselves) return secret !== 'answer';
  const step = what.startsWith(stepIn('')) ? what.slice(stepIn('').length) : undefined;
  if (step !== undefined) return hiddenSteps(policy, step) !== undefined;
  const name = what.slice(what.indexOf(' ') + 1);
  if (what === column(name)) return secret === 'answer' && columns.get(name)?.public !== true;
  if (what === relation(name)) return (secret === 'edge' || secret === 'person') && relations.get(name)?.private !== false;
  // A note in a form that only another version can read.
  return true;
}
