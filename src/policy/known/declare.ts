import { compare, one, parseRational, type Rational } from '../../base/exact/rational.js';
import { sha256 } from '../../base/platform/hash.js';
import { shownBins } from '../bins.js';
import { codesOf, codeText, missingLabel } from '../code.js';
import { isNumber } from '../domain.js';
import { gridOf, positionsWhere } from '../grid.js';
import { type DeclareContext, encodingTerms, type FaultOf, valueReading } from '../pairs/declare.js';
import type { Column, Dependence, Protect } from '../policy.js';
import { invalid } from '../problems.js';
import { didYouMean } from '../suggest.js';
import { recordsPerChange } from './kinds.js';
import type { ColumnCut, KnownTest, KnownTotal, KnownTotals } from './known.js';
import { publishedIn } from './published.js';
import type { KnownEntry, TotalEntry } from './shape.js';

/** Other declarations of the policy that known totals must be compatible with. */
export interface KnownContext {
  readonly protect: Protect;
  readonly dependence: readonly Dependence[];
}

/** Known totals after validation, with the largest number of records in a change that keeps them. */
export function declareKnown(entry: KnownEntry, context: KnownContext, declaring: DeclareContext): KnownTotals {
  refuseCombinations(context, declaring);
  const declared = entry.map((total, i) => {
    const wrong: FaultOf = (message, hint) => invalid(declaring.yaml, ['known', i], message, hint);
    return declareTotal(total, declaring, wrong);
  });
  const totals = declared.map(({ total }) => total);
  const found = recordsPerChange(totals, declaring.columns);
  if (!found)
    throw invalid(
      declaring.yaml,
      ['known'],
      'Nothing but noise for everybody at once is proven beside these totals together: a change that keeps all of them may take very many records.',
      'Declare one margin that all of them follow from (margin: [region, sex]), or fewer totals.',
    );
  return {
    digest: digestOf(totals, declaring),
    totals,
    descriptions: declared.map(({ text }) => text),
    ...found,
  };
}

/** Refuses known totals in combinations for which known.proof.md has no proof. */
function refuseCombinations({ protect, dependence }: KnownContext, { yaml }: DeclareContext): void {
  const wrong = (message: string, hint: string) => invalid(yaml, ['known'], message, hint);
  if (protect.secret !== 'row')
    throw wrong(
      `Known totals do not go with the secret "${protect.secret}": the changes that keep them are computed for rows.`,
      'Protect rows (secret: row), or leave known out.',
    );
  if (protect.neighbours !== undefined)
    throw wrong(
      'Known totals do not go with records that are added or removed: without one of them no total would be what is known.',
      'Leave protect.neighbours out.',
    );
  if (protect.pairs !== undefined)
    throw wrong(
      'Known totals do not go with pairs of values: a change along pairs that keeps all totals may take very many records.',
      'Leave one of them out.',
    );
  if (dependence.length > 0)
    throw wrong(
      'Beside ties nothing useful is proven about totals that everybody knows: a total ties every record to every other.',
      'Write dependence: none if that is true, or leave known out; what the totals tell about people is then not limited.',
    );
}

function columnNamed(name: string, { columns }: DeclareContext, wrong: FaultOf): Column {
  const column = columns.get(name);
  if (column) return column;
  throw wrong(
    `The known totals name a column "${name}" that is not declared.`,
    didYouMean(name, [...columns.keys()], 'Declared columns'),
  );
}

interface DeclaredTotal {
  readonly total: KnownTotal;
  readonly text: string;
}

function declareTotal(entry: TotalEntry, declaring: DeclareContext, wrong: FaultOf): DeclaredTotal {
  const forms = (['margin', 'count', 'sum'] as const).filter((key) => entry[key] !== undefined);
  if (forms.length !== 1)
    throw wrong(
      'A known total is one margin, one count or one sum.',
      'Write {margin: [region]}, {count: {where: {region: north}}} or {sum: income, by: [region]}.',
    );
  if (entry.by && entry.sum === undefined)
    throw wrong('by goes with a sum.', 'Write margin: [region] for how many rows there are.');
  if (entry.value !== undefined && entry.values !== undefined)
    throw wrong('The published numbers are said twice.', 'Write value or values.');
  if (entry.margin) return marginOf(entry, entry.margin, declaring, wrong);
  return entry.count ? countOf(entry, entry.count, declaring, wrong) : sumOf(entry, entry.sum!, declaring, wrong);
}

