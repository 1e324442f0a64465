/**
 * Options of commands, from the requests that they make. The build replaces this module by the tables it computes
 * (scripts/bundle.mjs): a command starts without any schema.
 */
import * as z from 'zod';
import { auditOptions, compareOptions } from '../api/audit.js';
import { estimateRequest } from '../api/estimate.js';
import { askOptions, openOptions } from '../api/fugu.js';
import { batch } from '../api/kinds/batch.js';
import { classify } from '../api/kinds/classify.js';
import { kmeans } from '../api/kinds/kmeans.js';
import { odds } from '../api/kinds/odds.js';
import { pattern } from '../api/kinds/pattern.js';
import { spread } from '../api/kinds/spread.js';
import { sql } from '../api/kinds/sql.js';
import { survey } from '../api/kinds/survey.js';
import { synth } from '../api/kinds/synth.js';
import { workload } from '../api/kinds/workload.js';
import { networkOptions, spreadOptions } from '../api/learn.js';
import { boundsOptions, keysOptions, paying, rowsOptions } from '../api/learn-domain.js';
import { affinityOptions, distanceOptions } from '../api/make-ties.js';
import { oddsOptions } from '../api/odds.js';
import { patternAnalysisOptions } from '../api/pattern.js';
import { field, optionOf, worded } from '../api/request.js';
import { streamOptions } from '../api/stream.js';
import { temporalOptions } from '../api/temporal.js';
import { transitionsOptions } from '../api/transitions.js';
import { yesOption } from './options.js';
import type { CommandOptions, OptionRow } from './request-options.js';

/** Switch or text that only the command line knows. */
const flag = (help: string) => field(z.boolean().optional(), help, { help });
const text = (value: string, help: string) => field(z.string().optional(), help, { value, help });

const outFile = (help: string) => field(z.string(), 'Output file.', { value: 'file', help, needed: true });

const json = flag('one JSON document on stdout');
const yes = flag(yesOption[1]);
const { acceptNoProtection, newBudget } = openOptions.shape;
const { epsilon, fresh, tidy } = askOptions.shape;

const { pattern: patternText, ...patternFields } = pattern.question.shape;
const { survey: wholeSurvey, ...surveyFields } = survey.question.shape;
const question = {
  query: field(batch.question.optional(), 'A query, or several.', {
    value: 'json',
    help: 'a query or {"queries": [...]} as JSON, or @file.json',
    reads: 'json',
  }),
  sql: sql.question.shape.sql.optional(),
  survey: wholeSurvey.optional(),
  ...surveyFields,
  workload: workload.question.shape.workload.optional(),
  pattern: patternText.optional(),
  kmeans: kmeans.question.shape.kmeans.optional(),
  classify: classify.question.shape.classify.optional(),
  ...patternFields,
  epsilon,
  acceptNoProtection,
  newBudget,
  fresh,
  tidy,
  json,
};
export const planOptions = optionsOf({
  ...question,
  asPublished: flag(
    'with --survey: also what the mechanism of Maughan and Near would do, read off the rows (unpaid, for your eyes only)',
  ),
});
export const releaseOptions = optionsOf({
  ...question,
  out: text('dir', 'write report.html, tables as CSV and Excel, datapackage.json and receipt.json there'),
  overwrite: flag('replace the release in the folder of --out'),
  yes,
});

export const estimateOptions = optionsOf({
  ...estimateRequest.shape,
  out: text('dir', 'write the tables as CSV there, and estimate.json, which says what they are made of'),
  overwrite: flag('replace the files of --out'),
  json,
});

