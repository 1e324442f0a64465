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
 * What a release gave away for nothing because the terms declare it known: the ledger keeps it with the entry, so that terms which would have charged for it
 * are refused later (relied.proof.md).
 * `step in X`: none for a record's place in X, whatever the secret is; also where only the rows of each step of X were counted, or ties bounded what its values carry.
 * `reading D of X`: the same for the values of X as a column of the digest D has them; another reading may join rows that were told apart.
 * `pairs X`: none at all, because no pair of the digest X moves it and nobody is tied.
 * `known X`: none at all, because it follows from totals of the digest X that everybody knows.
 * `secret columns [..]`: a cost for all that a row may hold was booked for the answers to these, as they were all that were secret.
 * `table T`: none for the rows of T, because it is public. `rows of T by U`: what its rows tell was booked for whom column U names.
 * `rows`: no cost was booked for the row as a whole. `column X`: none for the answers to X. `relation R`: none for the tuples of R.
 */
export type Relied = string;

export const rowsThemselves: Relied = 'rows';
export const column = (name: string): Relied => `column ${name}`;
export const stepIn = (name: string): Relied => `step in ${name}`;
/** How a public column is read, which decides which rows have the same value in it. */
export const readingIn = (policy: Policy, name: string): Relied => `reading ${readingDigest(policy, name) ?? 'none'} of ${name}`;
/** Whether it is how a public column was read. */
export const isReading = (what: Relied): boolean => what.startsWith('reading ');
export const relation = (name: string): Relied => `relation ${name}`;
const openTable = (name: string): Relied => `table ${name}`;
const ownedTable = (name: string, unit: string): Relied => `rows of ${name} by ${unit}`;
const secretColumns = 'secret columns ';
const pairsOf = (digest: string): Relied => `pairs ${digest}`;
const knownOf = (digest: string): Relied => `known ${digest}`;
/** Told without noise, and it says why: along pairs, because everybody knows it, or because the rows of each step are public. */
export const saysWhyExact = (what: Relied): boolean =>
  what.startsWith(pairsOf('')) || what.startsWith(knownOf('')) || what.startsWith(stepIn(''));

/** What is booked for a row as a whole counts for the answers that are secret: other columns may have been read for nothing. */
export const reliedByRow = ({ protect, columns }: Policy, { perRecord }: Profile): readonly Relied[] =>
  protect.secret === 'answer' && perRecord.size === 1 && perRecord.has(everyRecord)
    ? [...columns.values()].filter((c) => c.public).map((c) => column(c.name))
    : [];
/** The same of what others told, who may have read columns that are not declared here. */
export const reliedByOthers = ({ protect, columns }: Policy): readonly Relied[] =>
  protect.secret === 'answer'
    ? [`${secretColumns}${JSON.stringify([...columns.values()].filter((c) => !c.public).map((c) => c.name))}`]
    : [];
/** Whether it is about columns that nothing was booked for. */
export const saysWhichColumns = (what: Relied): boolean => what.startsWith(secretColumns);

/** Public columns that the bounds of ties were worked out by: amounts of noise tell at which of their values tied records stand. */
export const reliedByTies = (policy: Policy, { routes }: Pick<Account, 'routes'>): readonly Relied[] =>
  slicingsOf(policy)
    .filter(({ slicing }) => routes.some(({ amplifier }) => amplifier.slicings?.has(slicing)))
    .map(({ column: { name } }) => stepIn(name));

/** What the measures of a batch take for known: the columns whose answers they move with and book no cost for. */
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

/** Of what was relied on, what these terms make secret. */
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
  // Of a table that is gone nothing more is told; by another unit it would be about others.
  if (owned) return policy.tables?.has(owned[1]!) === true && policy.tables.get(owned[1]!)!.unit !== owned[2];
  if (what.startsWith(openTable(''))) return policy.tables?.get(what.slice(openTable('').length))?.public === false;
  // Other pairs may be moved by it, and ties carry what any record tells.
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
  // A note that only another version can read.
  return true;
}
