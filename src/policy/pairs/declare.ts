import { fromNumber, toNumberUp, toText } from '../../base/exact/rational.js';
import { sha256 } from '../../base/platform/hash.js';
import { codesOf } from '../code.js';
import { isCoded, isNumber } from '../domain.js';
import { gridOf } from '../grid.js';
import type { Column, Protect } from '../policy.js';
import { invalid } from '../problems.js';
import { didYouMean } from '../suggest.js';
import type { YamlFile } from '../yaml-file.js';
import { graphOf, secretsOf } from './code-graph.js';
import { degreesWithin } from './degrees.js';
import type { ColumnPairs, Pairs, PairsDeclaration } from './pairs.js';
import type { FormEntry, PairsEntry } from './shape.js';
import { blocksOf, numberIn, pairSteps, rangesOf, stepsOfCells } from './steps.js';

export interface DeclareContext {
  readonly directory: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly yaml: YamlFile;
  /** Encoding of the data file where one is declared: what text a cell holds depends on it. */
  readonly encoding?: string;
}
/** A fault at the pairs of one column. */
export type FaultOf = (message: string, hint: string) => Error;

/** Pairs after validation; undefined if they leave all pairs of values as they were. */
export function declarePairs(
  entry: PairsEntry,
  protect: Pick<Protect, 'secret' | 'unit' | 'neighbours'>,
  declaring: DeclareContext,
): Pairs | undefined {
  refuseCombinations(protect, declaring.yaml);
  const columns = new Map<string, ColumnPairs>();
  const declarations: PairsDeclaration[] = [];
  const all = new Set(Object.keys(entry).filter((key) => entry[key] === 'all'));
  const put = (written: PairsDeclaration, made: readonly ColumnPairs[], wrong: FaultOf) => {
    for (const [k, name] of written.columns.entries()) {
      const known = columns.get(name);
      if (known?.form === 'same' && made[k]!.form === 'same') return;
      if (known || all.has(name))
        throw wrong(
          `The pairs of "${name}" are declared twice.`,
          'A column in which rows agree (same, partition by) has no pairs of its own.',
        );
      columns.set(name, made[k]!);
    }
    declarations.push(written);
  };
  for (const [key, form] of Object.entries(entry)) {
    const wrong: FaultOf = (message, hint) => invalid(declaring.yaml, ['protect', 'pairs', key], message, hint);
    if (form === 'all') columnNamed(key, declaring, wrong);
    else if (Array.isArray(form)) {
      if (key !== 'same')
        throw wrong(`The pairs of "${key}" are not understood.`, `Write ${key}: {within: 5}, or same: [${key}].`);
      for (const name of form) put({ columns: [name], text: 'same' }, [agreeing(columnNamed(name, declaring, wrong))], wrong);
    } else if (form.columns !== undefined) {
      const places = form.columns.map((name) => columnNamed(name, declaring, wrong));
      const made = near(form, places, wrong);
      put({ columns: form.columns, text: textOf(form, wrong) }, made, wrong);
    } else {
      const by = partitionedBy(form);
      const column = columnNamed(key, declaring, wrong);
      if (by !== undefined) put({ columns: [by], text: 'same' }, [agreeing(columnNamed(by, declaring, wrong))], wrong);
      else {
        const made = pairsOf(column, form, declaring, wrong);
        put({ columns: [key], text: textOf(form, wrong), ...(!isCoded(column) && numbersIn(form, wrong)) }, [made], wrong);
      }
    }
  }
  refuseUnit(protect, [...columns.keys(), ...all], declaring.yaml);
  const whose = protect.secret === 'person' ? [`person by ${protect.unit}`] : [];
  return columns.size === 0
    ? undefined
    : { digest: digestOf(columns, declaring.columns, [...whose, ...encodingTerms(declaring)]), columns, declarations };
}

function columnNamed(name: string, { columns }: DeclareContext, wrong: FaultOf): Column {
  const column = columns.get(name);
  if (!column)
    throw wrong(
      `The pairs name a column "${name}" that is not declared.`,
      didYouMean(name, [...columns.keys()], 'Declared columns'),
    );
  return column;
}

