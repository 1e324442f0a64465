import type { Column, Policy } from '../api/shapes.ts';

/** Questions about several columns at once. */
export type SeveralKind = 'workload' | 'synth' | 'kmeans' | 'classify';

const isNumber = ({ type }: Column) => type === 'integer' || type === 'number';
const isOne = (c: Column) => c.type === 'category' || isNumber(c);
/** Columns that can be the label of a classifier: some answers are positive, the others negative. */
export const isLabel = (c: Column): boolean => c.type === 'category' && (c.values?.length ?? 0) > 1;

interface Several {
  readonly label: string;
  readonly hint: string;
  /** Columns it takes, and the least number of them. */
  readonly of: (column: Column) => boolean;
  readonly fewest: number;
  /** Condition on the column that it is about. */
  readonly about?: (column: Column) => boolean;
  readonly groups: false;
  readonly where: false;
  /** One additional number. */
  readonly many?: { readonly label: string; readonly usual: string; readonly least: number; readonly most: number };
}

const plain = { groups: false, where: false } as const;
export const severalKinds: Readonly<Record<SeveralKind, Several>> = {
  workload: {
    ...plain,
    label: 'Many tables that agree',
    hint: 'All tables of so many of these columns, with the noise that suits all of them together.',
    of: isOne,
    fewest: 2,
    many: { label: 'Columns of each table', usual: '2', least: 1, most: 5 },
  },
  synth: {
    ...plain,
    label: 'Synthetic rows',
    hint: 'Rows of nobody that look like the data, for programs that want rows.',
    of: (c) => isOne(c) || c.type === 'multi',
    fewest: 1,
    many: { label: 'Rows', usual: '1000', least: 1, most: 100_000 },
  },
  kmeans: {
    ...plain,
    label: 'Clusters',
    hint: 'Centres of groups of rows that lie close to one another (k-means).',
    of: isNumber,
    fewest: 1,
    many: { label: 'Clusters', usual: '3', least: 2, most: 64 },
  },
  classify: {
    ...plain,
    label: 'A classifier',
    hint: 'Weights that tell one answer from the others (logistic regression).',
    of: isOne,
    fewest: 2,
    about: isLabel,
  },
};

export const isSeveral = (kind: string): kind is SeveralKind => kind in severalKinds;

/** The columns that may be chosen for it. */
export const severalOf = ({ columns }: Policy, kind: SeveralKind, about: string): readonly Column[] =>
  columns.filter((c) => severalKinds[kind].of(c) && (kind !== 'classify' || c.name !== about));

/** Initial choice of columns and number. */
export const severalFor = (policy: Policy, kind: SeveralKind, about: string) => ({
  several: severalOf(policy, kind, about)
    .slice(0, 3)
    .map((c) => c.name),
  many: severalKinds[kind].many?.usual ?? '',
});

interface Chosen {
  readonly column: string;
  readonly values: readonly string[];
  readonly several: readonly string[];
  readonly many: string;
}

/** Request in the service's form, or a text that names what is missing. */
export function severalQuestion(
  kind: SeveralKind,
  { column, values, several, many }: Chosen,
): { readonly question: object } | { readonly missing: string } {
  const { many: manyNeeded } = severalKinds[kind];
  const number = Number(many);
  if (several.length === 0) return { missing: 'Choose at least one column.' };
  if (manyNeeded && !(Number.isInteger(number) && number >= manyNeeded.least && number <= manyNeeded.most))
    return { missing: `${manyNeeded.label}: a whole number from ${manyNeeded.least} to ${manyNeeded.most}.` };
  if (kind === 'workload')
    return number > several.length
      ? { missing: `A table of ${number} columns needs as many.` }
      : { question: { workload: { tables: [{ all: number, of: several }] } } };
  if (kind === 'synth') return { question: { synth: { columns: several, rows: number } } };
  if (kind === 'kmeans') return { question: { kmeans: { columns: several, clusters: number } } };
  return values.length === 0
    ? { missing: 'Choose at least one answer.' }
    : { question: { classify: { label: column, positive: values, features: several.filter((name) => name !== column) } } };
}
