/** The most bytes a line of a CSV is given, and so the longest cell that is read: every cell of a line can be that long, made of quotes at that. */
const mostLine = 2 ** 21;
const longestCell = 2 ** 16;
/** However many columns there are, cells up to this length are read. */
const leastCell = 2 ** 8;

/**
 * A longer cell is missing. The limit depends on the number of columns alone, and what a cell says on that cell alone: where lines would get too long, no
 * cell may decide about its neighbours.
 */
export const longestIn = (columns: number): number =>
  Math.max(leastCell, Math.min(longestCell, Math.floor(mostLine / 2 / columns) - 8));
export const longestLine = (columns: number): number => Math.max(mostLine, columns * (2 * longestIn(columns) + 11));

const quote = 0x22;
const space = 0x20;
const isBreak = (c: number): boolean => c === 0x0a || c === 0x0d;
const isHigh = (c: number): boolean => c >= 0xd800 && c < 0xdc00;
const bytesOf = (c: number): number => (c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xd800 && c < 0xe000 ? 2 : 3);

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
  /** Lines that are left alone: the names, and what stands before them. */
  #heads: number;
  /** What ends the part of the cell that is left, while the rest of it is dropped. */
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

  /** What is missing at the end of the text: a last cell that was cut is closed like any other. */
  end(): string {
    return this.#dropping ?? '';
  }

  /** Takes the step to the next state, and says whether the character is part of what the cell says. */
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
      // Where a line stands before the names both end alike, so that its line feed alone counts.
      if (isBreak(c) && this.#heads > 0 && (this.#heads === 1 || c === 0x0a)) this.#heads--;
      return false;
    }
    if (before === 'closed') return false;
    if (before === 'start' && c === quote) {
      this.#state = 'quoted';
      this.#length = 0;
      return false;
    }
    // A quote counts behind one space, not behind two.
    if (c !== space || this.#length > 0) this.#state = 'bare';
    return true;
  }
}
