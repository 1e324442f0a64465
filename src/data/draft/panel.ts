import { isGroupName, isIdName, isPersonIdName, isTimeName } from '../../policy/column-name.js';
import { foundGroups } from './groups.js';
import { type ColumnSummary, isIdLike } from './guess.js';
import { hashOf } from './value-sample.js';

/** A column that names persons with several rows, and the time column, if there is one. */
export interface FoundPanel {
  readonly unit: string;
  readonly order?: string;
  /** As many rows as one of them has, rounded up; how many steps there are, where they have an order. */
  readonly maxRows: number;
}

const [mostUnits, mostOrders] = [12, 6];
const maxSteps = 1000;

const repeats = ({ distinct, filled, rows }: ColumnSummary): boolean =>
  distinct >= 2 && distinct < 0.97 * filled && filled > 0.9 * rows;
const isEven = ({ most, filled, distinct }: ColumnSummary, times: number): boolean => most <= (times * filled) / distinct;
/** Keys of another person or thing: a parent, a place, a firm. */
const other =
  /father|mother|parent|spouse|partner|sibling|infector|interviewer|coder|head|vater|mutter|p[eè]re|m[eè]re|country|county|region|district|city|state|land|place|shop|store|product|item|firm|company|dep(artmen)?t|team|event|category|type|visit|row|obs|record|session|order|location|zone|area|vendor|rate|group|cluster/i;
const isNamed = ({ name }: ColumnSummary): boolean =>
  isPersonIdName(name) || ((isIdName(name) || isIdLike(name)) && !isGroupName(name) && !other.test(name));
const isWhole = ({ fractions, dates, filled, wordiest }: ColumnSummary): boolean =>
  fractions === 0 && dates < filled / 2 && wordiest <= 3;

/** Columns that may name the owner of a row, those with an explicit name first. */
const unitsIn = (columns: readonly ColumnSummary[]): readonly ColumnSummary[] =>
  columns
    .filter(
      (c) =>
        repeats(c) && isWhole(c) && !isTimeName(c.name) && (isNamed(c) || foundGroups(c) || (c.distinct >= 5 && isEven(c, 3))),
    )
    .sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || b.distinct - a.distinct)
    .slice(0, mostUnits);

/** Columns that may be times: by name, dates, or whole numbers each of which is in about as many rows. */
const ordersIn = (columns: readonly ColumnSummary[]): readonly ColumnSummary[] =>
  columns
    .filter(
      (c) =>
        c.distinct >= 2 &&
        c.distinct <= c.filled / 2 &&
        c.filled > 0.5 * c.rows &&
        (isTimeName(c.name) || c.dates > c.filled / 2 || isCounted(c)),
    )
    .sort((a, b) => Number(isTimeName(b.name)) - Number(isTimeName(a.name)))
    .slice(0, mostOrders);
const isCounted = (c: ColumnSummary): boolean =>
  c.range !== undefined &&
  c.numbers === c.filled &&
  c.fractions === 0 &&
  c.distinct <= maxSteps &&
  c.distinct === c.range[1] - c.range[0] + 1 &&
  isEven(c, 1.5);

const roundUp = (x: number): number => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, x)));
  return [1, 2, 3, 5, 10].map((m) => m * unit).find((y) => y >= x)!;
};

/** Number of values whose rows are all examined, and of meeting rows after which the test stops. */
const [mostKept, plentyMet] = [4000, 10_000];
/**
 * Chance meetings expected before their absence is significant, more for an
 * order column without a time-like name; and the tolerated share of them.
 */
const [fewestPairs, fewestUnnamed, chance] = [20, 100, 0.02];
const two = (n: number): number => (n * (n - 1)) / 2;

/** Counts pairs of rows with the same value and the same time. */
class Meetings {
  readonly order: ColumnSummary;
  readonly #times = new Map<string, Map<string, number>>();
  readonly #all = new Map<string, number>();
  #rows = 0;
  #met = 0;

  constructor(order: ColumnSummary) {
    this.order = order;
  }

  see(who: string, when: string): void {
    if (this.#met > plentyMet) return;
    const steps = this.#times.get(who) ?? new Map<string, number>();
    const before = steps.get(when) ?? 0;
    this.#met += before;
    steps.set(when, before + 1);
    this.#times.set(who, steps);
    this.#all.set(when, (this.#all.get(when) ?? 0) + 1);
    this.#rows++;
  }

  /** True if such pairs are rare, although many would be expected by chance. */
  get neverMeet(): boolean {
    const alike = [...this.#all.values()].reduce((sum, n) => sum + (n / this.#rows) ** 2, 0);
    const pairs = [...this.#times.values()].reduce((sum, steps) => sum + two([...steps.values()].reduce((a, b) => a + b, 0)), 0);
    const fewest = isTimeName(this.order.name) ? fewestPairs : fewestUnnamed;
    return this.#met <= plentyMet && pairs * alike >= fewest && this.#met <= chance * pairs * alike;
  }
}

/**
 * Finds persons with several rows: rows of one value almost never share a time, although
 * many would by chance. Households, classes, ages and answers have several rows at one time.
 */
export class PanelTally {
  readonly #columns: readonly ColumnSummary[];
  readonly #units: readonly { readonly unit: ColumnSummary; readonly mask: number; readonly meetings: readonly Meetings[] }[];

  constructor(columns: readonly ColumnSummary[]) {
    this.#columns = columns;
    const orders = ordersIn(columns);
    this.#units = unitsIn(columns).map((unit) => ({
      unit,
      mask: 2 ** Math.max(0, Math.ceil(Math.log2(unit.distinct / mostKept))) - 1,
      meetings: orders
        .filter(({ name }) => name !== unit.name && (!isGroupName(unit.name) || isTimeName(name)))
        .map((order) => new Meetings(order)),
    }));
  }

  get columns(): readonly string[] {
    return [...new Set(this.#units.flatMap(({ unit, meetings }) => [unit.name, ...meetings.map(({ order }) => order.name)]))];
  }

  see(cell: (column: string) => unknown): void {
    for (const { unit, mask, meetings } of this.#units) {
      const who = cell(unit.name);
      if (who === null || (hashOf(String(who)) & mask) !== 0) continue;
      for (const met of meetings) {
        const when = cell(met.order.name);
        if (when !== null) met.see(String(who), String(when));
      }
    }
  }

  get found(): readonly FoundPanel[] {
    const inOrder = this.#units.flatMap(({ unit, meetings }) =>
      meetings.filter(({ neverMeet }) => neverMeet).map(({ order }) => panelOf(unit, order)),
    );
    const named = this.#columns
      .filter((c) => isNamed(c) && repeats(c) && isWhole(c) && c.distinct > (isPersonIdName(c.name) ? fewestPeople : fewestNamed))
      .map((unit) => panelOf(unit));
    const units = new Set<string>();
    return [...inOrder, ...named].filter(({ unit }) => !units.has(unit) && units.add(unit));
  }
}
/** A flag of the person a family was found by is called after them, too. */
const [fewestNamed, fewestPeople] = [60, 2];

const panelOf = (unit: ColumnSummary, order?: ColumnSummary): FoundPanel => ({
  unit: unit.name,
  ...(order && { order: order.name }),
  maxRows: order && order.distinct <= maxSteps ? order.distinct : Math.min(100, roundUp(unit.most)),
});
