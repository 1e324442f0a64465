import { Fault } from '../../base/errors.js';

/** What cannot be read, in words that hold nothing of what was in it. */
export const malformed = (
  file: string,
  message: string,
  hint = 'Save it again with the program that wrote it, or export it as CSV.',
): Fault => new Fault('DATA_MALFORMED', message, hint, { place: { file } });
