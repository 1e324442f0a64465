import { z } from 'zod';
import { Fault } from '../base/errors.js';
import { compare, isPositive, one, parseRational, type Rational, rational, zero } from '../base/exact/rational.js';
import { exceeded, type LimitName, limits } from '../base/input/limits.js';
import { codeText } from './code.js';
import { daysOf } from './date-text.js';
import { didYouMean } from './suggest.js';
import { usages } from './usage.js';

/**
 * Schemas of the sections of a policy file (the whole is in data/terms/shape.ts). Scalars arrive as text (yaml-file.ts); numbers
 * and booleans are accepted for the published JSON Schema.
 */
const complain = (ctx: z.RefinementCtx, message: string, hint: string, details?: Fault['details']) => {
  ctx.addIssue({ code: 'custom', message: `${message}\n${hint}`, ...(details?.limited !== undefined && { params: details }) });
  return z.NEVER;
};
/** A limit is refused by its own fault, at the place of the section. */
export const limitedTo =
  (limit: LimitName, sizeOf: (value: never) => number = (value: { readonly length: number }) => value.length) =>
  (value: unknown, ctx: z.RefinementCtx): void => {
    const size = sizeOf(value as never);
    if (size <= limits[limit].most) return;
    const { message, hint, details } = exceeded(limit, size);
    complain(ctx, message, hint, details);
  };
export const keyCount = (value: object): number => Object.keys(value).length;
/** A section with a fixed set of keys; messages are "sentence\nhint". */
export const section = <T extends z.ZodRawShape>(shape: T, usage: string) =>
  z
    .strictObject(shape, {
      error: (issue) => {
        if (issue.code !== 'unrecognized_keys')
          return `This section is ${issue.input === undefined ? 'missing' : 'not in the form expected'}.\n${usage}`;
        const key = String((issue.keys as string[])[0]);
        return `Unknown key "${key}".\n${didYouMean(key, Object.keys(shape), 'Keys known here')}`;
      },
    })
    .register(usages, { usage });
const typed = (what: string, rule: string) =>
  z.union([z.number(), z.string()], {
    error: (issue) => (issue.input === undefined ? `The ${what} is missing.` : `The ${what} must be ${rule}.`),
  });

export const decimal = (what: string) =>
  typed(what, 'one number').transform((value, ctx): Rational => {
    try {
      return parseRational(String(value), what);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return complain(ctx, error.message, error.hint, error.details);
    }
  });
const decimalWhere = (what: string, holds: (x: Rational) => boolean, rule: string, hint: string) =>
  decimal(what).superRefine((x, ctx) => {
    if (!holds(x)) complain(ctx, `The ${what} must be ${rule}.`, hint);
  });
const probability = (what: string) =>
  decimalWhere(
    what,
    (x) => isPositive(x) && compare(x, one) < 0,
    'above 0 and below 1',
    'It is a probability: write 0.1 for ten percent.',
  );

export const wholeShape = (what: string, least: number) =>
  typed(what, 'one whole number').transform((value, ctx) => {
    const text = String(value).trim();
    const n = /^\+?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return n >= least
      ? n
      : complain(ctx, `The ${what} must be a whole number of at least ${least}.`, `Write it without sign, point or exponent.`);
  });

export const flag = (what: string) =>
  z
    .union([z.boolean(), z.enum(['true', 'false'])], { error: `${what} must be true or false.` })
    .transform((v) => String(v) === 'true');

export const word = (what: string) =>
  z
    .string({ error: `The ${what} must be a name.` })
    .trim()
    .min(1, { error: `The ${what} is empty.` })
    .superRefine(limitedTo('nameLength'));
const code = z
  .union([z.string(), z.number(), z.boolean()], { error: 'A code must be one word or number.' })
  .transform((v) => codeText(String(v)));
export const codes = z
  .array(code, { error: 'Write the codes as a list, such as [1, 2, 3].' })
  .superRefine(limitedTo('categories'));

