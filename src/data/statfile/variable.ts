/** One column of a survey file, as its own dictionary describes it. */
export interface StatVariable {
  readonly name: string;
  readonly label?: string;
  /** Full question text, where the file stores it in addition to the label. */
  readonly question?: string;
  /** Type of the cells: text, number, or ISO 8601 text. Missing codes of a number may be words (Stata's .a to .z). */
  readonly kind: 'text' | 'number' | 'date' | 'time' | 'datetime';
  /** From codes, as the data shows them, to what they mean. */
  readonly labels: ReadonlyMap<string, string>;
  /** Codes declared to be no answer; the whole numbers of a small range one by one. */
  readonly missing: readonly string[];
  /** Ranges declared to be no answer that are open or too wide to be spelled out. */
  readonly missingRanges?: readonly MissingRange[];
  readonly weight?: boolean;
}

export interface MissingRange {
  readonly low: number;
  readonly high: number;
}

export type StatCell = string | number | null;
/** Rows of a file, column by column: `block[column][row]`. */
export type StatBlock = readonly (readonly StatCell[])[];

export interface StatFile {
  readonly variables: readonly StatVariable[];
  readonly rows: number;
  readonly label?: string;
  /** Every row, at most 2,048 at a time. NULL is what the program that wrote the file calls system-missing. */
  blocks(): AsyncIterable<StatBlock>;
  close(): Promise<void>;
}

/** The one spelling of a number that is a code: as JavaScript, and so the engine, shows it. */
export const codeOfNumber = (x: number): string => String(x === 0 ? 0 : x);

const maxSpelled = 1000;

/** Missing codes of a range: its whole numbers if they are few, otherwise the range itself. */
export function spellRange({ low, high }: MissingRange): { missing: readonly string[]; ranges: readonly MissingRange[] } {
  const [first, last] = [Math.ceil(low), Math.floor(high)];
  if (!(last - first < maxSpelled) || Math.abs(first) > 2 ** 53 || Math.abs(last) > 2 ** 53)
    return { missing: [], ranges: [{ low, high }] };
  return { missing: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => codeOfNumber(first + i)), ranges: [] };
}
