import { isFirstName } from './first-names.js';

/**
 * Kind of text that identifies a person or a place: never listed as an answer,
 * however often it occurs (a panel repeats each person's in every wave).
 */
export type PersonalKind = 'mail' | 'machine' | 'telephone' | 'number' | 'place' | 'date';

const machine =
  /^(\d{1,3}\.){3}\d{1,3}$|^(?=.*[a-f\d]{2})[\da-f]{0,4}(:[\da-f]{0,4}){3,7}$|^(https?:\/\/|www\.)\S|^(Mozilla|Opera)\/\d|^(Android|iOS|iPhone|iPad|Windows|Mac ?OS X?|Macintosh|CrOS|Linux|Ubuntu)( (NT|Phone|OS))?( [\d.x_]+)*$/i;
const mail = /[^\s@]+@[^\s@]+\.[^\s@]{2,}/;

const month =
  '(?:jan|feb|fév|m[aä]r|apr|avr|abr|ma[iyj]|jun|juin|jul|juil|aug|août|aou|ago|sep|set|o[ckt]t|nov|de[czs]|ene|gen|mag|giu|lug|dic|січ|янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)\\p{L}*';
const date = new RegExp(
  [
    '^\\d{4}([-/.])\\d{1,2}\\1\\d{1,2}(?:[T ].*)?$',
    '^(?:[0-2]?\\d|3[01])([-/.]) ?(?:[0-2]?\\d|3[01])\\2 ?(?:\\d{2}|\\d{4})(?: .*)?$',
    '^\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?: ?[ap]\\.?m\\.?)?$',
    '^\\d{4}年\\d{1,2}月\\d{1,2}日',
    `^(?:\\p{L}+,? )?\\d{1,2}(?:st|nd|rd|th|er|º|\\.)?[ -/]?(?:de |of )?${month}\\.?(?: de| del|,)?[ -/]?\\d{2,4}(?: .*)?$`,
    `^(?:\\p{L}+,? )?${month}\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}(?: .*)?$`,
  ].join('|'),
  'iu',
);

