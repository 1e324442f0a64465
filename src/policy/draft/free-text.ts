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
}

const mostLetters = 80;
const mostWords = 12;
/** A text that fewer rows than this share is rare. */
export const fewRows = 5;
const rareLetters = 40;
const rareWords = 6;

export const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/**
 * What somebody wrote in their own words must never become a list of answers: as a domain it would be printed in the policy and in every table. Long texts,
 * texts of many words, wordy texts that hardly anybody shares, and columns of which most texts are one person's own.
 */
export function isFreeText({ distinct, once, longest, wordiest, rareWords: words = 0, rareLength: length = 0 }: Texts): boolean {
  if (longest > mostLetters || wordiest > mostWords) return true;
  if (length > rareLetters || words > rareWords) return true;
  return once > 0 && (once === distinct || (once >= 2 && 2 * once >= distinct));
}

/** By the list alone, for policies drafted by others: whether these values read like what people wrote rather than like answers to choose from. */
export function readsLikeFreeText(values: readonly string[]): boolean {
  const texts = values.filter((value) => !/^[-+]?[\d.,]+$/.test(value));
  if (texts.some((text) => text.length > mostLetters || wordsIn(text) > mostWords)) return true;
  const wordy = texts.filter((text) => wordsIn(text) > rareWords).length;
  return texts.length >= 8 && 2 * wordy >= texts.length;
}
