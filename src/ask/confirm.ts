import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { Fault } from '../errors.js';
import { toText } from '../exact/rational.js';
import { writeWhole } from '../files/write-file.js';
import { confirmColumns } from '../policy/draft/confirm.js';
import { didYouMean } from '../policy/suggest.js';
import { parsePolicy, readPolicy } from '../terms/read.js';
import { type FileName, faulting, fileNamed, readOptions } from './door.js';

const options = z.strictObject({
  /** Names of columns, or "all". */
  columns: z.union([z.literal('all'), z.array(z.string())]),
});
export type ConfirmOptions = z.input<typeof options>;

export interface ConfirmedPolicy {
  readonly policy: string;
  readonly confirmed: readonly string[];
  readonly unconfirmed: readonly string[];
}

/**
 * Accepts domains and bounds that were read from the data: takes the columns off the policy's `unconfirmed:` list and leaves everything else in the file as
 * it is.
 *
 * @example
 * const { unconfirmed } = await confirmPolicy('policy.yaml', { columns: 'all' });
 */
export async function confirmPolicy(policy: FileName, given: ConfirmOptions): Promise<ConfirmedPolicy> {
  return faulting(async () => {
    const { columns } = readOptions(options, given);
    const read = await readPolicy(fileNamed(policy, 'The policy'));
    const unknown = columns === 'all' ? undefined : columns.find((name) => !read.columns.has(name));
    if (unknown !== undefined)
      throw new Fault(
        'COLUMN_UNKNOWN',
        `The policy has no column "${unknown}".`,
        didYouMean(unknown, read.unconfirmed, 'Unconfirmed columns'),
      );
    const confirmed = columns === 'all' ? read.unconfirmed : columns.filter((name) => read.unconfirmed.includes(name));
    return { policy: read.file, confirmed, unconfirmed: await takeOff(read, confirmed) };
  });
}

async function takeOff(
  { file, unconfirmed }: { readonly file: string; readonly unconfirmed: readonly string[] },
  columns: readonly string[],
): Promise<readonly string[]> {
  if (columns.length === 0) return unconfirmed;
  const text = confirmColumns(await readFile(file, 'utf8'), new Set(columns));
  const after = await parsePolicy(text, file);
  writeWhole(file, text, {
    hint: 'Free space, check permissions, or take the columns off its unconfirmed: list yourself.',
  });
  return after.unconfirmed;
}

/** A column whose domain was read from the data, as it is to be looked at. */
export interface UnconfirmedColumn {
  readonly name: string;
  readonly type: 'category' | 'integer' | 'number' | 'multi' | 'weight';
  /** What it may hold, where that is a list. */
  readonly values?: readonly string[];
  /** What it is kept between, as exact numbers. */
  readonly bounds?: readonly [string, string];
  /** Codes that mean "no answer". */
  readonly missing: readonly string[];
}

/**
 * The columns of a policy whose domains were read from the data and await a look.
 *
 * @example
 * for (const { name, type } of await unconfirmedColumns('policy.yaml')) console.log(name, type);
 */
export async function unconfirmedColumns(policy: FileName): Promise<readonly UnconfirmedColumn[]> {
  return faulting(async () => {
    const { unconfirmed, columns } = await readPolicy(fileNamed(policy, 'The policy'));
    return unconfirmed.map((name) => {
      const column = columns.get(name)!;
      const { type, missing } = column;
      if ('values' in column) return { name, type, values: column.values, missing };
      return { name, type, bounds: [toText(column.bounds[0]), toText(column.bounds[1])], missing };
    });
  });
}
