import { resolve } from 'node:path';
import { type Rational, toNumberUp } from '../exact/rational.js';
import type { Column, Dependence, Relation } from './policy.js';
import { invalid } from './problems.js';
import type { DependenceEntry, PolicyFile } from './schema.js';
import { didYouMean } from './suggest.js';
import type { Path, YamlFile } from './yaml-file.js';

interface Context {
  readonly directory: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly relations: ReadonlyMap<string, Relation>;
  readonly yaml: YamlFile;
}
type Told<K extends DependenceEntry['kind']> = Extract<DependenceEntry, { kind: K }>;
type Declared<K extends Dependence['kind']> = Extract<Dependence, { kind: K }>;

/** Rounded up: a tie may only be taken for stronger than declared. A tie without a strength counts as a copy. */
const ratio = (declared: Rational | 'inf' | undefined): number =>
  declared === undefined || declared === 'inf' ? Number.POSITIVE_INFINITY : toNumberUp(declared);

function tiedColumn(entry: { column?: string | undefined }, path: Path, { columns, yaml }: Context): { column?: string } {
  if (entry.column === undefined) return {};
  if (!columns.has(entry.column))
    throw invalid(
      yaml,
      [...path, 'column'],
      `The tied column "${entry.column}" is not declared.`,
      `${didYouMean(entry.column, [...columns.keys()], 'Declared columns')} Declare it under columns: or in the codebook.`,
    );
  return { column: entry.column };
}

/** The one place that knows how each kind is written. */
const declare: { [K in Dependence['kind']]: (entry: Told<K>, path: Path, context: Context) => Declared<K> } = {
  groups: (entry, path, context) => {
    const by = Array.isArray(entry.by) ? entry.by : [entry.by];
    const repeated = by.find((name, i) => by.indexOf(name) !== i);
    if (repeated !== undefined)
      throw invalid(context.yaml, [...path, 'by'], `The group column "${repeated}" is listed twice.`, 'List each column once.');
    return {
      kind: 'groups',
      by,
      ...tiedColumn(entry, path, context),
      oddsRatio: ratio(entry.oddsRatio),
      hidden: entry.hidden ?? false,
      ...(entry.maxSize !== undefined && { maxSize: entry.maxSize }),
    };
  },
  ties: (entry, path, context) => {
    const relation = context.relations.get(entry.relation);
    if (!relation)
      throw invalid(
        context.yaml,
        [...path, 'relation'],
        `The relation "${entry.relation}" is not declared.`,
        context.relations.size > 0
          ? didYouMean(entry.relation, [...context.relations.keys()], 'Declared relations')
          : 'Declare it under relations: with its table and columns.',
      );
    if (relation.columns.length !== 2)
      throw invalid(
        context.yaml,
        [...path, 'relation'],
        'Ties need a relation between two records.',
        'Its columns: list has two names.',
      );
    return {
      kind: 'ties',
      relation: entry.relation,
      ...tiedColumn(entry, path, context),
      oddsRatio: ratio(entry.oddsRatio),
      ...(entry.oddsColumn !== undefined && { oddsColumn: entry.oddsColumn }),
      reach: entry.reach ?? 'any',
      ...(entry.maxTies !== undefined && { maxTies: entry.maxTies }),
    };
  },
  columns: (entry, _path, { directory }) => ({ kind: 'columns', network: resolve(directory, entry.network) }),
  sequence: (entry, path, context) => {
    tiedColumn({ column: entry.state }, path, context);
    return { ...entry, transition: resolve(context.directory, entry.transition) };
  },
  gaussian: (entry, _path, { directory }) => ({ kind: 'gaussian', precision: resolve(directory, entry.precision) }),
  factors: (entry, _path, { directory }) => ({ kind: 'factors', model: resolve(directory, entry.model) }),
};

export function declareDependence(entries: PolicyFile['dependence'], context: Context): readonly Dependence[] {
  if (entries === 'none') return [];
  return entries.map((entry, i) =>
    (declare[entry.kind] as (e: DependenceEntry, p: Path, c: Context) => Dependence)(entry, ['dependence', i], context),
  );
}

const modelKeys = ['network', 'transition', 'precision', 'model'] as const;
/** The key and path of the model file a dependence rests on, if any. */
export function modelFile(dependence: Dependence): { readonly key: string; readonly file: string } | undefined {
  const paths = dependence as Partial<Record<(typeof modelKeys)[number], string>>;
  const key = modelKeys.find((k) => paths[k] !== undefined);
  return key && { key, file: paths[key]! };
}
