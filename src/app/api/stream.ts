import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { readPolicy } from '../../data/terms/read.js';
import { tieKindColumns } from '../../data/ties/kinds.js';
import type { Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import type { Steps } from '../../query/count/public-steps.js';
import { publicSteps, refuseSecretSteps } from '../../query/count/public-steps.js';
import { batchForms, parseBatch } from '../../query/parse.js';
import type { Batch } from '../../query/query.js';
import { readSql } from '../../query/sql/sql.js';
import type { Plan } from '../../release/session/plan.js';
import type { Receipt } from '../../release/session/receipt.js';
import { openTotals, type TotalOfCell } from '../../release/session/running.js';
import { prepareTotals } from '../../release/session/running-plan.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';
import { refuseNoProtection } from './fugu.js';
import {
  amountShape,
  type Defined,
  type FileName,
  fileNamed,
  integerBetween,
  newBudgetShape,
  parseOptions,
  withFaults,
} from './input.js';
import { type OpenSettings, openHandles, withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';
import { refuseLooking, type StepsSeen, seeSteps } from './stream-steps.js';

const wholeRefusal = (flag: string) => [`${flag} takes a whole number.`, `Write for example ${flag} 7.`] as const;

export const streamOptions = defineRequest('StreamOptions', {
  query: field(batchForms.optional(), 'Query, or list of queries, for every step.', {
    value: 'json',
    help: 'what to ask of every step, as JSON or @file.json',
    reads: 'json',
  }),
  sql: field(z.string().optional(), 'The same as SQL text, without the step in it.', { value: 'text' }),
  order: field(
    z.string().optional(),
    'Public whole-number column that counts steps; that of the declared sequence when absent.',
    { value: 'column', help: 'public whole-number column; that of the declared sequence when left out' },
  ),
  every: field(integerBetween(1, 1_000_000).optional(), 'Number of column units per step.'),
  totals: field(
    z.boolean().optional(),
    'Totals from the first step on, paid for once over the horizon, instead of an answer for each step.',
    { help: 'totals from the first step on, paid for once over the horizon' },
  ),
  horizon: field(
    integerBetween(1, 10_000_000).optional(),
    "Number of steps that totals are paid for; as many as the column's bounds hold when absent.",
    {
      value: 'n',
      help: 'with --totals: how many steps (default: as many as the bounds of the column hold)',
      refusal: ['--horizon takes a whole number of at least 1.', 'Write for example --horizon 52.'],
    },
  ),
  through: field(
    z.number().int().optional(),
    'Last unit that is over; when absent, all before the last step with rows. Required with persons as the privacy unit: then it is protected which steps have rows.',
    {
      value: 'unit',
      help: 'units up to this one are over (default: all before the last step with rows)',
      refusal: wholeRefusal('--through'),
    },
  ),
  since: field(integerBetween(1, 10_000_000).optional(), 'First step to return; earlier ones are recorded all the same.', {
    value: 'step',
    help: 'print steps from this one on',
    refusal: wholeRefusal('--since'),
  }),
  late: field(
    z.enum(['refuse', 'next']).optional(),
    'Late rows of answered steps: refused, or counted in the step in which they came in (column `arrived`).',
    {
      value: 'rule',
      help: 'rows for steps that were released: refuse (default), or next: count them when they came in',
      refusal: ['--late is refuse or next.', 'Write for example --late refuse.'],
    },
  ),
  arrived: field(z.string().optional(), 'Public whole-number column: when a row came in, in units of the order column.', {
    value: 'column',
    help: 'with --late next: public column that says when a row came in',
  }),
  gaps: field(z.enum(['refuse', 'empty']).optional(), 'Steps without rows: refused, or accepted as empty.', {
    value: 'rule',
    help: 'steps without rows: refuse (default) or empty',
    refusal: ['--gaps is refuse or empty.', 'Write for example --gaps refuse.'],
  }),
  epsilon: field(amountShape.optional(), "Share of the policy's epsilon: for each step, or for all totals together.", {
    value: 'part',
    help: "part of the policy's epsilon: for each step, or for all totals together (default: a tenth)",
  }),
  fresh: field(z.boolean().optional(), 'Pays for a new horizon of totals, even if one is recorded.', {
    help: 'with --totals: pay for a new horizon',
  }),
  tidy: field(z.boolean().optional(), 'No negative counts, totals that agree (post-processing).'),
  analyst: z.string().min(1).max(120).optional(),
  acceptNoProtection: z.boolean().optional(),
  newBudget: field(newBudgetShape, "Reason for opening a budget for data that has another one; permanent in the ledger's chain."),
});
export type StreamOptions = z.input<typeof streamOptions>;

/** One step that is over. */
export interface StreamedStep {
  readonly step: number;
  /** Units of the order column that it covers. */
  readonly units: readonly [first: number, last: number];
  /** Answers about this step. */
  readonly tables?: readonly AnswerTable[];
  /** Totals up to and with this step. */
  readonly totals?: readonly TotalOfCell[];
  readonly entry: number;
  /** Recorded answer: nothing was spent or drawn for it now. */
  readonly replayed: boolean;
  /** Promise of the release; for totals only with the first returned step, as one receipt covers all. */
  readonly receipt?: Receipt;
}

/**
 * One release for every step that is over, or running totals, in order. Earlier answers come from the record, so an interrupted
 * stream continues where it was and pays for nothing twice.
 *
 * @example
 * const visits = await stream('visits.yaml', { order: 'day', query: { kind: 'count' }, totals: true, epsilon: 0.5 });
 * for await (const { step, totals } of visits) console.log(step, totals[0].total, totals[0].standardError);
 */
export async function stream(policy: FileName, given: StreamOptions): Promise<AsyncGenerator<StreamedStep, void, undefined>> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    checkRequest(parseOptions(streamOptions, given));
    refuseSecretSteps(await readPolicy(file));
    return streamWith(file, given, {});
  });
}

