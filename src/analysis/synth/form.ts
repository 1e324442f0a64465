import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { limits } from '../../base/input/limits.js';
import { readRequest } from '../learn/request.js';
import { maxRequestedRows } from './memory.js';

const name = z.string().min(1);
const names = z.array(name).min(1);
/** Numbers of a YAML file may be strings. */
const number = z.union([z.number(), z.string().regex(/^-?\d{1,15}(\.\d{1,15})?$/, 'write a number')]);
const whole = (least: number, most: number) =>
  z.union([z.number().int().min(least).max(most), z.string().regex(/^\d{1,9}$/, 'write a whole number')]);
/** A code, or several; null or an empty string is a missing answer. */
const code = z.union([z.string(), z.number(), z.null()]);
const condition = z.union([code, z.array(code).min(1), z.strictObject({ from: number.optional(), to: number.optional() })]);

/** Synthetic rows: their columns, tables and number. */
export const synthSchema = z.strictObject({
  /** Choice of tables: in rounds (aim), as a tree of pairs (mst), or as a tree grown column by column (privbayes). */
  mode: z.enum(['aim', 'mst', 'privbayes']).optional(),
  /** Names and patterns; all columns when absent. */
  columns: names.optional(),
  except: names.optional(),
  /** The number of records when absent. */
  rows: whole(1, maxRequestedRows).optional(),
  /** With aim: most columns of the tables to reproduce; 3 when absent, 2 with many columns. */
  upTo: whole(1, 3).optional(),
  /** With aim: tables of higher weight. */
  tables: z
    .array(z.strictObject({ by: names.max(5), weight: number.optional() }))
    .max(10_000)
    .optional(),
  /** Structural zeros besides those of the policy's `merge`: each holds for rows that meet all its conditions. */
  impossible: z.array(z.record(name, condition)).max(1_000).optional(),
  /**
   * Households: the column with their names, which a declared tie has; the columns all members share; the largest size counted
   * separately (8 by default).
   */
  households: z.strictObject({ by: name, shared: names.optional(), most: whole(2, 20).optional() }).optional(),
  /** Most cells that the model may have, all its cliques together. */
  cells: whole(1_000, limits.graphicalCells.most).optional(),
});
export type SynthRequest = z.infer<typeof synthSchema>;
/** The same form with its numbers parsed. */
export interface SynthForm extends Omit<SynthRequest, 'rows' | 'upTo' | 'cells' | 'tables' | 'households'> {
  readonly rows?: number;
  readonly upTo?: number;
  readonly cells?: number;
  readonly tables: readonly { readonly by: readonly string[]; readonly weight: number }[];
  readonly households?: { readonly by: string; readonly shared: readonly string[]; readonly most: number };
}

export function readSynthForm(input: unknown): SynthForm {
  const {
    rows,
    upTo,
    cells,
    tables = [],
    households,
    ...rest
  } = readRequest(synthSchema, input ?? {}, '{"mode": "aim", "rows": 10000}');
  refuseBesideAim(rest.mode, { upTo, tables: tables.length > 0 ? tables : undefined });
  const within = (name: string, written: number | string | undefined, least: number, most: number) => {
    if (written === undefined) return {};
    const value = Number(written);
    if (value < least || value > most)
      throw new Fault(
        'QUERY_INVALID',
        `${name}: write a whole number from ${least} to ${most}.`,
        'Leave it out for the usual one.',
      );
    return { [name]: value };
  };

  return {
    ...rest,
    ...within('rows', rows, 1, maxRequestedRows),
    ...within('upTo', upTo, 1, 3),
    ...within('cells', cells, 1_000, limits.graphicalCells.most),
    ...(households && {
      households: { by: households.by, shared: households.shared ?? [], most: 8, ...within('most', households.most, 2, 20) },
    }),
    tables: tables.map(({ by, weight = 1 }) => {
      if (!(Number(weight) > 0 && Number(weight) <= 1e6))
        throw new Fault('QUERY_INVALID', 'tables: a weight is a number above 0.', 'Leave it out for 1.');
      return { by, weight: Number(weight) };
    }),
  };
}

/** Trees choose pairs by themselves: what says which tables should come out right is read by aim alone. */
function refuseBesideAim(mode: SynthRequest['mode'], ofAim: Readonly<Record<string, unknown>>): void {
  const unread = Object.keys(ofAim).find((name) => ofAim[name] !== undefined);
  if (unread !== undefined && mode !== undefined && mode !== 'aim')
    throw new Fault('QUERY_INVALID', `${unread} goes with the mode aim.`, `Leave it out, or leave out the mode ${mode}.`);
}

export type SynthCondition = z.infer<typeof condition>;
export type SynthMode = NonNullable<SynthForm['mode']>;
