import { isGroupName, isPerhapsGroupName, isTimeName } from '../../policy/column-name.js';
import type { ColumnSummary } from './guess.js';

/** A column whose values are shared by a few rows each, as households, families and classes are. */
export interface FoundGroups {
  readonly name: string;
  /** True if its name or its repetition shows a group; false if it repeats like a key, as some measures also do. */
  readonly sure: boolean;
  readonly why: string;
  /** About how many rows share one value. */
  readonly rowsEach: number;
}

const [fewest, mostEach, largest] = [100, 30, 40];

/**
 * Keys of groups, distinguished from measures by repetition: many values with a few rows each. Numeric
 * keys form one run of rows each or use every number of their range; ages and incomes do neither.
 */
export function foundGroups(column: ColumnSummary): FoundGroups | undefined {
  const { name, filled, distinct, once, most, runs, fractions, dates, numbers, wordiest, longest, range } = column;
  if (distinct < 2 || distinct >= filled || fractions > 0 || dates > filled / 2 || wordiest > 3 || longest > mostLetters)
    return undefined;
  const each = filled / distinct;
  const found = (sure: boolean, why: string): FoundGroups => ({ name, sure, why, rowsEach: Math.round(10 * each) / 10 });
  if (isGroupName(name) && distinct >= Math.min(10, filled / 4)) return found(true, 'its name says so');
  const whole = numbers === filled && range !== undefined;
  const counts = whole && distinct >= 0.8 * (range[1] - range[0] + 1);
  const alike = distinct >= fewestNumbered && each >= 2 && most <= 4 * each;
  if (alike && isPerhapsGroupName(name) && (counts || longest <= mostOfKey))
    return found(true, 'its name says so, and about as many rows share each value');
  // Short numbers, one per class: rows of one class are adjacent. So are those of a sorted file.
  if (alike && counts && runs <= 1.1 * distinct && !isTimeName(name) && column.numbering.years === 0)
    return found(distinct >= fewest && most <= largest && each <= mostEach, 'rows with one value stand together');
  if (numbers === 0 && distinct >= 20 && each >= 1.2 && each <= 8 && most <= largest && runs <= 1.1 * distinct)
    return found(true, 'rows with one value stand together');
  if (distinct < fewest || each < 1.2 || each > mostEach || most > largest) return undefined;
  if (runs <= 1.1 * distinct) return found(true, 'rows with one value stand together');
  if (whole && each <= 8 && distinct >= 0.98 * (range[1] - range[0] + 1))
    return found(true, 'it numbers something that a few rows share');
  const shared = (filled - once) / filled;
  return each <= 8 && shared > 0.6 ? found(false, 'many values, each in a few rows') : undefined;
}

const mostLetters = 40;
/** Social classes, income groups and the like are fewer. */
const fewestNumbered = 10;
/** "4b", "T-12". */
const mostOfKey = 5;
