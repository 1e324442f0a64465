import { fileURLToPath } from 'node:url';
import { Fault } from '../../base/errors.js';

/** What no file system keeps as it is: the end of a C string, and half of a pair. */
const noName = /\0|\p{Surrogate}/u;

/** The path of a file, or its file: address. */
export function fileNamed(value: unknown, what: string): string {
  if (value instanceof URL && value.protocol === 'file:') return fileURLToPath(value);
  if (typeof value === 'string' && value !== '' && !noName.test(value)) return value;
  throw new Fault('USAGE', `${what} is named by the path of its file, as a text.`, 'Write for example "policy.yaml".');
}
/** How the library takes the name of a file. */
export type FileName = string | URL;
