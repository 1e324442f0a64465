import { toText } from '../../base/exact/rational.js';
import { sha256 } from '../../base/platform/hash.js';
import type { KnownTotals } from '../../policy/known/known.js';
import type { Budget, Column, Dependence, LinkedTable, Protect, Relation } from '../../policy/policy.js';
import { modelFile, type TieKinds, tieKindOf, tieKinds } from '../ties/kinds.js';

/** Declarations of a policy, before its digest is known. */
export interface Terms {
  readonly protect: Protect;
  readonly budget: Budget;
  readonly dependence: readonly Dependence[];
  readonly undecided?: boolean;
  readonly columns: ReadonlyMap<string, Column>;
  readonly relations: ReadonlyMap<string, Relation>;
  /** Real tables of the relations whose tuples are the secrets, by name. */
  readonly edges: ReadonlyMap<string, string>;
  readonly known?: KnownTotals;
  readonly tables?: ReadonlyMap<string, LinkedTable>;
}

/**
 * Digest of all that the guarantee depends on: model files by content (not path), public columns, tables of protected relations,
 * pairs with their readings, owners of side tables. A belief budget with a delta promises more, so it has other terms.
 */
export function digestTerms(all: Terms, contents: ReadonlyMap<string, Buffer>, kinds: TieKinds = tieKinds): Digested {
  const terms = termsIn(all, contents, kinds);
  return { digest: sha256(canonicalJson(terms)), lines: linesOf(terms) };
}

/** The digest, and its terms one by one in words, so that two different digests can be compared term by term. */
export interface Digested {
  readonly digest: string;
  readonly lines: readonly string[];
}

const longest = 160;

/** Terms that the head of a summary contains already (termsOf in release/accountant/account.ts). */
const inHead = new Set(['secret', 'adversary', 'epsilon', 'delta']);

/** With that head, every part of the terms is a line: two digests differ only where some line does. */
function linesOf({ protect, dependence, ...rest }: TermsSummary): readonly string[] {
  const declared = Array.isArray(dependence) ? (dependence as readonly Dependence[]).map(tieText) : [String(dependence)];
  const ties = declared.length > 0 ? declared : ['none'];
  return [
    ...Object.entries({ ...protect, ...rest })
      .filter(([key, value]) => !inHead.has(key) && !(key === 'maxRows' && value === 1))
      .map(([key, value]) => `${key} ${plainly(value)}`),
    ...ties.map((tie) => `dependence ${tie}`),
  ].map((line) => (line.length <= longest ? line : `${line.slice(0, longest)}… #${sha256(line).slice(0, 8)}`));
}
type TermsSummary = Readonly<Record<string, unknown>> & { readonly dependence: unknown; readonly protect: object };

/** The kind first. */
const tieText = ({ kind, ...rest }: Dependence): string => `{kind: ${kind}, ${plainly(rest).slice(1)}`;

/** Approximately as in a policy, without the separator of the summary. */
const plainly = (value: unknown): string =>
  (typeof value === 'string'
    ? value
    : canonicalJson(value)
        .replace(/"([\w.*-]+)"/g, '$1')
        .replace(/[:,]/g, '$& ')
  ).replaceAll(';', ',');

function termsIn(
  { protect, budget, dependence, undecided, columns, relations, edges, known, tables = new Map() }: Terms,
  contents: ReadonlyMap<string, Buffer>,
  kinds: TieKinds,
) {
  const ties = dependence.map((d) => {
    const model = modelFile(d, kinds);
    if (model) return { ...d, [model.key]: sha256(contents.get(model.file)!) };
    const named = tieKindOf(d, kinds).relation?.(d).name;
    const relation = named === undefined ? undefined : relations.get(named);
    return relation ? { ...d, relation: { name: relation.name, columns: relation.columns, symmetric: relation.symmetric } } : d;
  });
  const open = [
    ...(protect.secret === 'answer' || protect.secret === 'row' || protect.secret === 'step'
      ? [...columns.values()].filter((c) => c.public).map((c) => `column ${c.name}`)
      : []),
    ...(protect.secret === 'edge' || protect.secret === 'person'
      ? [...relations.values()].filter((r) => !r.private).map((r) => `relation ${r.name}`)
      : []),
    ...[...tables.values()].filter((t) => t.public).map((t) => `table ${t.name}`),
  ].sort();
  const owned = [...tables.values()].flatMap((t) => (t.unit === undefined ? [] : [`${t.name} by ${t.unit}`])).sort();
  const secrets = [...edges]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, table]) => {
      const { columns: own, symmetric } = relations.get(name)!;
      return { name, table, columns: own, symmetric };
    });
  const { pairs, ...protection } = protect;
  return {
    protect: {
      ...protection,
      ...(pairs && { pairs: [pairs.digest, ...pairs.declarations.map((t) => `${t.columns.join(' and ')} ${t.text}`)] }),
    },
    epsilon: toText(budget.epsilon),
    delta: toText(budget.delta),
    dependence: undecided ? 'undecided' : ties,
    ...(budget.belief && budget.delta.num !== 0n && { belief: true }),
    ...(budget.others && {
      others: Object.entries(budget.others).map(([noise, cost]) => `${noise} ${toText(cost)}`),
    }),
    ...(open.length > 0 && { open }),
    ...(secrets.length > 0 && { secrets }),
    ...(owned.length > 0 && { tables: owned }),
    // Corrected published numbers do not change the terms: the protection depends on which
    // totals are known. Without published numbers the totals of the data itself are public.
    ...(known && {
      known: [known.digest, ...known.descriptions.map((text, k) => (known.totals[k]!.values ? `${text}, as published` : text))],
    }),
  };
}

/** JSON with sorted keys; Infinity has a name of its own. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) => {
    if (v === Number.POSITIVE_INFINITY) return 'inf';
    if (v === null || typeof v !== 'object' || Array.isArray(v)) return v;
    return Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
