/** The most bytes a line of a CSV is given, and so the longest cell that is read: every cell of a line can be that long, made of quotes at that. */
const mostLine = 2 ** 21;
const longestCell = 2 ** 16;
/** However many columns there are, cells up to this length are read. */
const leastCell = 2 ** 8;

/**
 * Longest cell that is read; longer ones are missing. It depends only on
 * the number of columns, so no cell affects how its neighbours are read.
 */
export const longestIn = (columns: number): number =>
  Math.max(leastCell, Math.min(longestCell, Math.floor(mostLine / 2 / columns) - 8));
export const longestLine = (columns: number): number => Math.max(mostLine, columns * (2 * longestIn(columns) + 11));

const quote = 0x22;
const space = 0x20;
const isBreak = (c: number): boolean => c === 0x0a || c === 0x0d;
const isHigh = (c: number): boolean => c >= 0xd800 && c < 0xdc00;
/** In UTF-8; of a pair of surrogates each counts for half of its four. */
function bytesOf(c: number): number {
  if (c < 0x80) return 1;
  return c < 0x800 || (c >= 0xd800 && c < 0xe000) ? 2 : 3;
}

/**
 * Passes a CSV on as it is, but for cells longer than `longest`, of which just enough is left to see that they are too long. The line of names is left
 * alone.
 */
export class CellCutter {
  readonly #delimiter: number;
  readonly #longest: number;
  #state: 'start' | 'bare' | 'quoted' | 'closed' = 'start';
  /** Bytes of the cell so far, as it will be read. */
  #length = 0;
  /** Lines that are not cut: the names, and lines before them. */
  #heads: number;
  /** Closing text of a truncated cell; set while the rest of that cell is dropped. */
  #dropping: '' | '"' | undefined;

  constructor(delimiter: string, longest: number, before = 0) {
    this.#heads = before + 1;
    this.#delimiter = delimiter.charCodeAt(0);
    this.#longest = longest;
  }

  write(text: string): string {
    let out = '';
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (this.#step(c)) {
        this.#length += bytesOf(c);
        // Never between the two quotes of a pair, nor within a character.
        if (this.#length <= this.#longest || this.#dropping !== undefined || this.#heads > 0 || isHigh(c)) continue;
        out += text.slice(from, i + 1);
        this.#dropping = this.#state === 'quoted' ? '"' : '';
      } else if (this.#dropping !== undefined && this.#state !== 'closed') {
        out += this.#dropping;
        from = i;
        this.#dropping = undefined;
      }
    }
    return this.#dropping === undefined ? out + text.slice(from) : out;
  }

  /** Text still to be written at the end of input: a truncated last cell is closed like any other. */
  end(): string {
    return this.#dropping ?? '';
  }

  /** Advances the state; true if the character belongs to the content of the cell. */
  #step(c: number): boolean {
    const before = this.#state;
    if (before === 'quoted') {
      if (c === quote) this.#state = 'closed';
      return c !== quote;
    }
    if (before === 'closed' && c === quote) {
      this.#state = 'quoted';
      return true;
    }
    if (c === this.#delimiter || isBreak(c)) {
      this.#state = 'start';
      this.#length = 0;
      // When a line precedes the names, both have the same line ending, so only its line feed counts.
      if (isBreak(c) && this.#heads > 0 && (this.#heads === 1 || c === 0x0a)) this.#heads--;
      return false;
    }
    if (before === 'closed') return false;
    if (before === 'start' && c === quote) {
      this.#state = 'quoted';
      this.#length = 0;
      return false;
    }
    // A quote after one space opens a quoted cell; after two it does not.
    if (c !== space || this.#length > 0) this.#state = 'bare';
    return true;
  }
}
