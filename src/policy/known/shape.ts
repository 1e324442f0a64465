import { z } from 'zod';
import { codes, decimal, keyCount, limitedTo, section, word } from '../schema.js';

/** A table by more columns has more cells than could ever change together. */
const mostColumns = 8;
const mostTotals = 20;

const columns = z
  .union([word('column').transform((name) => [name]), z.array(word('column')).min(1)], {
    error: 'Name the columns: margin: [region], by: [region, sex].',
  })
  .refine((names) => names.length <= mostColumns, { error: `A known total goes by at most ${mostColumns} columns.` });
const value = decimal('known total');
const values = z
  .union([word('file'), z.record(z.string().min(1), value).superRefine(limitedTo('categories', keyCount))], {
    error: 'The published numbers are a CSV file, or listed: {north: 120, south: 80}.',
  })
  .describe(
    'As published: a CSV file with a column for each of these and one of numbers, or listed for one column. Left out, they are taken from the data.',
  );

const where = z
  .record(z.string().min(1), z.union([z.union([z.string(), z.number(), z.boolean()]).transform((v) => [String(v)]), codes]), {
    error: 'Write where: {region: north, age: [18, 64]}.',
  })
  .describe('Column by column: a code or several, or [from, to] of a number.');

const usage = 'Write {margin: [region]}, {count: {where: {region: north}}} or {sum: income, by: [region]}.';
const total = section(
  {
    margin: columns
      .optional()
      .describe('How many rows there are for every combination of values of these columns, no answer among them.'),
    count: section({ where }, 'Write count: {where: {region: north}}.').optional().describe('How many rows these are.'),
    sum: word('column').optional().describe('The sum of a number, over all rows or by columns.'),
    by: columns.optional(),
    value: value.optional().describe('The published number of a count or a sum. Left out, it is taken from the data.'),
    values: values.optional(),
  },
  usage,
);

/** `known`: exact totals that everybody knows already. */
export const knownShape = z
  .array(total, { error: `Write a list: known: [{margin: [region]}]. ${usage}` })
  .min(1)
  .max(mostTotals, { error: `More than ${mostTotals} totals are known.\nDeclare the margin that they follow from.` });

export type KnownEntry = z.output<typeof knownShape>;
export type TotalEntry = KnownEntry[number];
