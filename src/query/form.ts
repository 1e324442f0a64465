import * as z from 'zod';
import { type LimitName, within } from '../input/limits.js';

const atMost =
  (limit: LimitName) =>
  (value: { readonly length: number }): true => {
    within(limit, value.length);
    return true;
  };
/** The name of a declared column. */
export const columnName = z.string().min(1).refine(atMost('nameLength'));
/** What an answer is called goes to terminals, files and reports. */
const title = columnName.refine((text) => !/\p{Cc}/u.test(text), 'a name may not hold control characters');
export const code = z.string().refine(atMost('literalLength'));
const literal = z.union([code, z.number()]);
export const list = <T extends z.ZodType>(item: T, limit: LimitName) => z.array(item).min(1).refine(atMost(limit)).readonly();

const condition = z.discriminatedUnion('op', [
  z.strictObject({ column: columnName, op: z.enum(['=', '!=', '<', '<=', '>', '>=']), value: literal }),
  z.strictObject({ column: columnName, op: z.enum(['in', 'not in']), values: list(literal, 'literals') }),
  z.strictObject({ column: columnName, op: z.enum(['missing', 'present']) }),
]);
/** Conditions are joined by AND. */
export type Condition = z.output<typeof condition>;

/** What every query may say beside its own fields. */
export const asked = {
  /** Name the answer carries; made from the query when absent. */
  name: title.optional(),
  where: z.array(condition).refine(atMost('conditions')).readonly().optional(),
  /** Group keys: declared category columns, or numbers with declared bins. */
  by: z.array(columnName).refine(atMost('keys')).readonly().optional(),
  /** A declared weight column. */
  weight: columnName.optional(),
};