const synthRequest = synth.question.shape.synth;
const { rows, mode, columns, except, upTo, cells } = synthRequest.shape;
export const synthOptions = optionsOf({
  out: outFile('where to write them: .csv or .parquet; receipt, dictionary and quality page stand beside it'),
  rows: worded(rows, { value: 'n', help: 'how many; as many as there are records when absent, and more cost nothing' }),
  mode: worded(mode, { value: 'name', help: 'how tables are chosen: aim (in rounds), mst or privbayes (trees of pairs)' }),
  columns: worded(columns, {
    value: 'names',
    help: 'these columns only; names and patterns (q*), separated by commas',
    reads: 'names',
  }),
  except: worded(except, { value: 'names', help: 'not these, in the same form', reads: 'names' }),
  upTo: worded(upTo, {
    value: 'n',
    help: 'with aim: how many columns the tables have that should come out right (1 to 3)',
  }),
  cells: worded(cells, {
    value: 'n',
    help: 'most cells of the model (200000); more cells take more time and memory, and follow the data more closely',
  }),
  households: text('column', 'group rows into made-up households, by the column of a declared tie'),
  shared: field(z.array(z.string()).optional(), 'Columns that all of a household share.', {
    value: 'names',
    help: 'with --households: columns in which all of a household are the same, separated by commas',
    reads: 'names',
  }),
  request: field(synthRequest.optional(), 'The whole request.', {
    value: 'file',
    help: 'a YAML file with the same and more: tables: that count more, impossible: combinations',
    reads: {
      name: 'The request',
      starts: 'It has lines such as "impossible:", "  - { age: { to: 15 }, married: yes }".',
    },
  }),
  epsilon: worded(epsilon, { help: "part of the policy's epsilon to use (default: a tenth)" }),
  fresh: worded(fresh, { help: 'ask the data as it is now and pay, also when the same was paid for before' }),
  overwrite: flag('replace files that are there'),
  yes,
  acceptNoProtection,
  newBudget,
  json,
});

export const streamCommandOptions = optionsOf({
  every: field(z.string(), 'Units of a step.', {
    value: 'step',
    help: 'how many units of the order column make a step, or a word for one (day)',
    needed: true,
  }),
  ...streamOptions.omit({ every: true, analyst: true, acceptNoProtection: true, newBudget: true }).shape,
  plan: flag('say what it would cost and how wrong it would be; spends nothing'),
  follow: text('seconds', 'look again after so many seconds, until stopped'),
  acceptNoProtection,
  newBudget,
  yes,
  json: worded(json, { help: 'one JSON document per step, each on a line of its own' }),
});

const learnt = { yes, acceptNoProtection, newBudget, json };
const paidPart = worded(epsilon, {
  help: "pay for it with this part of the policy's epsilon; without it the file is marked unpaid",
});
const learnFresh = worded(fresh, {
  help: 'with --epsilon: learn from the data as it is now and pay, also when a result is recorded',
});
export const learnColumnsOptions = optionsOf({
  out: outFile('where to write it: .json, or .bif for a network'),
  epsilon: paidPart,
  chunk: networkOptions.shape.chunk,
  maxParents: networkOptions.shape.maxParents,
  pairwise: flag('only what the pairwise bound needs: three numbers, or one when paid for'),
  pool: spreadOptions.shape.pool,
  least: spread.question.shape.spread.shape.least.optional(),
  confidence: spreadOptions.shape.confidence,
  fresh: learnFresh,
  public: networkOptions.shape.public,
  ...learnt,
});
export const learnTiesOptions = optionsOf({
  relation: odds.question.shape.odds.shape.relation.optional(),
  column: odds.question.shape.odds.shape.column.optional(),
  epsilon: worded(epsilon, { help: "what to pay, as a part of the policy's epsilon" }),
  fresh: worded(fresh, { help: 'with a policy: ask the data as it is now and pay, also when a result is recorded' }),
  pairsEach: odds.question.shape.odds.shape.pairsEach,
  public: text('pairs', 'estimate from a public CSV: its first two columns are the values of two tied people'),
  ...oddsOptions.shape,
  distance: text('coords', 'make ties from a public CSV id,x,y (or id,lat,lon): they fade with distance'),
  ...distanceOptions.omit({ out: true }).shape,
  affinity: text('attributes', 'make ties from a public CSV id,attribute,...: people alike'),
  ...affinityOptions.omit({ out: true }).shape,
  out: distanceOptions.shape.out,
  ...learnt,
});
export const learnTransitionsOptions = optionsOf({
  out: outFile('where to write it, as JSON'),
  by: transitionsOptions.shape.by,
  order: transitionsOptions.shape.order,
  state: transitionsOptions.shape.state,
  epsilon: paidPart,
  fresh: learnFresh,
  public: transitionsOptions.shape.public,
  ...learnt,
});

