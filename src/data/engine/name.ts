/**
 * Name of a person, group or end of a tie: one text for every spelling and stored type (docs/reference/policy.md, "Names").
 * All comparisons of identity use names only; merging two spellings is safe, splitting one is not (name.proof.md).
 */

/** Invisible characters at the ends of a text: spaces, control characters (Unicode Z and Cc), and these. */
const invisible: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0xfeff, 0xfeff],
];
const blank = (letter: 'u' | 'x'): string => {
  const code = (c: number) => `\\${letter}{${c.toString(16)}}`;
  return `[\\p{Z}\\p{Cc}${invisible.map(([from, to]) => `${code(from)}-${code(to)}`).join('')}]`;
};
/** As a regular expression of a language that escapes code points by this letter. */
export const nameEnds = (letter: 'u' | 'x'): string => `^${blank(letter)}+|${blank(letter)}+$`;

/** Every letter that is taken off the ends, for databases that know no classes of letters. None lies beyond the first 2^16 (name.test.ts). */
export function blankLetters(): string {
  const one = new RegExp(blank('u'), 'u');
  return Array.from({ length: 2 ** 16 }, (_, c) => String.fromCharCode(c))
    .filter((letter) => one.test(letter))
    .join('');
}

/** A plain number, with a point or a comma, without its plus sign and without the zeros that end its fraction. Leading zeros stay: 007 is not 7. */
export const wholeNumber = '^(?:\\+|(-))?([0-9]+)(?:[.,]0*)?$';
export const brokenNumber = '^(?:\\+|(-))?([0-9]+)[.,]([0-9]*[1-9])0*$';
export const negativeZero = '^-0$';

const endsHere = new RegExp(nameEnds('u'), 'gu');
const [wholeHere, brokenHere] = [new RegExp(wholeNumber, 'u'), new RegExp(brokenNumber, 'u')];

/** The name that a text spells, written in a model file or a query; undefined when it spells none. */
export function nameText(text: string): string | undefined {
  const shown = text.replaceAll('\0', '').normalize('NFC').replace(endsHere, '');
  const plain = shown.replace(wholeHere, '$1$2').replace(brokenHere, '$1$2.$3');
  if (plain === '') return undefined;
  return plain === '-0' ? '0' : plain;
}
