import { createHash } from 'node:crypto';

const longest = 64;

/** Something short that tells texts apart: the text, or its digest where it is long. No text of up to `longest` letters has so many as a digest. */
export const shortText = (text: string): string =>
  text.length <= longest ? text : `#${createHash('sha256').update(text).digest('hex')}`;
