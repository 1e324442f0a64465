import { isMissingWord } from './missing-word.js';

/** What is known of the different texts of a column, or of what stands between separators. */
export interface Texts {
  readonly distinct: number;
  /** Texts that a single row holds. */
  readonly once: number;
  readonly longest: number;
  /** Most words in one of them. */
  readonly wordiest: number;
  /** Most words, and letters, among texts that hardly anybody shares. */
  readonly rareWords?: number;
  readonly rareLength?: number;
  /** Somebody's own words among them: never to be listed. */
  readonly own?: readonly string[];
}

const mostLetters = 80;
const mostWords = 12;
/** A text that fewer rows than this share is rare. */
export const fewRows = 5;
const rareLetters = 40;
const rareWords = 6;

export const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const fewLetters = 12;
/** Two words and more, a long one, a mail address, the digits of a telephone. */
const isWordy = (text: string): boolean =>
  wordsIn(text) > 1 || text.length > fewLetters || text.includes('@') || /\d{6}/.test(text);
const isCode = (text: string): boolean => /^[\p{Lu}\p{N}._/+-]{1,8}$/u.test(text);

/**
 * What a few people wrote behind "other, please specify", among answers that many chose: wordy texts that few rows share, and words that one row each holds,
 * where there are several.
 */
export function ownWords(counts: ReadonlyMap<string, number>): readonly string[] {
  const single = [...counts].filter(([text, times]) => times === 1 && !isCode(text)).length;
  return [...counts]
    .filter(([text, times]) => (times < fewRows && isWordy(text)) || (times === 1 && single > 1 && !isCode(text)))
    .map(([text]) => text);
}

/**
 * What somebody wrote in their own words must never become a list of answers: as a domain it would be printed in the policy and in every table. Long texts,
 * texts of many words, very wordy texts that hardly anybody shares, and columns of which most texts are one person's own.
 */
export function isFreeText({
  distinct,
  once,
  longest,
  wordiest,
  rareWords: words = 0,
  rareLength: length = 0,
  own = [],
}: Texts): boolean {
  if (longest > mostLetters || wordiest > mostWords) return true;
  if (length > rareLetters || words > rareWords) return true;
  if (own.length > 0 && (2 * own.length > distinct || distinct - own.length < 2)) return true;
  return once > 0 && (once === distinct || (once >= 2 && 2 * once >= distinct));
}

/** By the list alone, for policies drafted by others: whether these values read like what people wrote rather than like answers to choose from. */
export function readsLikeFreeText(values: readonly string[]): boolean {
  const texts = values.filter((value) => !/^[-+]?[\d.,]+$/.test(value));
  if (texts.some((text) => text.length > mostLetters || wordsIn(text) > mostWords)) return true;
  // One person's words among answers of one word each.
  const plain = texts.filter((text) => !isMissingWord(text));
  const short = plain.filter((text) => wordsIn(text) <= 1).length;
  if (2 * short > plain.length && plain.some((text) => wordsIn(text) > 2)) return true;
  if (plain.some((text) => text.includes('@') || (/\p{L}/u.test(text) && /\d[\d /-]{4,}\d/.test(text)))) return true;
  const wordy = texts.filter((text) => wordsIn(text) > rareWords).length;
  return texts.length >= 8 && 2 * wordy >= texts.length;
}