/**
 * Cost and expected error of a stream, for free: one step of it, or all totals together with the error of each.
 *
 * @example
 * const { epsilon, why, totals } = await planStream('visits.yaml', { order: 'day', query: { kind: 'count' }, totals: true, epsilon: 0.5 });
 * console.log(epsilon, why, totals.standardErrors.at(-1));
 */
export async function planStream(policy: FileName, given: StreamOptions): Promise<StreamPlan> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const request = checkRequest(parseOptions(streamOptions, given));
    refuseSecretSteps(await readPolicy(file));
    const opened = await openHandles(file, payerOf(request));
    return withClosing(opened, () => planRequest(opened.session, request));
  });
}

async function planRequest(session: PrivacySession, request: StreamRequest): Promise<StreamPlan> {
  const { steps, batch, instead } = stepRequest(session.policy, request);
  const { epsilon, tidy, fresh, horizon = steps.count } = request;
  const share = { ...(epsilon !== undefined && { epsilon }), ...(fresh && { fresh }) };
  if (!request.totals)
    return session.plan(within(batch, steps.column, steps.unitsOf(1)), { ...share, ...instead, ...(tidy && { tidy }) });
  const { plan, totals } = await prepareTotals(session, { query: batch, steps, horizon }, share);
  return { ...plan, totals: { way: totals.strategy.description, standardErrors: Array.from(totals.variances(), Math.sqrt) } };
}

/** Options of an analyst known to a service: the payer and accepted risks are not theirs to choose. */
const ofSession = streamOptions.omit({ analyst: true, acceptNoProtection: true, newBudget: true });

/** The same as `planStream`, on open handles. */
export const planStreamIn = (session: PrivacySession, given: unknown): Promise<StreamPlan> =>
  withFaults(() => {
    const request = checkRequest(parseOptions(ofSession, given));
    refuseSecretSteps(session.policy);
    refuseNoProtection(session.policy);
    return planRequest(session, request);
  });

/** The same as `stream`, on open handles. */
export async function* streamIn(session: PrivacySession, given: unknown): AsyncGenerator<StreamedStep, void, undefined> {
  const request = await withFaults(() => {
    refuseSecretSteps(session.policy);
    refuseNoProtection(session.policy);
    return checkRequest(parseOptions(ofSession, given));
  });
  yield* streamedSteps(session, request);
}

/** All steps that are over, from the first requested one on. */
async function* streamedSteps(session: PrivacySession, request: StreamRequest): AsyncGenerator<StreamedStep, void, undefined> {
  const { policy } = session;
  const question = await withFaults(() => stepRequest(policy, request));
  const seen = await withFaults(() => seeSteps(session, question.steps, { ...request, order: orderOf(policy, request) }));
  const each = request.totals ? eachTotal(session, question, seen, request) : eachStep(session, question, seen, request);
  for (;;) {
    const next = await withFaults(() => each.next());
    if (next.done) return;
    if (next.value.step >= (request.since ?? 1)) yield next.value;
  }
}

/** Plan of one step, or of all totals. */
export interface StreamPlan extends Plan {
  /** Mechanism of the noise, and the standard error of the total at each step of the horizon, in the answer's unit. */
  readonly totals?: { readonly way: string; readonly standardErrors: readonly number[] };
}

/** Query and steps of a request. */
interface StepQuestion {
  readonly steps: Steps;
  readonly batch: Batch;
  readonly instead: Pick<ReleaseOptions, 'instead'>;
}
function stepRequest(policy: Policy, request: StreamRequest): StepQuestion {
  const steps = publicSteps(policy, countedColumn(policy, request), request.every ?? 1);
  refuseLooking(policy, steps, request);
  const { batch, instead } =
    request.sql !== undefined ? readSql(request.sql, policy) : { batch: parseBatch(request.query), instead: [] };
  return { steps, batch, instead: instead.length > 0 ? { instead } : {} };
}