/** Refuses pairs in combinations for which pairs.proof.md has no proof. */
function refuseCombinations({ secret, neighbours }: Pick<Protect, 'secret' | 'neighbours'>, yaml: YamlFile): void {
  const wrong = (message: string, hint: string) => invalid(yaml, ['protect', 'pairs'], message, hint);
  const leave = 'Leave pairs out: any two values then stay indistinguishable.';
  if (neighbours !== undefined)
    throw wrong('Pairs of values do not go with records that are added or removed: an absent record has no value.', leave);
  if (secret === 'answer')
    throw wrong(
      'Pairs do not go with the secret "answer": what else a person answered goes along with an answer, and further than pairs allow.',
      `Protect rows (secret: row): pairs are then declared for each column all the same; write same: [region] for columns that everybody knows. ${leave}`,
    );
  if (secret === 'edge') throw wrong('Pairs are of values in columns; the tuples of a relation have none.', leave);
}

/**
 * Refuses pairs on the unit column: a pair never moves rows from one person to another, and a person's rows are used all or not
 * at all.
 */
function refuseUnit({ secret, unit }: Pick<Protect, 'secret' | 'unit'>, named: readonly string[], yaml: YamlFile): void {
  if (secret !== 'person' || unit === undefined || !named.includes(unit)) return;
  throw invalid(
    yaml,
    ['protect', 'pairs'],
    `The column "${unit}" says whose rows these are, so it has no pairs: a person keeps it whatever else changes.`,
    `Leave "${unit}" out of the pairs; declare those of the other columns.`,
  );
}

/** `partition: by country` is short for {by: country}. */
function partitionedBy({ partition }: FormEntry): string | undefined {
  return typeof partition === 'string' ? partition.trim().replace(/^by\s+/, '') : partition?.by;
}

const sizeOf = (column: Column): number => (isCoded(column) ? codesOf(column).length : gridOf(column).last + 1);
const agreeing = (column: Column): ColumnPairs => ({ form: 'same', missing: 'apart', size: sizeOf(column) });

const forms = ['within', 'partition', 'graph', 'secrets'] as const;

function pairsOf(column: Column, form: FormEntry, declaring: DeclareContext, wrong: FaultOf): ColumnPairs {
  const chosenForms = forms.filter((key) => form[key] !== undefined);
  if (chosenForms.length !== 1)
    throw wrong(
      chosenForms.length === 0 ? `The pairs of "${column.name}" are not said.` : `The pairs of "${column.name}" are said twice.`,
      'Write one of within, partition, graph and secrets; or all.',
    );
  if (form.between !== undefined && form.secrets === undefined)
    throw wrong('between goes with named secrets.', 'Write secrets: {ill: [1, 2], well: [3]}, between: [[ill, well]].');
  if (column.type === 'multi')
    throw wrong(
      `The column "${column.name}" holds several answers at once: which sets of them lie near each other is not declared.`,
      `Write same: [${column.name}] where it may be learned, or leave it out.`,
    );
  const base = { size: sizeOf(column), missing: form.missing ?? ('any' as const) };
  if (form.within !== undefined) return { ...base, form: 'steps', steps: pairSteps(column, String(form.within), wrong) };
  if (form.partition !== undefined && typeof form.partition !== 'string')
    return column.type === 'category'
      ? { ...base, form: 'blocks', blockOf: blocksOf(column, form.partition.blocks, wrong) }
      : { ...base, form: 'ranges', starts: rangesOf(column, form.partition.edges, wrong) };
  if (column.type !== 'category')
    throw wrong(`The column "${column.name}" has no codes to name.`, 'Write within: 5 or partition: {edges: [30, 45]}.');
  const joined = form.graph === undefined ? secretsOf(column, form, wrong) : graphOf(column, form.graph, declaring, wrong);
  return { ...base, form: 'graph', joined };
}

const kmIn = (text: FormEntry['within']): string => /^\s*(\S+?)\s*km\s*$/.exec(String(text ?? ''))?.[1] ?? '';

