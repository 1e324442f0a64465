import { toNumber } from '../../base/exact/rational.js';
import type { Cell, Snapshot } from '../../data/engine/engine.js';
import { nameText } from '../../data/engine/name.js';
import { quoteName } from '../../data/engine/structure.js';
import { tieKindColumns } from '../../data/ties/kinds.js';
import { codesOf, codeText } from '../../policy/code.js';
import { daysOf } from '../../policy/date-text.js';
import { isCoded } from '../../policy/domain.js';
import { numberFromText } from '../../policy/number-text.js';
import type { CategoryColumn, Column, MultiColumn, Policy } from '../../policy/policy.js';

/** Effect of a column's declaration on its rows: exact figures, as private as the rows. */
export interface HiddenCells {
  readonly column: string;
  readonly type: Column['type'];
  /** Rows with no answer: empty, or a code declared as missing. */
  readonly missing: number;
  /** Rows with an undeclared value, which therefore count as missing. */
  readonly hidden: number;
  /** Undeclared values, the most frequent first, at most `maxListed`. */
  readonly undeclared: readonly {
    readonly code: string;
    readonly rows: number;
    /** Declared code of which this is another spelling: by case, blanks, leading zeros or a comma. */
    readonly declaredAs?: string;
  }[];
  /** Number of different undeclared codes. */
  readonly undeclaredCodes: number;
  /** Declared codes that no row holds. */
  readonly unseen: readonly string[];
  /** Rows clamped to the lower and to the upper bound. */
  readonly below?: number;
  readonly above?: number;
}

/** Group sizes: number of rows per value of a column. */
export interface GroupSizes {
  readonly column: string;
  readonly groups: number;
  readonly largest: number;
  /** Groups by size, small to large. */
  readonly sizes: readonly { readonly size: number; readonly groups: number }[];
  /** Rows without a value. */
  readonly nameless: number;
  /**
   * Rows left out because a person has more than `maxRows` (the excess, or all of them where pairs are declared), and the number of
   * such persons.
   */
  readonly beyond?: number;
  readonly cut?: number;
}

export interface PrivateFigures {
  readonly rows: number;
  readonly columns: readonly HiddenCells[];
  readonly groups: readonly GroupSizes[];
  readonly unit?: GroupSizes;
}

const maxListed = 10;
/** Most undeclared texts that are kept; a free-text column has about one per row. */
const maxKept = 10_000;
const atOnce = 500;

/**
 * Values that the declared domains hide, for the data steward only: never write them down or release them.
 * Open the data without a policy, since an engine that knows the declared codes may have dropped all others.
 */
export async function countHiddenCells(
  engine: Snapshot,
  policy: Pick<Policy, 'columns' | 'dependence' | 'protect'>,
): Promise<PrivateFigures> {
  const keys = new Map<string, KeyTally>();
  for (const d of policy.dependence)
    for (const { column, role } of tieKindColumns(d))
      if (role === 'group') keys.set(column, keys.get(column) ?? new KeyTally(column));
  const { unit, maxRows, secret, pairs } = policy.protect;
  if (unit !== undefined && secret === 'person') keys.set(unit, new KeyTally(unit, maxRows, pairs !== undefined));
  const tallies = new Map([...policy.columns.values()].map((column) => [column.name, tallyOf(column)]));
  const names = [...new Set([...tallies.keys(), ...keys.keys()])];
  for (let from = 0; from < names.length; from += atOnce) {
    const part = names.slice(from, from + atOnce);
    const sql = `SELECT ${part.map(quoteName).join(', ')} FROM fugu_data`;
    for await (const block of engine.stream({ sql, values: [], everyRow: true })) {
      const { rows, columns } = block.open();
      for (const [c, name] of part.entries()) {
        const [tally, key] = [tallies.get(name), keys.get(name)];
        for (let i = 0; i < rows; i++) {
          const cell = columns[c]![i]!;
          tally?.see(cell);
          key?.see(cell);
        }
      }
    }
  }
  const own = unit === undefined ? undefined : keys.get(unit);
  return {
    rows: (await engine.size()).open(),
    columns: [...tallies.values()].map((tally) => tally.figures()),
    groups: [...keys.values()].filter((key) => key !== own).map((key) => key.figures()),
    ...(own && { unit: own.figures() }),
  };
}

interface Tally {
  see(cell: Cell): void;
  figures(): HiddenCells;
}

const tallyOf = (column: Column): Tally => (isCoded(column) ? new CodeTally(column) : new NumberTally(column));

/** Tally of undeclared values. */
class Undeclared {
  rows = 0;
  readonly #codes = new Map<string, number>();