/** What is learned and entered into a policy, with what every payment takes. */
const learnedOptions = <S extends z.core.$ZodLooseShape>(shape: S) =>
  optionsOf({ ...shape, epsilon: paying.epsilon, fresh: paying.fresh, ...learnt });
export const learnKeysOptions = learnedOptions(keysOptions.omit({ epsilon: true, fresh: true, newBudget: true }).shape);
export const learnBoundsOptions = learnedOptions(boundsOptions.omit({ epsilon: true, fresh: true, newBudget: true }).shape);
export const learnRowsOptions = learnedOptions(rowsOptions.omit({ epsilon: true, fresh: true, newBudget: true }).shape);

const oneDocument = worded(json, { help: 'one JSON document' });
export const temporalCommandOptions = optionsOf({ ...temporalOptions.shape, json });
export const patternCommandOptions = optionsOf({ ...patternAnalysisOptions.shape, json: oneDocument });
export const auditCommandOptions = optionsOf({
  query: auditOptions.shape.query,
  scale: auditOptions.shape.scale,
  calibrate: auditOptions.shape.epsilon,
  adversary: auditOptions.shape.adversary,
  json: oneDocument,
});
export const compareCommandOptions = optionsOf({
  query: auditOptions.shape.query,
  epsilon: worded(compareOptions.shape.epsilon, { value: 'epsilon', help: 'the promised epsilon', needed: true }),
  json: oneDocument,
});

/** Table of the options of a request, in the order of its fields. */
function optionsOf<S extends z.core.$ZodLooseShape>(shape: S): CommandOptions<z.input<z.ZodObject<S>>> {
  return { rows: Object.entries(shape).map(([name, schema]) => rowOf(name, schema as z.ZodType)) };
}

function rowOf(name: string, schema: z.ZodType): OptionRow {
  const { value, help, needed, showsDefault, reads, refusal } = optionOf(schema) ?? {};
  const long = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const form = value === undefined || (reads !== undefined && reads !== 'names') ? undefined : valueForm(schema);
  return {
    name,
    flags: value === undefined ? long : `${long} <${value}>`,
    help: help ?? asHelp(schema.description ?? ''),
    ...(needed && { needed }),
    ...(showsDefault && { usual: String((z.toJSONSchema(schema, { io: 'input' }) as { default?: unknown }).default) }),
    ...(reads && { reads }),
    ...(form && { form }),
    ...(refusal && { refusal }),
  };
}

function asHelp(about: string): string {
  return `${about.charAt(0).toLowerCase()}${about.slice(1)}`.replace(/\.$/, '');
}

interface JsonForm extends NonNullable<OptionRow['form']> {
  readonly pattern?: string;
  readonly items?: JsonForm;
  readonly anyOf?: readonly JsonForm[];
}
/** Form of one value: numbers and words of a list; a request that takes a number as any text gets the text. */
function valueForm(schema: z.ZodType): OptionRow['form'] | undefined {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonForm;
  const { items, anyOf } = json;
  if (anyOf?.some(({ type, pattern }) => type === 'string' && pattern === undefined)) return undefined;
  const one = anyOf?.find(({ type }) => type === 'number' || type === 'integer') ?? items ?? json;
  if (one.enum) return { enum: one.enum };
  if (one.type !== 'number' && one.type !== 'integer') return undefined;
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = one;
  return { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum } as OptionRow['form'];
}
