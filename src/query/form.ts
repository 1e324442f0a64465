import * as z from 'zod';
import { type LimitName, within } from '../base/input/limits.js';
import { type DatePart, type DateUnit, dateParts, dateUnits } from './calendar.js';

const atMost =
  (limit: LimitName) =>
  (value: { readonly length: number }): true => {
    within(limit, value.length);
    return true;
  };
/** The name of a declared column. */
export const columnNameForm = z.string().min(1).refine(atMost('nameLength'));
/** The name of an answer is shown in terminals, files and reports. */
const title = columnNameForm.refine((text) => !/\p{Cc}/u.test(text), 'a name may not hold control characters');
export const codeForm = z.string().refine(atMost('literalLength'));
const literal = z.union([codeForm, z.number()]);
export const boundedList = <T extends z.ZodType>(item: T, limit: LimitName) =>
  z.array(item).min(1).refine(atMost(limit)).readonly();

const leaf = z.discriminatedUnion('op', [
  z.strictObject({ column: columnNameForm, op: z.enum(['=', '!=', '<', '<=', '>', '>=']), value: literal }),
  z.strictObject({ column: columnNameForm, op: z.enum(['in', 'not in']), values: boundedList(literal, 'literals') }),
  z.strictObject({ column: columnNameForm, op: z.enum(['missing', 'present']) }),
]);
export type LeafCondition = z.output<typeof leaf>;
/** Conditions in a list are joined by AND. */
export type RowCondition =
  | LeafCondition
  | { readonly any: readonly RowCondition[] }
  | { readonly all: readonly RowCondition[] }
  | { readonly not: RowCondition };
export const conditionForm: z.ZodType<RowCondition> = z.lazy(() =>
  z.union([
    leaf,
    z.strictObject({ any: boundedList(conditionForm, 'conditions') }),
    z.strictObject({ all: boundedList(conditionForm, 'conditions') }),
    z.strictObject({ not: conditionForm }),
  ]),
);

/** Expression computed row by row: a column name, a number, a text, nothing (null), arithmetic, or the first case that holds. */
export type Expression =
  | string
  | number
  | null
  | { readonly text: string }
  | { readonly op: '+' | '-' | '*' | '/' | '%'; readonly of: readonly [Expression, Expression] }
  | { readonly op: 'floor' | 'ceil' | 'round'; readonly of: readonly [Expression]; readonly digits?: number | undefined }
  /** A part of a date, as a whole number: Monday is weekday 1. */
  | { readonly op: DatePart; readonly of: readonly [Expression] }
  /** First day of the unit that a date is in. */
  | { readonly op: 'trunc'; readonly to: DateUnit; readonly of: readonly [Expression] }
  | {
      readonly cases: readonly { readonly when: RowCondition; readonly value: Expression }[];
      readonly otherwise?: Expression | undefined;
    };
const expression: z.ZodType<Expression> = z.lazy(() =>
  z.union([
    columnNameForm,
    z.number(),
    z.null(),
    z.strictObject({ text: codeForm }),
    z.strictObject({ op: z.enum(['+', '-', '*', '/', '%']), of: z.tuple([expression, expression]).readonly() }),
    z.strictObject({
      op: z.enum(['floor', 'ceil', 'round']),
      of: z.tuple([expression]).readonly(),
      digits: z.int().min(0).max(9).optional(),
    }),
    z.strictObject({ op: z.enum(dateParts), of: z.tuple([expression]).readonly() }),
    z.strictObject({ op: z.literal('trunc'), to: z.enum(dateUnits), of: z.tuple([expression]).readonly() }),
    z.strictObject({
      cases: boundedList(z.strictObject({ when: conditionForm, value: expression }), 'conditions'),
      otherwise: expression.optional(),
    }),
  ]),
);

/** Feature of the rows of one person. */
const feature = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('count') }),
  z.strictObject({ kind: z.enum(['sum', 'mean', 'least', 'most', 'usual']), column: columnNameForm }),
  z.strictObject({ kind: z.enum(['first', 'last']), column: columnNameForm, by: columnNameForm }),
]);
export type FeatureForm = z.output<typeof feature>;

/** A table of the policy (`data`: the main one, which lists the persons), or one row per person. */
export interface PartForm {
  readonly table?: string | undefined;
  readonly perPerson?: PerPersonForm | undefined;
  /** Prefix of its columns; its own name when absent. */
  readonly as?: string | undefined;
}
export interface PerPersonForm {
  readonly from: FromForm;
  readonly where?: readonly RowCondition[] | undefined;
  readonly features: Readonly<Record<string, FeatureForm>>;
}
export interface JoinForm extends PartForm {
  /** Columns with the same name on both sides, or a map from columns of earlier parts to its own columns. */
  readonly on: readonly string[] | Readonly<Record<string, string>>;
  /** LEFT JOIN: rows without a partner stay. */
  readonly optional?: boolean | undefined;
}
export type FromForm = string | (PartForm & { readonly join?: readonly JoinForm[] | undefined });

const part = {
  table: columnNameForm.optional(),
  perPerson: z.lazy(() => perPerson).optional(),
  as: columnNameForm.optional(),
};
const join = z.strictObject({
  ...part,
  on: z.union([z.array(columnNameForm).min(1).refine(atMost('keys')).readonly(), z.record(columnNameForm, columnNameForm)]),
  optional: z.boolean().optional(),
});
const from: z.ZodType<FromForm> = z.union([
  columnNameForm,
  z.strictObject({
    ...part,
    join: z
      .array(z.lazy(() => join))
      .refine(atMost('keys'))
      .readonly()
      .optional(),
  }),
]);
const perPerson: z.ZodType<PerPersonForm> = z.strictObject({
  from,
  where: z.array(conditionForm).refine(atMost('conditions')).readonly().optional(),
  features: z.record(title, feature),
});

/** Fields that every query may have in addition to its own. */
export const commonFields = {
  /** Rows of the query: those of a table of the policy, joined to others; the data's own when absent. */
  from: from.optional(),
  /** Name the answer carries; made from the query when absent. */
  name: title.optional(),
  /** Columns computed from declared ones, usable wherever a column is named. */
  derive: z
    .record(title, expression)
    .refine((columns) => atMost('conditions')(Object.keys(columns)))
    .optional(),
  where: z.array(conditionForm).refine(atMost('conditions')).readonly().optional(),
  /** Group keys: declared category columns, or numbers with declared bins. */
  by: z.array(columnNameForm).refine(atMost('keys')).readonly().optional(),
  /** A declared weight column. */
  weight: columnNameForm.optional(),
};