/** Strength of a tie as an odds ratio: at least one, or inf for copies. */
export const oddsRatio = z
  .union([z.number(), z.string()], { error: 'The odds ratio must be one number.' })
  .transform((value, ctx): Rational | 'inf' => {
    const text = String(value).trim();
    if (/^\.?inf(inity)?$/i.test(text)) return 'inf';
    try {
      const ratio = parseRational(text, 'odds ratio');
      if (compare(ratio, one) >= 0) return ratio;
      return complain(
        ctx,
        `The odds ratio ${text} is below one.`,
        '1 means strangers, 4 alike, 81 that two people agree nine times in ten, inf copies. For a ratio r below one write 1/r.',
      );
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return complain(ctx, error.message, `${error.hint} inf means copies.`, error.details);
    }
  });

const learned = z
  .string()
  .optional()
  .describe('Where this was learned from the data and paid for (fugu learn keys, bounds, rows); it changes no answer.');
const described = { label: z.string().optional(), missing: codes.optional(), public: flag('public').optional(), learned };
/** A day, as the number by which days are counted. */
const date = (what: string) =>
  z.string({ error: `The ${what} must be a day, such as 2024-12-31.` }).transform((text, ctx): Rational => {
    const days = daysOf(text);
    return days === undefined
      ? complain(ctx, `The ${what} is no day.`, 'Write year, month and day: 2024-12-31.')
      : rational(days);
  });
const bounds = z.tuple([decimal('lower bound'), decimal('upper bound')], {
  error: 'The bounds must be a list of two numbers, such as [0, 100].',
});
const options = z
  .union([codes, z.record(z.string(), z.string()).superRefine(limitedTo('categories', keyCount))], {
    error: 'The values must be a list of codes, or codes with their labels: {1: Yes, 2: No}.',
  })
  .describe('The codes this column may hold, as a list or with labels: {1: Yes, 2: No}. Anything else counts as missing.');
const bins = z
  .union([z.array(decimal('bin edge')).superRefine(limitedTo('bins')), z.union([z.number(), z.string()])], {
    error: 'The bins must be a list of edges or a number of bins.',
  })
  .describe('Inner edges of the bins, or how many at most: all of one width, only the last may be narrower.');

const anyColumn =
  'For example age: {type: integer, bounds: [17, 90], missing: [-1]} or party: {type: category, values: [dem, rep]}.';
const numeric = { ...described, bounds, step: decimal('step').optional(), bins: bins.optional() };
export const columnShape = z.discriminatedUnion(
  'type',
  [
    section(
      {
        type: z.literal('category'),
        values: options,
        pool: probability('pool')
          .optional()
          .describe('Answers rarer than this are one secret together; with shares in the codebook they are also shown together.'),
        pools: z.array(codes).optional().describe('Answers that are counted and shown as one: [[3, 4], [7, 8]].'),
        ...described,
      },
      anyColumn,
    ),
    section({ type: z.literal('integer'), ...numeric }, anyColumn),
    section({ type: z.literal('number'), ...numeric }, anyColumn),
    section(
      {
        type: z.literal('date'),
        ...described,
        bounds: z.tuple([date('first day'), date('last day')], {
          error: 'The bounds must be two days, such as [2020-01-01, 2024-12-31].',
        }),
        bins: z
          .union([z.array(date('bin edge')).superRefine(limitedTo('bins')), z.union([z.number(), z.string()])], {
            error: 'The bins must be a list of days or a number of bins.',
          })
          .optional(),
      },
      'For example day: {type: date, bounds: [2020-01-01, 2024-12-31]}.',
    ),
    section(
      {
        type: z.literal('multi'),
        values: options,
        separator: z.string().min(1).optional().describe('What stands between two options in one cell; ";" when absent.'),
        ...described,
      },
      anyColumn,
    ),
    section({ type: z.literal('weight'), bounds, step: decimal('step').optional(), ...described }, anyColumn),
  ],
  { error: 'A column needs a type: category, integer, number, date, multi or weight.' },
);

