import { z } from 'zod';
import { knownShape } from '../../policy/known/shape.js';
import { pairsShape } from '../../policy/pairs/shape.js';
import {
  budgetShape,
  columnShape,
  designShape,
  flag,
  keyCount,
  limitedTo,
  linksShape,
  mergeShape,
  section,
  tableShape,
  wholeShape,
  word,
} from '../../policy/schema.js';
import { decoderOf } from '../statfile/decode.js';
import { type TieKinds, tieKinds } from '../ties/kinds.js';

const dependenceShape = (kinds: TieKinds) => {
  const names = kinds.map(({ kind }) => kind);
  const all = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  const shapes = kinds.map(({ shape }) => shape) as unknown as [z.ZodObject<{ kind: z.ZodLiteral<string> }>];
  return z.discriminatedUnion('kind', shapes, { error: `A dependence needs a kind: ${all}.` });
};

const dataShape = section(
  {
    source: word('source').describe(
      'A csv, csv.gz, parquet or duckdb file, or a database: postgres://reader@host/town, trino://reader@host/catalog/schema.',
    ),
    table: word('table').optional(),
    decimal: z
      .enum(['.', ','], { error: 'decimal must be "." or ",".' })
      .optional()
      .describe('What stands before the fraction of numbers that are written as text.'),
    encoding: word('encoding')
      .refine((label) => decoderOf(label) !== undefined, {
        error: 'The encoding is not known. Write for example windows-1252, iso-8859-15, windows-1251, macintosh or utf-16.',
      })
      .optional()
      .describe('What a csv file is written in, where that is not UTF-8.'),
    codebook: word('codebook').optional().describe('A CSV file with the columns name, value, label and, if you like, missing.'),
    links: linksShape.optional(),
  },
  'Write data: {source: survey.csv}.',
);

const protectShape = section(
  {
    secret: z.enum(['row', 'person', 'answer', 'step', 'edge'], {
      error: 'The secret must be row, person, answer, step or edge.',
    }),
    unit: word('unit').optional().describe('The column that names whom a row belongs to.'),
    maxRows: wholeShape('maxRows', 1).optional(),
    window: wholeShape('window', 1).optional().describe('With secret: step, how many steps in a row are one secret.'),
    adversary: z.enum(['informed', 'uninformed'], { error: 'The adversary must be informed or uninformed.' }).optional(),
    neighbours: z
      .enum(['replace', 'add-remove'], { error: 'Neighbours must be replace or add-remove.' })
      .optional()
      .describe('What is compared: one record against another in its place, or data with it against data without it.'),
    pairs: pairsShape
      .optional()
      .describe(
        'Which values must stay indistinguishable, column by column; any two when absent. What is no pair may be learned.',
      ),
  },
  'Write protect: {secret: row}.',
);

const relationShape = section(
  {
    table: word('table'),
    columns: z.array(word('column')).min(1),
    domain: wholeShape('domain', 1),
    symmetric: flag('symmetric').optional(),
    private: flag('private').optional(),
  },
  'Write {table: friends.csv, columns: [a, b], domain: 200000, symmetric: true}.',
);

const shapeWith = (kinds: TieKinds) =>
  section(
    {
      $schema: z.string().optional(),
      population: word('population')
        .optional()
        .describe('Whose budget this is: policies with one population share one ledger account.'),
      title: word('title').optional().describe('What the population is called in what is published.'),
      ledger: word('ledger').optional().describe('Where spending is recorded; beside the data when absent.'),
      data: dataShape,
      protect: protectShape,
      budget: budgetShape,
      design: designShape.optional().describe('How the sample was drawn: shares then come with sampling error, too.'),
      columns: z
        .record(z.string(), columnShape, { error: 'Write one line per column: age: {type: integer, bounds: [17, 90]}.' })
        .superRefine(limitedTo('columns', keyCount))
        .optional(),
      merge: z
        .array(mergeShape, { error: 'Write a list: - {columns: [a, b], support: [[1, 2], [2, ""]]}.' })
        .optional()
        .describe('Columns tied by skip logic: a survey releases them as one joint table when that needs less noise.'),
      relations: z
        .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), relationShape, {
          error: 'Write one line per relation: friend: {table: friends.csv, columns: [a, b], domain: 200000}.',
        })
        .superRefine(limitedTo('relations', keyCount))
        .optional(),
      tables: z
        .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), tableShape, {
          error: 'Write one line per table: visits: {source: visits.csv, unit: person, maxRows: 20, columns: {…}}.',
        })
        .superRefine(limitedTo('tables', keyCount))
        .optional()
        .describe('Tables beside the data: rows of the same persons, or public ones. The data says who there is.'),
      dependence: z
        .union([z.enum(['none', 'undecided']), z.array(dependenceShape(kinds)).min(1).superRefine(limitedTo('dependences'))], {
          error:
            'What is known about dependence between records must be written: silence is not an assumption.\nWrite dependence: none if records are independent, or a list such as - {kind: groups, by: household_id}.',
        })
        .describe(
          'none, or a list of declared dependences. It must be written; undecided (by `fugu init`) blocks plans and releases.',
        ),
      known: knownShape
        .optional()
        .describe(
          'Exact totals that everybody knows already, because they are published: releases then protect what the totals leave open.',
        ),
      unconfirmed: z
        .array(word('column'))
        .optional()
        .describe('Columns whose domain was read from the data and not yet confirmed.'),
    },
    'A policy starts with the four lines data:, protect:, budget:, dependence:.',
  ).describe('A Fugu policy: what is protected, from whom, with which budget.');

export type PolicyFile = z.output<ReturnType<typeof shapeWith>>;

const made = new WeakMap<TieKinds, ReturnType<typeof shapeWith>>();
/** The shape of the whole policy file. */
export function policyShape(kinds: TieKinds = tieKinds): ReturnType<typeof shapeWith> {
  const shape = made.get(kinds) ?? shapeWith(kinds);
  made.set(kinds, shape);
  return shape;
}

/** For editors; policy.schema.json is this, written by a test run with UPDATE_SCHEMA=1. */
export const policyJsonSchema = (): object => z.toJSONSchema(policyShape(), { io: 'input', target: 'draft-7' });