/** Places: a box around every circle. */
function near(form: FormEntry, places: readonly Column[], wrong: FaultOf): readonly ColumnPairs[] {
  if (kmIn(form.within) === '' || forms.some((key) => key !== 'within' && form[key] !== undefined))
    throw wrong('Columns of latitude and longitude go with a distance.', 'Write {columns: [lat, lon], within: 5 km}.');
  const [lat, lon] = places.map((column) => {
    if (isNumber(column)) return column;
    throw wrong(`The column "${column.name}" holds no degrees.`, 'Latitude and longitude are numbers with bounds.');
  });
  if (lat === lon) throw wrong('Latitude and longitude are the same column.', 'Write {columns: [lat, lon], within: 5 km}.');
  const ends = (column: NonNullable<typeof lat>) => column.bounds.map((x) => Number(x.num) / Number(x.den)) as [number, number];
  const [south, north] = ends(lat!);
  const [west, east] = ends(lon!);
  if (south < -90 || north > 90)
    throw wrong(`The bounds of "${lat!.name}" are no latitudes.`, 'Name latitude first, in degrees from -90 to 90.');
  const { latitude, longitude } = degreesWithin(
    toNumberUp(numberIn(kmIn(form.within), wrong)),
    Math.max(Math.abs(south), Math.abs(north)),
  );
  const base = { missing: form.missing ?? ('any' as const) };
  const steps = (column: NonNullable<typeof lat>, degrees: number): ColumnPairs => ({
    ...base,
    form: 'steps',
    size: sizeOf(column),
    steps: Math.min(sizeOf(column), Number(stepsOfCells(column, fromNumber(Math.min(360, degrees))))),
  });
  // Around the date line the two ends of the column are neighbours.
  return [steps(lat!, latitude), steps(lon!, east - west + longitude >= 360 ? 360 : longitude)];
}

/** The numbers that a form names. */
function numbersIn({ within, partition }: FormEntry, wrong: FaultOf): Pick<PairsDeclaration, 'within' | 'edges'> {
  if (within !== undefined) return { within: numberIn(String(within), wrong) };
  return typeof partition === 'object' && partition.edges ? { edges: partition.edges } : {};
}

/** Canonical text of the pairs, the same for all ways to write them; a file enters by its content through the digest. */
function textOf(form: FormEntry, wrong: FaultOf): string {
  const text = forms.flatMap((key) => (form[key] === undefined ? [] : [texts[key](form, wrong)])).join(' ');
  return form.missing === 'apart' ? `${text}, missing apart` : text;
}
const texts: Readonly<Record<(typeof forms)[number], (form: FormEntry, wrong: FaultOf) => string>> = {
  within: ({ within, columns }, wrong) =>
    columns ? `within ${toText(numberIn(kmIn(within), wrong))} km` : `within ${toText(numberIn(String(within), wrong))}`,
  partition: ({ partition }) => {
    if (typeof partition !== 'object') return '';
    const blocks = partition.blocks?.map((block) => block.join(' ')).join(' | ');
    return blocks === undefined ? `edges ${partition.edges?.map(toText).join(' ')}` : `blocks ${blocks}`;
  },
  graph: () => 'graph',
  secrets: ({ secrets = {}, between }) => {
    const named = Object.entries(secrets).map(([name, codes]) => `${name} (${codes.join(' ')})`);
    return `secrets ${named.join(' | ')}${between ? ` between ${between.map((pair) => pair.join(' and ')).join(', ')}` : ''}`;
  },
};

export const encodingTerms = ({ encoding }: DeclareContext): readonly string[] =>
  encoding === undefined ? [] : [`in ${encoding}`];

/** Digest input: the graph, all that determines the value of a cell, and whose rows move together if not single rows. */
function digestOf(
  pairs: ReadonlyMap<string, ColumnPairs>,
  columns: ReadonlyMap<string, Column>,
  whose: readonly string[],
): string {
  const parts: unknown[] = [...pairs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => [name, valueReading(columns.get(name)!), Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1))]);
  return sha256(JSON.stringify([...parts, ...whose])).slice(0, 16);
}

/** Everything that determines the value of a cell of the column. */
export function valueReading(column: Column): readonly unknown[] {
  if (isCoded(column)) return [column.type, codesOf(column), column.type === 'multi' ? column.separator : ''];
  const { low, step, last, missing } = gridOf(column);
  const days = 'date' in column && column.date ? ['date'] : [];
  return [column.type, toText(low), toText(step), last, missing, column.decimal ?? '.', ...days];
}
