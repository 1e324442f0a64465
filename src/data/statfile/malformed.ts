import { Fault } from '../../base/errors.js';

/** Fault for a file that cannot be read; the message quotes none of its content. */
export const malformed = (
  file: string,
  message: string,
  hint = 'Save it again with the program that wrote it, or export it as CSV.',
): Fault => new Fault('DATA_MALFORMED', message, hint, { place: { file } });
