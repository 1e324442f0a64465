import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { makeFolder } from '../../base/files/folder.js';
import { errnoOf } from '../../base/files/write-fault.js';
import { writeNew } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { readNamedText } from '../../base/input/named-file.js';
import { lstatSync, readdirSync, rmSync } from '../../base/platform/files.js';
import { dirname, join, relative, resolve } from '../../base/platform/paths.js';

const stored = z.strictObject({ file: z.string(), made: z.iso.datetime() });
const nameForm = /^[A-Za-z0-9][\w-]{0,59}\.json$/;

/** Policies made in the console: a file each in the folder of the service, so that they are served again after a restart. */
export class MadePolicies {
  readonly #folder: string;
  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  /** Durable when it returns; false if a policy of this name is listed already. */
  keep(name: string, file: string): boolean {
    makeFolder(this.#folder, 0o700);
    const text = JSON.stringify({ file: relative(dirname(this.#folder), file), made: new Date().toISOString() });
    return writeNew(this.#place(name), `${text}\n`, { hint: 'The folder of the service must be writable.', mode: 0o600 });
  }

  forget(name: string): void {
    rmSync(this.#place(name), { force: true });
  }

  /** Policy files, oldest first. */
  list(): readonly string[] {
    return this.#names()
      .filter((name) => nameForm.test(name))
      .map((name) => this.#read(join(this.#folder, name)))
      .sort((a, b) => (a.made < b.made ? -1 : 1))
      .map(({ file }) => resolve(dirname(this.#folder), file));
  }

  /** A missing folder has no names; one that cannot be listed, as behind a broken link, may have some. */
  #names(): readonly string[] {
    try {
      return readdirSync(this.#folder);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' && !lstatSync(this.#folder, { throwIfNoEntry: false })) return [];
      throw this.#broken(this.#folder);
    }
  }

  #place(name: string): string {
    return join(this.#folder, `${name}.json`);
  }

  #read(place: string): z.output<typeof stored> {
    const broken = () => this.#broken(place);
    try {
      return stored.parse(parseJson(readNamedText(place, 'policyBytes', broken)));
    } catch {
      throw broken();
    }
  }

  #broken(place: string): Fault {
    return new Fault(
      'DATA_MALFORMED',
      'The list of policies made in the console cannot be read.',
      `Restore ${place}, or remove it.`,
      { place: { file: place } },
    );
  }
}