/** Stream with open settings: its callbacks see each cost and may refuse the first. */
export async function* streamWith(
  file: string,
  given: StreamOptions,
  settings: OpenSettings,
): AsyncGenerator<StreamedStep, void, undefined> {
  const request = await withFaults(() => checkRequest(parseOptions(streamOptions, given)));
  const { acceptNoProtection = settings.acceptNoProtection } = request;
  const opened = await withFaults(async () => {
    refuseSecretSteps(await readPolicy(file));
    return openHandles(file, { ...settings, ...payerOf(request) });
  });
  try {
    const { session, policy } = opened;
    if (!acceptNoProtection) await withFaults(() => refuseNoProtection(policy));
    yield* streamedSteps(session, request);
  } finally {
    await opened.close();
  }
}

type StreamRequest = Defined<z.output<typeof streamOptions>>;

const payerOf = ({ analyst, newBudget }: StreamRequest): OpenSettings => ({
  ...(analyst !== undefined && { analyst }),
  ...(newBudget !== undefined && { newBudget }),
});

function checkRequest(request: StreamRequest): StreamRequest {
  const refuse = (message: string, hint: string) => new Fault('USAGE', message, hint);
  if ((request.query === undefined) === (request.sql === undefined))
    throw refuse('Say what to ask of every step in exactly one way.', 'Give a query or SQL text.');
  if (request.horizon !== undefined && !request.totals)
    throw refuse('A horizon is for totals.', 'Steps that are answered one by one pay one by one.');
  if (request.fresh && !request.totals)
    throw refuse(
      'A step that was released is not counted again.',
      'Ask for it with release --fresh, which pays, or leave --fresh out.',
    );
  if (request.tidy && request.totals)
    throw refuse(
      'Totals are released as they are counted: they cannot be made tidy.',
      'Leave --tidy (tidy) out, or leave out the totals.',
    );
  if ((request.late === 'next') !== (request.arrived !== undefined))
    throw refuse(
      'Late rows are counted in the step they came in, so a column must say when that was.',
      'Give both --late next and --arrived COLUMN, or neither.',
    );
  return request;
}

function orderOf(policy: Policy, { order }: StreamRequest): string {
  if (order !== undefined) return order;
  const declared = policy.dependence.flatMap((d) => tieKindColumns(d).filter(({ key }) => key === 'order'));
  const [only, ...others] = new Set(declared.map(({ column }) => column));
  if (only !== undefined && others.length === 0) return only;
  throw new Fault('USAGE', 'It is not said which column puts the rows in order.', 'Name it: --order week.');
}
const countedColumn = (policy: Policy, request: StreamRequest): string => request.arrived ?? orderOf(policy, request);

async function* eachStep(
  session: PrivacySession,
  { steps, batch, instead }: StepQuestion,
  first: StepsSeen,
  { epsilon, tidy }: StreamRequest,
): AsyncGenerator<StreamedStep, void, undefined> {
  for (let [step, seen] = [1, first]; step <= seen.over; step++) {
    const units = steps.unitsOf(step);
    const request = within(batch, steps.column, units);
    const options = { ...(epsilon !== undefined && { epsilon }), ...(tidy && { tidy }), ...instead };
    // A recorded answer is returned without reading the data again.
    if (!(await session.withQuestion(request, options).isRecorded(request, options))) seen = await seen.now();
    if (step > seen.over) return;
    await seen.note(step);
    const { tables, receipt } = await session.withQuestion(request, options).release(request, options);
    const { entry, replayed } = receipt.ledger;
    yield { step, units, tables, entry, replayed, receipt };
  }
}

const within = ({ queries }: Batch, column: string, [first, last]: readonly [number, number]): Batch => {
  const tests =
    first === last
      ? [['=', first] as const]
      : ([
          ['>=', first],
          ['<=', last],
        ] as const);
  const where = tests.map(([op, value]) => ({ column, op, value }));
  return { queries: queries.map((query) => ({ ...query, where: [...(query.where ?? []), ...where] })) };
};

async function* eachTotal(
  session: PrivacySession,
  { steps, batch }: StepQuestion,
  before: StepsSeen,
  { epsilon, fresh, horizon = steps.count }: StreamRequest,
): AsyncGenerator<StreamedStep, void, undefined> {
  const open = await openTotals(
    session,
    { query: batch, steps, horizon },
    { ...(epsilon !== undefined && { epsilon }), ...(fresh && { fresh }) },
  );
  let first = true;
  for (let seen = before; ; ) {
    seen = await seen.now();
    await seen.note(Math.min(seen.over, horizon));
    const instalment = await open.next(session, seen.over);
    if (!instalment) return;
    for (const { step, cells, entry, replayed } of instalment) {
      yield { step, units: steps.unitsOf(step), totals: cells, entry, replayed, ...(first && { receipt: open.receipt }) };
      first = false;
    }
  }
}