const belief = section(
  {
    prior: probability('prior'),
    posterior: probability('posterior').optional(),
    floor: probability('floor').optional().describe('The posterior may not fall below this.'),
    about: z.string().optional().describe('What is believed, in words.'),
  },
  'A belief is {prior: 0.1, posterior: 0.3}.',
);

export const budgetShape = section(
  {
    epsilon: decimalWhere(
      'epsilon',
      isPositive,
      'above 0',
      'Usual choices lie between 0.1 and 10; `fugu epsilon` helps to choose.',
    ).optional(),
    delta: decimalWhere(
      'delta',
      (x) => compare(x, zero) >= 0 && compare(x, one) < 0,
      'at least 0 and below 1',
      'Leave it out for a pure guarantee, or write something far below one in the number of rows, such as 1e-6.',
    ).optional(),
    belief: z
      .union([belief, z.array(belief).min(1).superRefine(limitedTo('beliefs'))], {
        error: 'A belief is {prior: 0.1, posterior: 0.3}, or a list of those.',
      })
      .optional(),
    per: z
      .literal('step', { error: 'A budget is for all steps together, or per: step.' })
      .optional()
      .describe('step: every step of a sequence has this budget, for ever; what was spent on others fades as the chain forgets.'),
    others: section(
      {
        epsilon: decimalWhere('epsilon', isPositive, 'above 0', 'Write what others may cost one record, such as 0.4.').optional(),
        rho: decimalWhere('rho', isPositive, 'above 0', 'Write what others may cost one record, in zCDP.').optional(),
      },
      'Write others: {epsilon: 0.4}.',
    )
      .optional()
      .describe('What other publishers may tell about the same people who do not say what: counted as spent from the beginning.'),
    analysts: z
      .record(
        z.string().min(1),
        decimalWhere('quota', (x) => compare(x, zero) >= 0, 'at least 0', 'Write what this analyst may spend, in epsilon.'),
        { error: 'Write what each analyst may spend: {each: 0.2, alice: 0.5}.' },
      )
      .optional()
      .describe("What one analyst may spend of the budget, in epsilon, by user name; `each` is everybody's who is not named."),
  },
  'Write budget: {epsilon: 1} or budget: {belief: {prior: 0.1, posterior: 0.3}}.',
);

const [leastEffect, mostEffect] = [rational(1, 10), rational(1000)];
const isCount = (x: Rational): boolean => x.den === 1n && x.num > 0n;
export const designShape = section(
  {
    effect: decimalWhere(
      'design effect',
      (x) => compare(x, leastEffect) >= 0 && compare(x, mostEffect) <= 0,
      'between 0.1 and 1000',
      'A simple random sample has 1, samples of whole households or villages 1.5 to 3.',
    )
      .optional()
      .describe('How much larger the variance of a share is than in a simple random sample of as many people; 1 when absent.'),
    clusters: section(
      {
        size: decimalWhere(
          'cluster size',
          (x) => compare(x, one) >= 0,
          'at least 1',
          'Write how many people a cluster has in the mean.',
        ),
        alike: decimalWhere(
          'likeness',
          (x) => compare(x, zero) >= 0 && compare(x, one) <= 0,
          'between 0 and 1',
          'The intraclass correlation: 0.02 to 0.1 for villages, 0.2 and more for households.',
        ),
        mixed: z
          .array(word('column'), { error: 'Write the columns as a list, such as mixed: [sex].' })
          .min(1, { error: 'The list of columns is empty.' })
          .optional()
          .describe(
            'Columns by which those of one cluster differ as people do anywhere: clusters do not blur what lies between such groups.',
          ),
      },
      'Write clusters: {size: 20, alike: 0.05}.',
    )
      .optional()
      .describe(
        'People were drawn in clusters of that mean size, whose answers are that much alike (intraclass correlation): the effect is multiplied by 1 + (size - 1) alike.',
      ),
    population: decimalWhere('population', isCount, 'a whole number above 0', 'Write how many people there are in all.')
      .optional()
      .describe('How many people there are in all: a sample of a large part of them errs less, and totals can be estimated.'),
    weights: section(
      {
        column: word('column'),
        mean: decimalWhere('mean weight', isPositive, 'above 0', 'Weights are mostly made so that their mean is 1.'),
        effect: decimalWhere(
          'weighting effect',
          (x) => compare(x, one) >= 0,
          'at least 1',
          'n times the sum of squared weights over the square of their sum (Kish): 1.1 to 2 in most surveys.',
        ),
      },
      'Write weights: {column: w, mean: 1, effect: 1.3}.',
    )
      .optional()
      .describe(
        'Of a weight column: its mean, and how much larger weights make variances. Percentages that are weighted by it then come with sampling error.',
      ),
    strata: section(
      {
        column: word('column'),
        sizes: z.record(code, decimalWhere('size', isCount, 'a whole number above 0', 'Write how many people the stratum has.')),
      },
      'Write strata: {column: region, sizes: {north: 120000, south: 80000}}.',
    )
      .optional()
      .describe(
        'Parts of the population that were sampled apart, and how many people each has (public, from the census): kind "estimate" weighs their means so.',
      ),
  },
  'Write design: {effect: 1.4} or design: {population: 250000}.',
);

