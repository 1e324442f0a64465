import { isMissingWord } from './missing-word.js';
import { namesPeople, overlapping, peopleIn, personalKind } from './personal.js';
import { isStockAnswer } from './stock-answers.js';

/** Figures on the different texts of a column, or of the parts between separators. */
export interface Texts {
  readonly distinct: number;
  /** Texts that a single row holds. */
  readonly once: number;
  readonly longest: number;
  /** Most words in one of them. */
  readonly wordiest: number;
  /** Free text, or texts that identify people or places: never to be listed. */
  readonly own?: readonly string[];
  /** Cells that hold one of those, of all. */
  readonly ownCells?: number;
  readonly cells?: number;
  readonly people?: number;
}

const mostLetters = 80;
const mostWords = 12;
const manyWords = 6;
const mostStatements = 7;

/** A text in fewer rows than this share of them belongs to only a few people. */
function fewRows(rows: number): number {
  if (rows >= 100) return 5;
  return rows >= 40 ? 3 : 2;
}

export const wordsIn = (text: string): number => text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const isShortNumber = (text: string): boolean => /^[-+]?\d{1,4}([.,]\d{1,2})?$/.test(text);

/**
 * True if only a few of all rows, or of all people, share a text. Rows
 * without an answer count: a question answered by few people has few answers.
 */
export const isOfFew = (text: string, times: number, all: number): boolean =>
  times < fewRows(all) && !isShortNumber(text) && !isStockAnswer(text);

/** All texts in capitals: labels to choose from, one of which may be longer ("DE FACTO SEPARATED"). Free text is written in mixed case. */
const areLabels = (texts: readonly string[]): boolean => {
  const worded = texts.filter((text) => /\p{Lu}{2}/u.test(text) || /\p{Ll}/u.test(text));
  return worded.length >= 3 && worded.every((text) => !/\p{Ll}/u.test(text));
};

/**
 * Answers written by few people, as after "other, please specify": texts that few rows share and no
 * questionnaire offers, and any text that identifies a person or a place, however many rows have it.
 */
export function ownWords(counts: ReadonlyMap<string, number>, rows: number): readonly string[] {
  const isOwn = ([text, times]: readonly [string, number]) =>
    isOfFew(text, times, rows) || (!isShortNumber(text) && personalKind(text) !== undefined);
  // A sentence that some wrote alike, among answers of one word each.
  const isSentence = ([text, times]: readonly [string, number]) =>
    wordsIn(text) > 2 && 100 * times < rows && !isStockAnswer(text);
  const short = [...counts.keys()].filter((text) => wordsIn(text) <= 1).length;
  const sentences = 2 * short > counts.size && !areLabels([...counts.keys()]);
  const own = [...counts].filter((held) => isOwn(held) || (sentences && isSentence(held))).map(([text]) => text);
  const numbers = [...counts.keys()].filter((text) => /\d-\d/.test(text));
  return overlapping(numbers) ? [...new Set([...own, ...numbers])] : own;
}

/**
 * True for free text, which must not become a list of answers: as a domain it would appear in the policy and in
 * every table. Long texts, many words, names, or mostly texts of few people that fill at least a tenth of the cells.
 */
export function isFreeText({ distinct, once, longest, wordiest, own = [], ownCells = 0, cells = 0 }: Texts): boolean {
  // A few statements to choose from may be long; then everybody chose one of them.
  const statements = own.length === 0 && distinct <= mostStatements;
  if ((longest > mostLetters || wordiest > mostWords) && !statements) return true;
  if (own.length > 0 && (distinct - own.length < 2 || (2 * own.length >= distinct && 10 * ownCells > cells))) return true;
  return once > 0 && once === distinct;
}

export const isPeople = ({ distinct, people = 0 }: Texts): boolean => namesPeople(distinct, people);

/**
 * Judges from the list alone, for policies drafted elsewhere: true if the
 * values read like free text rather than like answers to choose from.
 */
export function readsLikeFreeText(values: readonly string[]): boolean {
  const texts = values.filter((value) => !/^[-+]?[\d.,]+$/.test(value));
  if (texts.some((text) => text.length > mostLetters || wordsIn(text) > mostWords)) return true;
  // One person's words among answers of one word each.
  const plain = texts.filter((text) => !isMissingWord(text));
  const short = plain.filter((text) => wordsIn(text) <= 1).length;
  if (2 * short > plain.length && plain.some((text) => wordsIn(text) > 2) && !areLabels(plain)) return true;
  if (plain.some((text) => personalKind(text) !== undefined || (/\p{L}/u.test(text) && /\d[\d /-]{4,}\d/.test(text))))
    return true;
  if (namesPeople(plain.length, peopleIn(plain)) || overlapping(plain)) return true;
  const wordy = texts.filter((text) => wordsIn(text) > manyWords).length;
  return texts.length >= 8 && 2 * wordy >= texts.length;
}
