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

/** What a part of a date holds, whatever its column is called. */
const holds: Readonly<Record<Part, (column: ColumnSummary) => boolean>> = {
  day: (c) => c.distinct > 12 && within(c, 1, 31),
  month: (c) => c.distinct <= 13 && (within(c, 1, 12) || c.numbers === 0),
  year: (c) => c.numbering.years > 0.8 * c.filled || within(c, 0, 99),
};

interface Found {
  readonly name: string;
  readonly part: Part;
  /** What its name, or its label, says beside the part: the same for the parts of one date. */
  readonly stem: string;
  readonly born: boolean;
}

const tidy = (text: string): string => text.toLowerCase().replace(/[^\p{L}]+/gu, '');

function partOf(column: ColumnSummary, label: string): readonly Found[] {
  for (const said of [column.name, label])
    for (const part of ['day', 'month', 'year'] as const) {
      // "Birthday" alone is a date, or its first word no part of one.
      const bare = said.replace(/birthday(?=.)/i, 'birth');
      if (!words[part].test(bare) || !holds[part](column)) continue;
      return [{ name: column.name, part, stem: tidy(bare.replace(words[part], '')), born: birth.test(said) }];
    }
  return [];
}

/**
 * Columns that are harmless one by one and together a date of birth, which with a place names most people: day, month and year that are called alike. The
 * year says no more than an age; day and month are told by this with what they are.
 */
export function birthDatesIn(columns: readonly ColumnSummary[], book: Codebook = new Map()): ReadonlyMap<string, string> {
  const found = columns.flatMap((column) => partOf(column, book.get(column.name)?.label ?? ''));
  const known = new Map(columns.map((column) => [column.name, column]));
  const told = new Map<string, string>();
  for (const day of found.filter(({ part }) => part === 'day')) {
    const beside = (part: Part) => found.find((other) => other.part === part && other.stem === day.stem);
    const [month, year] = [beside('month'), beside('year')];
    if (!month) continue;
    const [first = 0, last = 0] = (year && known.get(year.name)!.range) ?? [];
    if (!day.born && !(year && last - first >= lifeSpan)) continue;
    const date = [day, month, ...(year ? [year] : [])].map(({ name }) => name);
    for (const { name } of [day, month]) told.set(name, `${date.join(', ')} together say on which day somebody was born`);
  }
  return told;
}
