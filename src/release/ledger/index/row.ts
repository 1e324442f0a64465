import { Broken } from '../chain/chain.js';

/** Integers, bytes and nulls only: text is decoded here, so that invalid text counts as damage. */
export type Row = readonly (number | Buffer | null)[];

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
export const text = (value: Row[number] | undefined): string => {
  if (!(value instanceof Uint8Array)) throw new Broken('a text is missing');
  try {
    return utf8.decode(value);
  } catch {
    throw new Broken('it holds bytes that are no text');
  }
};
export const integer = (value: Row[number] | undefined): number => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Broken('a number is missing');
  return value;
};
