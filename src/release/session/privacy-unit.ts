import { tieKindColumns, tieKindOf } from '../../data/ties/kinds.js';
import { type Neighbours, neighboursOf } from '../../policy/neighbours.js';
import type { Policy, SecretKind } from '../../policy/policy.js';
import type { PublicFact } from './public-facts.js';

/** The record that the cost of a receipt protects, its contribution bounds, and what neighbouring data sets agree on. */
export interface PrivacyUnit {
  readonly secret: SecretKind;
  /** Column that names the record a row belongs to. */
  readonly column?: string;
  /** One record, in words. */
  readonly record: string;
  /** Contribution bound: largest number of rows of one record that are used. */
  readonly maxRows: number;
  /** The same for every further table. */
  readonly tables?: Readonly<Record<string, number>>;
  readonly neighbours: Neighbours;
  /** Public columns: neighbouring data sets agree on them. */
  readonly public: readonly string[];
  /** Columns and relations that tie records; the attacker knows them. */
  readonly ties: readonly string[];
  /** Digests of the protected pairs of values and of the known totals. */
  readonly pairs?: string;
  readonly known?: string;
  /** Facts that the release used at no cost, as in its ledger entry (public-facts.ts). */
  readonly relied: readonly PublicFact[];
}

export function privacyUnitOf(policy: Policy, relied: readonly PublicFact[]): PrivacyUnit {
  const { protect, columns, tables = new Map<string, never>(), known } = policy;
  const { secret, unit, maxRows, pairs } = protect;
  const owned = [...tables.values()].filter((table) => !table.public);
  return {
    secret,
    ...(unit !== undefined && { column: unit }),
    record: recordWords(policy),
    maxRows,
    ...(owned.length > 0 && { tables: Object.fromEntries(owned.map((table) => [table.name, table.maxRows])) }),
    neighbours: neighboursOf(policy),
    public: [...columns.values()].filter((column) => column.public).map(({ name }) => name),
    ties: tiedBy(policy),
    ...(pairs && { pairs: pairs.digest }),
    ...(known && { known: known.digest }),
    relied,
  };
}

/** Names of the columns and relations that tie records. */
export const tiedBy = ({ dependence }: Pick<Policy, 'dependence'>): readonly string[] => [
  ...new Set(
    dependence.flatMap((tie) => {
      const relation = tieKindOf(tie).relation?.(tie);
      return [...tieKindColumns(tie).map(({ column }) => column), ...(relation ? [relation.name] : [])];
    }),
  ),
];

function recordWords({ protect: { secret, unit, maxRows, window = 1 } }: Policy): string {
  if (secret === 'person') return `all rows with one "${unit}", of which at most ${maxRows} ${maxRows === 1 ? 'is' : 'are'} used`;
  if (secret === 'edge') return 'one tuple of a relation';
  if (secret === 'answer') return 'one answer in one row';
  return secret === 'step' && window > 1 ? `${window} rows in a row of one sequence` : 'one row';
}
