import { cryptoBits } from '../noise/bits.js';

/**
 * What a terminal obeys instead of showing (control characters), what turns the text around it (bidirectional controls) and what nobody sees: whoever chose
 * a name, a label or a path must not write the steward's screen with it. The emoji selector U+FE0F only changes how the character before it looks.
 */
const unseen =
  /(?!\ufe0f)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/gu;

const asCode = (character: string): string =>
  Array.from({ length: character.length }, (_, k) => `\\u${character.charCodeAt(k).toString(16).padStart(4, '0')}`).join('');

/** Text from elsewhere, on one line. */
export const oneLine = (text: string): string => text.replace(unseen, asCode);

const lines = (text: string): string => text.replace(unseen, (c) => (c === '\n' ? c : asCode(c)));

/** JSON that is the same document and shows every character for what it is; outside its strings it has none but line breaks to show. */
export const jsonLines = lines;

export type Colour = 'bold' | 'dim' | 'good' | 'warn';
const codes: Readonly<Record<Colour, string>> = { bold: '1', dim: '2', good: '32', warn: '33' };

/** How this process asks for colour: a word nobody else knows, so that no text from elsewhere can hold it. */
interface Brush {
  /** On one line, as names and headings are. */
  paint(colour: Colour, text: string): string;
  /** As the terminal is to get it: line breaks and our own colours as they are, everything else unseen escaped. */
  shown(text: string): string;
  /** How many characters of it are seen. */
  width(text: string): number;
  /** A cell of a table: our own colours and nothing else unseen, not even a line break. */
  cell(text: string): string;
}

export function brushFor(coloured: boolean): Brush {
  if (!coloured) return { paint: (_, text) => oneLine(text), shown: lines, width: (text) => [...text].length, cell: oneLine };
  const secret = Array.from({ length: 4 }, () => cryptoBits.word().toString(36)).join('-');
  const mark = (code: string) => `\u001b${secret}:${code};`;
  const pieces = new RegExp(`\u001b${secret}:(\\d+);`);
  /** Odd pieces are the codes of our own marks. */
  const each = (text: string, seen: (piece: string) => string, ours: (code: string) => string): string =>
    text
      .split(pieces)
      .map((piece, k) => (k % 2 === 1 ? ours(piece) : seen(piece)))
      .join('');
  const cell = (text: string) => each(text, oneLine, mark);
  return {
    paint: (colour, text) => `${mark(codes[colour])}${cell(text)}${mark('0')}`,
    shown: (text) => each(text, lines, (code) => `\u001b[${code}m`),
    width: (text) =>
      [
        ...each(
          text,
          (piece) => piece,
          () => '',
        ),
      ].length,
    cell,
  };
}
