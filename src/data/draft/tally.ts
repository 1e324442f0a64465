import { codeText } from '../../policy/code.js';
import { daysOf } from '../../policy/date-text.js';
import { type DecimalMark, numberFromText } from '../../policy/number-text.js';
import { ownWords, type Texts, wordsIn } from './free-text.js';
import type { ColumnSummary } from './guess.js';
import { isMissingWord } from './missing-word.js';
import { peopleIn, personalKind } from './personal.js';
import { repeatsOf, ValueSample } from './value-sample.js';

/** Different values remembered per column; past this a column is not one of codes. */
const maxKept = 5000;
/** A column with more different values than this is not listed value by value. */
const maxListed = 60;
const maxEnds = 12;
const separators = [';', '|'] as const;
/** A number as much of the world writes it, and the database does not read it. */
const commaNumber = /^[+-]?(\d{1,3}([. ]\d{3})+|\d+),\d+$/;
/** A number with points between thousands, or a fraction of three digits; and the same with commas. */
const thousands = /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/;
/** A number as it is written for people: 1,234.50, $12, 45 %, and no number to a database. */
const dressed = /^(?=.*(?:\d[,' \u00a0\u202f]\d{3}|[€$£¥%]))[€$£¥]?\s?[+-]?\d+(?:[,' \u00a0\u202f]\d{3})*(?:\.\d+)?\s?[€$£¥%]?$/;
const digits = /^\d+$/;
const commaThousands = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/;

export class ColumnTally {
  readonly #mark: DecimalMark;
  #kept: Map<string, number> | undefined = new Map();
  #sample: ValueSample | undefined;
  #ends: number[] = [];
  #options = new Map<string, Map<string, number>>();
  #filled = 0;
  #numbers = 0;
  #fractions = 0;
  #dates = 0;
  #days = { cells: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
  #commas = 0;
  #plainCommas = 0;
  #thousands = 0;
  #dressed = 0;
  #addresses = 0;
  #personal = 0;
  #lengths = new Map<number, number>();
  #noughts = 0;
  #years = 0;
  #precise = 0;
  #longest = 0;
  #wordiest = 0;
  #separated = new Map<string, number>();
  #last: string | undefined;
  #runs = 0;

  constructor(mark: DecimalMark = '.') {
    this.#mark = mark;
  }

  see(cell: string | number | bigint | boolean | null): void {
    if (cell === null) return;
    const text = typeof cell === 'string' ? cell : String(cell);
    if (text !== this.#last) {
      this.#runs++;
      this.#last = text;
    }
    if (!this.#kept) {
      this.#sample!.add(text);
      this.#count(text, 1);
      return;
    }
    const before = this.#kept.get(text);
    this.#kept.set(text, (before ?? 0) + 1);
    if (before === undefined && this.#kept.size > maxKept) {
      this.#sample = new ValueSample(this.#kept);
      this.#pour();
    }
  }

  /** Turns what was remembered value by value into figures. */
  #pour(): void {
    const kept = this.#kept!;
    this.#kept = undefined;
    for (const [text, times] of kept) this.#count(text, times);
  }

  #count(text: string, times: number): void {
    this.#filled += times;
    if (text.length > this.#longest) this.#longest = text.length;
    const x = numberFromText(text, this.#mark);
    if (!Number.isInteger(x) && thousands.test(text)) this.#thousands += times;
    if (Number.isFinite(x)) {
      this.#numbers += times;
      if (!Number.isInteger(x)) this.#fractions += times;
      if (/[.,]\d{4}/.test(text)) this.#precise += times;
      if (digits.test(text)) this.#lengths.set(text.length, (this.#lengths.get(text.length) ?? 0) + times);
      if (/^0\d/.test(text)) this.#noughts += times;
      if (x >= 1500 && x <= 2200 && text.length === 4) this.#years += times;
      this.#stretch(x);
      return;
    }
    const words = wordsIn(text);
    if (words > this.#wordiest) this.#wordiest = words;
    if (commaNumber.test(text)) {
      this.#commas += times;
      if (!commaThousands.test(text)) this.#plainCommas += times;
    }
    if (dressed.test(text)) this.#dressed += times;
    const look = personalKind(text);
    if (look === 'date') {
      this.#dates += times;
      this.#day(daysOf(text), times);
    }
    if (look === 'machine' || look === 'mail') this.#addresses += times;
    else if (look && look !== 'date') this.#personal += times;
    for (const s of separators) {
      if (!text.includes(s)) continue;
      this.#separated.set(s, (this.#separated.get(s) ?? 0) + times);
    }
    for (const s of separators) {
      const options = this.#options.get(s) ?? new Map<string, number>();
      this.#options.set(s, options);
      if (options.size > maxListed) continue;
      for (const part of text.split(s).map((p) => p.trim())) if (part !== '') options.set(part, (options.get(part) ?? 0) + times);
    }
  }

  #day(day: number | undefined, times: number): void {
    if (day === undefined) return;
    const { cells, first, last } = this.#days;
    this.#days = { cells: cells + times, first: Math.min(first, day), last: Math.max(last, day) };
  }

  /** Keeps the outermost numbers, among which codes for "no answer" hide. */
  #stretch(x: number): void {
    const ends = this.#ends;
    if (ends.length >= 2 * maxEnds && x > ends[maxEnds - 1]! && x < ends[maxEnds]!) return;
    if (ends.includes(x)) return;
    ends.push(x);
    ends.sort((a, b) => a - b);
    if (ends.length > 2 * maxEnds) ends.splice(maxEnds, 1);
  }

  summary(name: string, stored: ColumnSummary['stored'], rows: number): ColumnSummary {
    const kept = this.#kept;
    if (kept) this.#pour();
    const separator = separators.find((s) => (this.#separated.get(s) ?? 0) > this.#filled / 20);
    const options = separator === undefined ? undefined : this.#options.get(separator)!;
    return {
      name,
      stored,
      rows,
      filled: this.#filled,
      ...(kept ? repeatsOf(kept) : this.#sample!.repeats),
      runs: this.#runs,
      numbers: this.#numbers,
      fractions: this.#fractions,
      ...(this.#ends.length > 0 && { range: [this.#ends[0]!, this.#ends.at(-1)!] as const }),
      longest: this.#longest,
      wordiest: this.#wordiest,
      dates: this.#dates,
      ...(this.#days.cells > 0 && { days: this.#days }),
      commas: this.#commas,
      plainCommas: this.#plainCommas,
      thousands: this.#thousands,
      dressed: this.#dressed,
      addresses: this.#addresses,
      personal: this.#personal,
      numbering: { ...numberingOf(this.#lengths), noughts: this.#noughts, years: this.#years },
      precise: this.#precise,
      mark: this.#mark,
      // In the order of the codes, never of their frequency or of the rows.
      ...(kept &&
        kept.size <= maxListed && {
          codes: [...kept.keys()].sort(),
          spacing: spacingOf(kept, this.#mark),
          texts: textsOf(kept, this.#mark, rows),
        }),
      ...(separator !== undefined &&
        options && { separator, options: [...options.keys()].sort(), optionTexts: textsOf(options, this.#mark, rows) }),
      extremes: this.#ends,
    };
  }
}

/** The one length that nearly all whole numbers have. */
function numberingOf(lengths: ReadonlyMap<number, number>): { readonly length?: number } {
  const all = [...lengths.values()].reduce((sum, times) => sum + times, 0);
  const [length, times] = [...lengths].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0] as readonly [
    number,
    number,
  ]);
  return times > 0.98 * all ? { length } : {};
}

/** Rows that must hold the numbers on either side of a hole. */
const plenty = 10;

function spacingOf(counts: ReadonlyMap<string, number>, mark: DecimalMark): NonNullable<ColumnSummary['spacing']> {
  const held = new Map<number, number>();
  for (const [text, times] of counts) {
    const x = numberFromText(text, mark);
    if (Number.isInteger(x) && x >= 0) held.set(x, (held.get(x) ?? 0) + times);
  }
  const numbers = [...held.keys()].sort((a, b) => a - b);
  const holes = numbers.filter((x, k) => {
    const next = numbers[k + 1];
    return next !== undefined && next > x + 1 && held.get(x)! >= plenty && held.get(next)! >= plenty;
  }).length;
  const rows = (list: readonly number[]) => list.reduce((sum, x) => sum + held.get(x)!, 0);
  const all = rows(numbers);
  return { holes, fives: all === 0 ? 0 : rows(numbers.filter((x) => x % 5 === 0)) / all };
}

/** Of the texts that are answers and no numbers: codes are never free text. */
function textsOf(counts: ReadonlyMap<string, number>, mark: DecimalMark, rows: number): Texts {
  const texts = new Map([...counts].filter(([text]) => !Number.isFinite(numberFromText(text, mark)) && !isMissingWord(text)));
  const spelled = new Map<string, number>();
  for (const [text, times] of counts)
    if (!isMissingWord(text)) spelled.set(codeText(text), (spelled.get(codeText(text)) ?? 0) + times);
  const own = ownWords(spelled, rows);
  const sum = (all: Iterable<number>) => [...all].reduce((a, b) => a + b, 0);
  return {
    ...repeatsOf(texts),
    longest: Math.max(0, ...[...texts.keys()].map((text) => text.length)),
    wordiest: Math.max(0, ...[...texts.keys()].map(wordsIn)),
    own,
    ownCells: sum(own.map((text) => spelled.get(text)!)),
    cells: sum(spelled.values()),
    people: peopleIn(texts.keys()),
  };
}
