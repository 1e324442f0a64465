import type { Codebook } from '../../policy/codebook.js';
import { lifeSpan } from './date.js';
import type { ColumnSummary } from './guess.js';

type Part = 'day' | 'month' | 'year';

const words: Readonly<Record<Part, RegExp>> = {
  day: /days?|tag|jour|d[ií]a|giorno|(?<=^|[_.\s-])d{1,2}(?=$|[_.\s-])/i,
  month: /months?|monat|mois|mese?|mon(?![a-z])|(?<=^|[_.\s-])m{1,2}o?(?=$|[_.\s-])/i,
  year: /years?|jahr|ann[ée]e|a[ñn]o|anno|yr|(?<=^|[_.\s-])(?:yy){1,2}(?=$|[_.\s-])|(?<=^|[_.\s-])y(?=$|[_.\s-])/i,
};
const birth = /birth|born|geb(urt|oren)?|naiss|n[ée]e?[_.\s]|nacim|nascit|dob|(^|[_.\s-])b(?=day|month|year|mon|yr)/i;

const within = ({ numbers, filled, fractions, range }: ColumnSummary, low: number, high: number): boolean =>
  numbers === filled && fractions === 0 && range !== undefined && range[0] >= low && range[1] <= high;

/** Plausible values of each part of a date, whatever the column is called. */
const holds: Readonly<Record<Part, (column: ColumnSummary) => boolean>> = {
  day: (c) => c.distinct > 12 && within(c, 1, 31),
  month: (c) => c.distinct <= 13 && (within(c, 1, 12) || c.numbers === 0),
  year: (c) => c.numbering.years > 0.8 * c.filled || within(c, 0, 99),
};

interface Found {
  readonly name: string;
  readonly part: Part;
  /** Name or label without the word for the part: equal for the parts of one date. */
  readonly stem: string;
  readonly born: boolean;
}

const tidy = (text: string): string => text.toLowerCase().replace(/[^\p{L}]+/gu, '');

function partOf(column: ColumnSummary, label: string): readonly Found[] {
  for (const naming of [column.name, label])
    for (const part of ['day', 'month', 'year'] as const) {
      // "Birthday" alone is a date; as the first word of a longer name it is not its day.
      const bare = naming.replace(/birthday(?=.)/i, 'birth');
      if (!words[part].test(bare) || !holds[part](column)) continue;
      return [{ name: column.name, part, stem: tidy(bare.replace(words[part], '')), born: birth.test(naming) }];
    }
  return [];
}

/**
 * Columns that together are a date of birth, which with a place identifies most people: day, month
 * and year with the same stem. Only day and month are reported; the year reveals no more than an age.
 */
export function birthDatesIn(columns: readonly ColumnSummary[], book: Codebook = new Map()): ReadonlyMap<string, string> {
  const found = columns.flatMap((column) => partOf(column, book.get(column.name)?.label ?? ''));
  const known = new Map(columns.map((column) => [column.name, column]));
  const reasons = new Map<string, string>();
  for (const day of found.filter(({ part }) => part === 'day')) {
    const partOfDate = (part: Part) => found.find((other) => other.part === part && other.stem === day.stem);
    const [month, year] = [partOfDate('month'), partOfDate('year')];
    if (!month) continue;
    const [first = 0, last = 0] = (year && known.get(year.name)!.range) ?? [];
    if (!day.born && !(year && last - first >= lifeSpan)) continue;
    const date = [day, month, ...(year ? [year] : [])].map(({ name }) => name);
    for (const { name } of [day, month]) reasons.set(name, `${date.join(', ')} together say on which day somebody was born`);
  }
  return reasons;
}
