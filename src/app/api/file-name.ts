import { Fault } from '../../base/errors.js';
import { fileURLToPath } from '../../base/platform/paths.js';

/** Characters that no file system keeps: the end of a C string, and an unpaired surrogate. */
const noName = /\0|\p{Surrogate}/u;

/** Path of a file, or its file: address. */
export function fileNamed(value: unknown, what: string): string {
  if (value instanceof URL && value.protocol === 'file:') return fileURLToPath(value);
  if (typeof value === 'string' && value !== '' && !noName.test(value)) return value;
  throw new Fault('USAGE', `${what} is named by the path of its file, as a text.`, 'Write for example "policy.yaml".');
}
/** File name as the library accepts it. */
export type FileName = string | URL;