export const mergeShape = section(
  {
    columns: z.array(word('column')).optional().describe('The columns to merge; a support file names them itself.'),
    support: z
      .union([word('support file'), z.array(z.array(code))], {
        error: 'The support is a CSV file, or a list of combinations such as [[1, 2], [2, ""]].',
      })
      .describe(
        'Every combination of answers the questions allow: a CSV file, or a list. "" is no answer, "*" any. Never from the data.',
      ),
  },
  'Write {columns: [a, b], support: [[1, 2], [2, ""]]} or {support: skip.csv}.',
);

const names = (what: string) =>
  z
    .array(word(what), { error: `Write the ${what}s as a list, such as [clinic].` })
    .min(1, { error: `The list of ${what}s is empty.` });
export const linksShape = names('column').describe('Columns by which its rows are joined to other tables, beside unit and key.');
export const tableShape = section(
  {
    source: word('source').optional().describe("A file; the data's own database when absent."),
    table: word('table').optional().describe('A table of that database, or a sheet of the workbook.'),
    unit: word('unit')
      .optional()
      .describe('The column that names the person a row belongs to, as protect.unit does in the data.'),
    key: z
      .union([word('key'), names('column')], { error: 'The key is a column, or a list of columns.' })
      .optional()
      .describe('Columns in which no two rows of one person agree; in a public table no two rows.'),
    links: linksShape.optional(),
    maxRows: wholeShape('maxRows', 1).optional().describe('Most rows of one person that are used.'),
    period: section({ column: word('column'), maxRows: wholeShape('maxRows', 1) }, 'Write period: {column: month, maxRows: 2}.')
      .optional()
      .describe('Most rows of one person that are used with one value of a column.'),
    learned,
    public: flag('public').optional().describe('Everybody knows this table: it costs nothing and hides nothing.'),
    columns: z
      .record(z.string(), columnShape, { error: 'Write one line per column: cost: {type: number, bounds: [0, 1000]}.' })
      .superRefine(limitedTo('columns', keyCount))
      .optional(),
  },
  'Write {source: visits.csv, unit: person, maxRows: 20, columns: {…}} or {source: clinics.csv, key: clinic, public: true, columns: {…}}.',
);

export type TableEntry = z.output<typeof tableShape>;
export type ColumnEntry = z.output<typeof columnShape>;
export type MergeEntry = z.output<typeof mergeShape>;
export type BudgetEntry = z.output<typeof budgetShape>;
