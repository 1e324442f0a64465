import { numberFromText } from '../number-text.js';
import type { ColumnSummary } from './guess.js';

/** Different values remembered per column; past this a column is not one of codes. */
const mostKept = 5000;
/** A column with more different values than this is not listed value by value. */
const mostListed = 60;
const mostEnds = 12;
const separators = [';', '|'] as const;
const date = /^\d{4}-\d{1,2}-\d{1,2}([T ]|$)|^\d{1,2}([/.])\d{1,2}\2\d{2,4}( |$)/;

/** Looks at the cells of one column, one after the other; what it has seen becomes a summary. */
export class ColumnTally {
  #kept: Map<string, number> | undefined = new Map();
  #ends: number[] = [];
  #options = new Map<string, Set<string>>();
  #filled = 0;
  #different = 0;
  #numbers = 0;
  #fractions = 0;
  #dates = 0;
  #longest = 0;
  #separated = new Map<string, number>();

  see(cell: string | number | bigint | boolean | null): void {
    if (cell === null) return;
    const text = typeof cell === 'string' ? cell : String(cell);
    if (!this.#kept) {
      this.#count(text, 1);
      return;
    }
    const before = this.#kept.get(text);
    this.#kept.set(text, (before ?? 0) + 1);
    if (before === undefined && this.#kept.size > mostKept) this.#pour();
  }

  /** Turns what was remembered value by value into figures. */
  #pour(): void {
    const kept = this.#kept!;
    this.#kept = undefined;
    for (const [text, times] of kept) this.#count(text, times);
    this.#different = kept.size / this.#filled;
  }

  #count(text: string, times: number): void {
    this.#filled += times;
    if (text.length > this.#longest) this.#longest = text.length;
    const x = numberFromText(text);
    if (Number.isFinite(x)) {
      this.#numbers += times;
      if (!Number.isInteger(x)) this.#fractions += times;
      this.#stretch(x);
      return;
    }
    if (date.test(text)) this.#dates += times;
    for (const s of separators) {
      if (!text.includes(s)) continue;
      this.#separated.set(s, (this.#separated.get(s) ?? 0) + times);
    }
    for (const s of separators) {
      const options = this.#options.get(s) ?? new Set();
      this.#options.set(s, options);
      if (options.size <= mostListed) for (const part of text.split(s)) if (part.trim() !== '') options.add(part.trim());
    }
  }

  /** Keeps the outermost numbers, among which codes for "no answer" hide. */
  #stretch(x: number): void {
    const ends = this.#ends;
    if (ends.length >= 2 * mostEnds && x > ends[mostEnds - 1]! && x < ends[mostEnds]!) return;
    if (ends.includes(x)) return;
    ends.push(x);
    ends.sort((a, b) => a - b);
    if (ends.length > 2 * mostEnds) ends.splice(mostEnds, 1);
  }

  summary(name: string, stored: ColumnSummary['stored'], rows: number): ColumnSummary {
    const kept = this.#kept;
    if (kept) this.#pour();
    const separator = separators.find((s) => (this.#separated.get(s) ?? 0) > this.#filled / 20);
    return {
      name,
      stored,
      rows,
      filled: this.#filled,
      distinct: kept?.size ?? Math.max(mostKept, Math.round(this.#different * this.#filled)),
      numbers: this.#numbers,
      fractions: this.#fractions,
      ...(this.#ends.length > 0 && { range: [this.#ends[0]!, this.#ends.at(-1)!] as const }),
      longest: this.#longest,
      dates: this.#dates,
      // In the order of the codes, never of their frequency or of the rows.
      ...(kept && kept.size <= mostListed && { codes: [...kept.keys()].sort() }),
      ...(separator !== undefined && { separator, options: [...this.#options.get(separator)!].sort() }),
      extremes: this.#ends,
    };
  }
}