/** Postcodes with letters or a separator; postcodes of digits alone are recognised by `isNumbering`. */
const postcode =
  /^([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d|\d{4} ?[A-Z]{2}|\d{5}-\d{3,4}|0\d-\d{3}|[1-9]\d-\d{3}|\d{3}-\d{4}|\d{4}-\d{3}|\d{3} \d{2}|(A|B|CH|D|F|FIN|I|L|LT|LV|SE|SK|SI)-\d{4,6}|[A-Z]\d[\dW] ?[A-Z\d]{4})$/;
const coordinates =
  /^\(?-?\d{1,3}\.\d{3,}\s*[,;\s]\s*-?\d{1,3}\.\d{3,}\)?$|\d\s?°|^(point|multipoint|polygon)\s?\(|^[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}/i;
const street = new RegExp(
  [
    '^\\d{1,5}[a-z]?,?\\s+\\S.*\\s(?:street|st|avenue|ave|road|rd|boulevard|blvd|square|sq)\\b\\.?',
    '(?:stra(?:ß|ss)e|str\\.|gasse|platz|allee|weg|ufer|damm|straat|laan|plein|gracht|gatan|vägen|vej|gade|veien|gata|katu|tie|utca|út|sokak|sokağı|caddesi)\\s*(?:no\\.?:?)?\\s*\\d{1,4}\\s?[a-z]?\\b',
    '^(?:rue|avenue|boulevard|chemin|via|viale|piazza|corso|calle|avenida|paseo|rua|travessa|ulica|ul\\.|ulitsa|улица|ул\\.)\\s.*\\d',
    '^\\d{1,4}\\s?(?:bis|ter)?,?\\s+(?:rue|avenue|boulevard|chemin|place|allée)\\s',
  ].join('|'),
  'iu',
);

/** Accounts, cards, national numbers, pseudonyms: letters and digits of which the digits are many. */
const number =
  /^[A-Z]{2}\d{2}[ -]?([A-Z\d]{4}[ -]?){2,7}[A-Z\d]{0,4}$|^\d{4}([ -]\d{4}){2,3}([ -]\d{1,4})?$|^\p{L}{0,4}[-_ ]?\d{5,}[-_ ]?\p{L}{0,2}\d?$|^(?=[^g-z]*\d)(?=[^g-z]*[a-f])[\da-f]{8,}$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/iu;

const thousands = /^[+-]?[1-9]\d{0,2}([.,' ]\d{3})+([.,]\d+)?$/;
const range = /^(\d{1,7}|\d{1,3}(?:[.,]\d{3})+)\s?[-–]\s?(\d{1,7}|\d{1,3}(?:[.,]\d{3})+)$/;
const plain = (digits: string): number => Number(digits.replace(/[.,]/g, ''));
/** "1000-1999" is a bin; a text with a leading zero, or one that does not increase, is not. */
const isRange = (text: string): boolean => {
  const [, from, to] = range.exec(text) ?? [];
  return from !== undefined && !/^0\d/.test(from) && plain(from) < plain(to!);
};
const telephone = (text: string): boolean => {
  if (!/^[+(\d][\d\s()/.–-]{5,}(\s?(x|ext\.?|-)\s?\d{1,5})?$/i.test(text)) return false;
  return (text.match(/\d/g)?.length ?? 0) >= 7 && !thousands.test(text) && !isRange(text);
};

/** Kind of a non-numeric text that identifies a person or a place; undefined for other texts. */
export function personalKind(text: string): PersonalKind | undefined {
  const trimmed = text.trim();
  if (machine.test(trimmed)) return 'machine';
  if (trimmed.length < 4 || !/[\d@]/.test(trimmed)) return undefined;
  if (date.test(trimmed)) return 'date';
  if (mail.test(trimmed)) return 'mail';
  if (postcode.test(trimmed) && !isRange(trimmed)) return 'place';
  if (coordinates.test(trimmed) || street.test(trimmed)) return 'place';
  if (telephone(trimmed)) return 'telephone';
  return number.test(trimmed) ? 'number' : undefined;
}

const wordsOf = (text: string): readonly string[] => text.split(/[\s,]+/u).filter((word) => word !== '');
const nameShape = /^\p{L}[\p{L}\p{Mn}'’.-]*$/u;

/** "Dr. Okafor"; "Meyer, A." */
const title = /^(dr|mr|mrs|ms|prof|herrn?|frau|mme|mlle|monsieur|madame|sra?|señora?|sig(\.?ra)?|dott)\.?$/i;
const initial = /^\p{Lu}\.(-?\p{Lu}\.)*$/u;

export function peopleIn(texts: Iterable<string>): number {
  let people = 0;
  for (const text of texts) {
    const words = wordsOf(text.trim());
    if (words.length === 0 || words.length > 4 || !words.every((word) => nameShape.test(word))) continue;
    if (words.length > 1 && (title.test(words[0]!) || (text.includes(',') && initial.test(words.at(-1)!)))) {
      people++;
      continue;
    }
    const first = text.includes(',') ? words.slice(1) : words.slice(0, 1);
    if (first.some((word) => word.split('-').some(isFirstName))) people++;
  }
  return people;
}

/**
 * True if enough of the different texts are names of people. Candidates of
 * an election are among them: a steward can request that column by its name.
 */
export const namesPeople = (distinct: number, people: number): boolean => people >= 2 && people >= 0.4 * distinct;

/** Bins do not lie in one another; numbers behind one area code do. */
export function overlapping(texts: readonly string[]): boolean {
  const spans = texts
    .map((text) => range.exec(text.trim()))
    .filter((found) => found !== null)
    .map(([, from, to]) => [plain(from!), plain(to!)] as const)
    .sort(([a, b], [c, d]) => a - c || b - d);
  const inside = spans.filter(([from], k) => k > 0 && from < spans[k - 1]![1]).length;
  return inside > 0 && 2 * inside >= spans.length - 1;
}
