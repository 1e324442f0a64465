import { z } from 'zod';
import { codes, decimal, keyCount, limitedTo, section, word } from '../schema.js';

const partition = z.union(
  [
    section(
      {
        blocks: z.array(codes).optional().describe('Lists of codes, every code in one of them: [[north, south], [east]].'),
        edges: z
          .array(decimal('edge'))
          .superRefine(limitedTo('bins'))
          .optional()
          .describe('For numbers, where blocks end: [30, 45] makes three.'),
        by: word('column').optional().describe('A column: only rows that agree there are compared.'),
      },
      'Write partition: {blocks: [[1, 2], [3, 4]]}, {edges: [30, 45]} or {by: country}.',
    ),
    z.string().regex(/^\s*by\s+\S/, { error: 'A partition is {blocks: [[1, 2], [3]]}, {edges: [30, 45]} or {by: country}.' }),
  ],
  { error: 'A partition is {blocks: [[1, 2], [3]]}, {edges: [30, 45]} or {by: country}.' },
);

const usage =
  'Write within: 5, partition: {blocks: [[1, 2], [3]]}, graph: pairs.csv or secrets: {ill: [1, 2], well: [3]}; or all.';
const form = section(
  {
    within: z
      .union([z.number(), z.string()], {
        error: 'Largest distance of values that stay indistinguishable: within: 5, or within: 5 km.',
      })
      .optional()
      .describe('Numbers this far apart, codes so many steps apart in their order, or places: 5 km (with columns).'),
    partition: partition.optional().describe('Values of one block stay indistinguishable; which block it is may be learned.'),
    graph: word('file')
      .optional()
      .describe('A CSV file with two columns of codes: each line is a pair that stays indistinguishable.'),
    secrets: z
      .record(z.string().min(1), codes, { error: 'Write names with their codes: {ill: [1, 2], well: [3]}.' })
      .superRefine(limitedTo('categories', keyCount))
      .optional()
      .describe('Named secrets, each some codes: which of them holds is protected.'),
    between: z
      .array(z.tuple([word('secret'), word('secret')]), { error: 'Write pairs of names: [[ill, well]].' })
      .optional()
      .describe('Which named secrets stay indistinguishable; any two when absent.'),
    columns: z
      .tuple([word('column'), word('column')], { error: 'Name the columns of latitude and longitude: [lat, lon].' })
      .optional()
      .describe('The columns of latitude and longitude, in degrees, for within: 5 km.'),
    missing: z
      .enum(['any', 'apart'], { error: 'missing must be any or apart.' })
      .optional()
      .describe(
        'any (when absent): no answer stays indistinguishable from any answer. apart: whether there is an answer may be learned.',
      ),
  },
  usage,
);

/** `protect.pairs`: a form for each column, and under `same` the columns in which rows that are compared agree. */
export const pairsShape = z
  .record(z.string(), z.union([z.literal('all'), form, z.array(word('column'))], { error: `Pairs of a column: ${usage}` }), {
    error: 'Write one line per column: age: {within: 5}.',
  })
  .superRefine(limitedTo('columns', keyCount));

export type PairsEntry = z.output<typeof pairsShape>;
export type FormEntry = z.output<typeof form>;