function marginOf(entry: TotalEntry, names: readonly string[], declaring: DeclareContext, wrong: FaultOf): DeclaredTotal {
  const cuts = cutsOf(names, declaring, wrong);
  const values = publishedIn(entry, { cuts, unit: one }, declaring, wrong);
  return {
    total: { kind: 'margin', by: cuts.map(withoutLabels), ...(values && { values }) },
    text: `how many rows there are by ${listed(names)}`,
  };
}

function countOf(
  entry: TotalEntry,
  { where }: NonNullable<TotalEntry['count']>,
  declaring: DeclareContext,
  wrong: FaultOf,
): DeclaredTotal {
  const tests = Object.entries(where).map(([name, values]) => testOf(columnNamed(name, declaring, wrong), values, wrong));
  if (tests.length === 0)
    throw wrong(
      'Which rows are counted is not said.',
      'Write count: {where: {region: north}}; how many rows there are in all is public anyway.',
    );
  const values = publishedIn(entry, { cuts: [], unit: one }, declaring, wrong);
  const text = Object.entries(where).map(([name, list]) => `${name} ${list.join(' or ')}`);
  return { total: { kind: 'count', where: tests, ...(values && { values }) }, text: `how many rows have ${text.join(' and ')}` };
}

function testOf(column: Column, values: readonly string[], wrong: FaultOf): KnownTest {
  if (column.type === 'category') {
    const codes = codesOf(column);
    const unknown = values.find((value) => !codes.includes(codeText(value)));
    if (unknown !== undefined)
      throw wrong(`"${unknown}" is no declared code of "${column.name}".`, didYouMean(unknown, codes, 'Declared codes'));
    return { column: column.name, codes: codes.filter((code) => values.map(codeText).includes(code)) };
  }
  if (!isNumber(column)) throw wrong(`Rows cannot be counted by "${column.name}".`, 'Use columns of codes or numbers.');
  const [low, high] = values.map((text) => parseRational(text, 'end of a range')) as [Rational, Rational | undefined];
  if (values.length > 2 || (high && compare(low, high) > 0))
    throw wrong(`The values of "${column.name}" are no range.`, `Write ${column.name}: [18, 64], from the least to the largest.`);
  const grid = gridOf(column);
  const { from } = positionsWhere(grid, '>=', low);
  const { to } = positionsWhere(grid, '<=', high ?? low);
  return { column: column.name, from, to };
}

function sumOf(entry: TotalEntry, name: string, declaring: DeclareContext, wrong: FaultOf): DeclaredTotal {
  const column = columnNamed(name, declaring, wrong);
  if (!isNumber(column)) throw wrong(`The column "${name}" has no sum.`, 'Name a column of numbers.');
  const by = entry.by ?? [];
  if (by.includes(name)) throw wrong(`The sum of "${name}" goes by itself.`, `Write margin: [${name}].`);
  const cuts = cutsOf(by, declaring, wrong);
  const values = publishedIn(entry, { cuts, unit: gridOf(column).unit }, declaring, wrong);
  return {
    total: { kind: 'sum', column: name, by: cuts.map(withoutLabels), ...(values && { values }) },
    text: `the sum of ${name}${by.length > 0 ? ` by ${listed(by)}` : ''}`,
  };
}

/** Cut with the labels of its pieces. */
export interface LabelledCut extends ColumnCut {
  readonly labels: readonly string[];
}
const withoutLabels = ({ labels: _, ...cut }: LabelledCut): ColumnCut => cut;

function cutsOf(names: readonly string[], declaring: DeclareContext, wrong: FaultOf): readonly LabelledCut[] {
  if (new Set(names).size < names.length) throw wrong('A column is named twice.', 'Name each column once.');
  return names.map((name) => {
    const column = columnNamed(name, declaring, wrong);
    if (column.type === 'category') {
      const labels = [...codesOf(column), missingLabel];
      return { column: name, size: labels.length, labels };
    }
    if (!isNumber(column))
      throw wrong(`A margin cannot go by "${name}".`, 'Use columns of codes, or of numbers, which go by their bins.');
    const { starts, labels } = shownBins(column);
    return { column: name, starts, size: labels.length, labels };
  });
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

/** Totals without their values, and everything that determines the value of a cell. */
function digestOf(totals: readonly KnownTotal[], declaring: DeclareContext): string {
  const parts = totals.map(({ values: _, ...total }) => [
    total,
    namesIn(total).map((name) => [name, valueReading(declaring.columns.get(name)!)]),
  ]);
  return sha256(JSON.stringify([...parts, ...encodingTerms(declaring)])).slice(0, 16);
}

const namesIn = (total: KnownTotal): readonly string[] =>
  total.kind === 'count'
    ? total.where.map(({ column }) => column)
    : [...total.by.map(({ column }) => column), ...(total.kind === 'sum' ? [total.column] : [])];