  add(codes: Iterable<string>): void {
    this.rows++;
    for (const code of codes)
      if (this.#codes.size < maxKept || this.#codes.has(code)) this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
  }
  figures(): Pick<HiddenCells, 'hidden' | 'undeclared' | 'undeclaredCodes'> {
    const all = [...this.#codes].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    return {
      hidden: this.rows,
      undeclared: all.slice(0, maxListed).map(([code, rows]) => ({ code, rows })),
      undeclaredCodes: all.length,
    };
  }
}

/** Spelling of a code without case, width, blanks, leading zeros and decimal comma. */
const bareSpelling = (code: string): string =>
  code
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, ' ')
    .replace(/^([+-]?[0-9]+),([0-9]+)$/, '$1.$2')
    .replace(/^[+]?0+(?=[0-9])/, '')
    .replace(/(\.[0-9]*?)0+$/, '$1')
    .replace(/\.$/, '');

class CodeTally implements Tally {
  readonly #column: CategoryColumn | MultiColumn;
  readonly #declared: ReadonlySet<string>;
  readonly #missing: ReadonlySet<string>;
  readonly #seen = new Set<string>();
  readonly #undeclared = new Undeclared();
  #empty = 0;

  constructor(column: CategoryColumn | MultiColumn) {
    this.#column = column;
    this.#declared = new Set(codesOf(column));
    this.#missing = new Set(column.missing);
  }

  see(cell: Cell): void {
    // A list of codes is no code: "1,0" may name two.
    const multi = this.#column.type === 'multi' ? this.#column : undefined;
    const text = (multi ? (list: string) => list.trim() : codeText)(cell === null ? '' : String(cell));
    if (text === '' || this.#missing.has(text)) {
      this.#empty++;
      return;
    }
    const parts = multi ? text.split(multi.separator).map(codeText) : [text];
    const codes = parts.filter((part) => part !== '' && !this.#missing.has(part));
    for (const code of codes) if (this.#declared.has(code)) this.#seen.add(code);
    const unknown = codes.filter((code) => !this.#declared.has(code));
    if (unknown.length > 0) this.#undeclared.add(new Set(unknown));
  }

  figures(): HiddenCells {
    const found = this.#undeclared.figures();
    const spelled = new Map([...this.#declared].map((code) => [bareSpelling(code), code]));
    return {
      column: this.#column.name,
      type: this.#column.type,
      missing: this.#empty,
      ...found,
      undeclared: found.undeclared.map((entry) => {
        const declaredAs = spelled.get(bareSpelling(entry.code));
        return declaredAs === undefined ? entry : { ...entry, declaredAs };
      }),
      unseen: [...this.#declared].filter((code) => !this.#seen.has(code)),
    };
  }
}

class NumberTally implements Tally {
  readonly #column: Exclude<Column, CategoryColumn | MultiColumn>;
  readonly #missing: ReadonlySet<string>;
  readonly #bounds: readonly [number, number];
  readonly #undeclared = new Undeclared();
  #empty = 0;
  #below = 0;
  #above = 0;

  constructor(column: Exclude<Column, CategoryColumn | MultiColumn>) {
    this.#column = column;
    this.#missing = new Set(column.missing);
    this.#bounds = [toNumber(column.bounds[0]), toNumber(column.bounds[1])];
  }

  see(cell: Cell): void {
    const text = cell === null ? '' : codeText(String(cell));
    if (text === '' || this.#missing.has(text)) {
      this.#empty++;
      return;
    }
    const x = typeof cell === 'string' ? this.#says(cell) : Number(cell);
    if (!Number.isFinite(x)) this.#undeclared.add([text]);
    else if (x < this.#bounds[0]) this.#below++;
    else if (x > this.#bounds[1]) this.#above++;
  }

  #says(text: string): number {
    const column = this.#column;
    return 'date' in column ? (daysOf(text) ?? Number.NaN) : numberFromText(text, column.decimal);
  }

  figures(): HiddenCells {
    const { name, type } = this.#column;
    return {
      column: name,
      type,
      missing: this.#empty,
      ...this.#undeclared.figures(),
      unseen: [],
      below: this.#below,
      above: this.#above,
    };
  }
}

class KeyTally {
  readonly #column: string;
  readonly #most: number | undefined;
  readonly #whole: boolean;
  readonly #counts = new Map<string, number>();
  #nameless = 0;

  /** `whole`: a person with more rows is dropped as a whole. */
  constructor(column: string, most?: number, whole = false) {
    this.#column = column;
    this.#most = most;
    this.#whole = whole;
  }

  see(cell: Cell): void {
    const name = cell === null ? undefined : nameText(String(cell));
    if (name === undefined) this.#nameless++;
    else this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  figures(): GroupSizes {
    const sizes = new Map<number, number>();
    let [beyond, cut] = [0, 0];
    for (const size of this.#counts.values()) {
      sizes.set(size, (sizes.get(size) ?? 0) + 1);
      const further = Math.max(0, size - (this.#most ?? size));
      beyond += further > 0 && this.#whole ? size : further;
      if (further > 0) cut++;
    }
    const all = [...sizes].sort(([a], [b]) => a - b).map(([size, groups]) => ({ size, groups }));
    return {
      column: this.#column,
      groups: this.#counts.size,
      largest: all.at(-1)?.size ?? 0,
      sizes: all,
      nameless: this.#nameless,
      ...(this.#most !== undefined && { beyond, cut }),
    };
  }
}
