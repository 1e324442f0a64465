import { BrokenChain, type Link, type StoredLink } from '../chain/chain.js';

/** Integers, bytes and nulls only: text is decoded here, so that invalid text counts as damage. */
export type IndexRow = readonly (number | Buffer | null)[];

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
export const decodeText = (value: IndexRow[number] | undefined): string => {
  if (!(value instanceof Uint8Array)) throw new BrokenChain('a text is missing');
  try {
    return utf8.decode(value);
  } catch {
    throw new BrokenChain('it holds bytes that are no text');
  }
};
export const decodeInteger = (value: IndexRow[number] | undefined): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new BrokenChain('a number is missing');
  return value;
};
/** Every kind of damage ends in `BrokenChain`. */
export const decodeJson = (value: IndexRow[number] | undefined): unknown => {
  try {
    return JSON.parse(decodeText(value));
  } catch {
    throw new BrokenChain('something in it cannot be read');
  }
};
export const linkIn = ({ body }: Pick<StoredLink, 'body'>): Link => decodeJson(Buffer.from(body)) as Link;
