import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { toNumber, toText } from '../../base/exact/rational.js';
import { writeWhole } from '../../base/files/write-file.js';
import { readFile } from '../../base/platform/files.js';
import { confirmColumns, decideDependence } from '../../data/draft/confirm.js';
import type { DraftDependence } from '../../data/draft/draft.js';
import { readsLikeFreeText } from '../../data/draft/free-text.js';
import { dependenceText } from '../../data/draft/policy-text.js';
import { parsePolicy, readPolicy } from '../../data/terms/read.js';
import { isoDay } from '../../policy/date-text.js';
import type { Column, Policy } from '../../policy/policy.js';
import { didYouMean } from '../../policy/suggest.js';
import { dependence } from './draft.js';
import { type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';

const options = defineRequest('ConfirmOptions', {
  columns: field(z.union([z.literal('all'), z.array(z.string())]), 'Names of columns, or "all".'),
  dependence: field(dependence.optional(), 'Replacement for `dependence: undecided`.'),
});
export type ConfirmOptions = z.input<typeof options>;

export interface ConfirmedPolicy {
  readonly policy: string;
  readonly confirmed: readonly string[];
  readonly unconfirmed: readonly string[];
  /** Columns that "all" does not accept because their values look like free text: name them, or leave them out of the policy. */
  readonly freeText: readonly string[];
  /** True while the policy's dependence is still undecided. */
  readonly undecided: boolean;
  /** Dependence written in the place of `undecided` by this call. */
  readonly dependence?: string;
}

/**
 * Accepts domains and bounds that were read from the data: removes the columns from the policy's `unconfirmed:` list and leaves
 * the rest of the file unchanged.
 *
 * @example
 * const { unconfirmed } = await confirmPolicy('policy.yaml', { columns: 'all' });
 */
export async function confirmPolicy(policy: FileName, given: ConfirmOptions): Promise<ConfirmedPolicy> {
  return withFaults(async () => {
    const { columns, dependence } = parseOptions(options, given);
    const read = await readPolicy(fileNamed(policy, 'The policy'));
    const unknown = columns === 'all' ? undefined : columns.find((name) => !read.columns.has(name));
    if (unknown !== undefined)
      throw new Fault(
        'COLUMN_UNKNOWN',
        `The policy has no column "${unknown}".`,
        didYouMean(unknown, [...read.columns.keys()], 'Its columns'),
      );
    const freeText = read.unconfirmed.filter((name) => isFreeText(read.columns.get(name)!));
    const confirmed =
      columns === 'all'
        ? read.unconfirmed.filter((name) => !freeText.includes(name))
        : columns.filter((name) => read.unconfirmed.includes(name));
    const declared = read.undecided && dependence !== undefined ? dependenceText(plainDependence(dependence)) : undefined;
    const after = await rewrite(read, confirmed, declared);
    return {
      policy: read.file,
      confirmed,
      unconfirmed: after.unconfirmed,
      freeText: freeText.filter((name) => after.unconfirmed.includes(name)),
      undecided: after.undecided === true,
      ...(declared !== undefined && { dependence: declared }),
    };
  });
}

const isFreeText = (column: Column): boolean => 'values' in column && readsLikeFreeText(column.values);

const plainDependence = (declared: z.output<typeof dependence>): DraftDependence =>
  typeof declared === 'string'
    ? declared
    : { by: declared.by, ...(declared.oddsRatio !== undefined && { oddsRatio: declared.oddsRatio }) };

async function rewrite(read: Policy, columns: readonly string[], dependence: string | undefined): Promise<Policy> {
  if (columns.length === 0 && dependence === undefined) return read;
  const before = await readFile(read.file, 'utf8');
  const listed = columns.length === 0 ? before : confirmColumns(before, new Set(columns));
  const text = dependence === undefined ? listed : decideDependence(listed, dependence);
  const after = await parsePolicy(text, read.file);
  writeWhole(read.file, text, {
    hint: 'Free space, check permissions, or take the columns off its unconfirmed: list yourself.',
  });
  return after;
}

/** Column whose domain was read from the data, as shown for review. */
export interface UnconfirmedColumn {
  readonly name: string;
  readonly type: 'category' | 'integer' | 'number' | 'date' | 'multi' | 'weight';
  /** Permitted values, if the domain is a list. */
  readonly values?: readonly string[];
  /** Bounds that values are clamped to: exact numbers, or days (2024-12-31). */
  readonly bounds?: readonly [string, string];
  /** Codes that mean "no answer". */
  readonly missing: readonly string[];
}

/**
 * Columns of a policy whose domains were read from the data and await confirmation.
 *
 * @example
 * for (const { name, type } of await unconfirmedColumns('policy.yaml')) console.log(name, type);
 */
export async function unconfirmedColumns(policy: FileName): Promise<readonly UnconfirmedColumn[]> {
  return withFaults(async () => {
    const { unconfirmed, columns } = await readPolicy(fileNamed(policy, 'The policy'));
    return unconfirmed.map((name) => {
      const column = columns.get(name)!;
      const { type, missing } = column;
      if ('values' in column) return { name, type, values: column.values, missing };
      const [low, high] = column.bounds;
      if ('date' in column) return { name, type: 'date', bounds: [isoDay(toNumber(low)), isoDay(toNumber(high))], missing };
      return { name, type, bounds: [toText(low), toText(high)], missing };
    });
  });
}
