import * as z from 'zod';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession } from '../../../release/session/session.js';
import type { Question } from '../../api/kinds.js';
import { predict } from '../../api/predict.js';
import { entryNumbered, recordedAnswer } from '../../api/recorded.js';
import { planStreamIn, type StreamedStep, streamIn } from '../../api/stream.js';
import type { JobContext } from '../jobs.js';
import type { ServedPolicy } from '../policies.js';
import { type Caller, defineRoute } from '../route.js';
import type { Service } from '../service.js';
import { visibleEntry } from './entry.js';
import { planShape, questionShape, releaseShape } from './shapes.js';

type QuestionBody = z.output<typeof questionShape>;
const optionsOf = ({ epsilon, tidy, fresh, label }: QuestionBody) => ({
  ...(epsilon !== undefined && { epsilon }),
  ...(tidy && { tidy }),
  ...(fresh && { fresh }),
  ...(label !== undefined && { label }),
});

/** Stream in a question: one release after another, and the only question without a kind. */
const streamOf = ({ question, epsilon, tidy, fresh }: QuestionBody): { readonly fresh?: unknown } | undefined =>
  !Array.isArray(question) && 'stream' in question
    ? {
        ...(question.stream as object),
        ...(epsilon !== undefined && { epsilon }),
        ...(tidy && { tidy }),
        ...(fresh && { fresh }),
      }
    : undefined;

/** Kinds that report their progress. */
const reportsProgress = (question: QuestionBody['question']): boolean =>
  !Array.isArray(question) && ('synth' in question || 'network' in question);

interface ReleaseCall {
  readonly service: Service;
  readonly served: ServedPolicy;
  readonly caller: Caller;
  readonly body: QuestionBody;
  readonly once?: string;
  readonly order?: JobContext;
}

/**
 * Equal requests run one after another, so that a repeated one gets the recorded answer: some kinds could not resume a reservation
 * and both would pay. Fresh ones without a key are each meant to pay.
 */
export async function releaseOnce(request: ReleaseCall): Promise<object> {
  const { service, served, caller, body, once } = request;
  const { label: _label, ...same } = body;
  const anew = body.fresh || streamOf(body)?.fresh === true;
  if (anew && once === undefined) return withOwnLabel(request, await answerOf(request));
  const name = JSON.stringify([served.name, same, anew && [caller.id, once]]);
  return withOwnLabel(request, await service.requestQueue.inOrder(name, () => answerOf(request)));
}

/** A recorded answer that another analyst paid for gets the caller's label: the labels of others are theirs. */
async function withOwnLabel({ served, caller, body }: ReleaseCall, payload: object): Promise<object> {
  const { receipt } = payload as { readonly receipt?: Receipt };
  if (caller.role !== 'analyst' || !receipt?.ledger.replayed) return payload;
  const entry = await entryNumbered(served.session(caller.name), receipt.ledger.entry);
  return entry?.analyst === caller.name
    ? payload
    : { ...payload, receipt: { ...receipt, label: body.label ?? 'recorded answer' } };
}

async function answerOf({ served, caller, body, once, order }: ReleaseCall): Promise<object> {
  const payload = order && { decide: order.decide, outcomes: order.outcomes };
  const stream = streamOf(body);
  // Fresh with a key: the first request is not recorded yet and pays; a repeated one finds the record.
  const { fresh, ...options } = optionsOf(body);
  const anew = stream ? stream.fresh === true : fresh;
  const named = anew && once !== undefined ? { once: `${caller.id} ${once}` } : undefined;
  if (stream)
    return releaseSteps(served.session(caller.name, { ...payload, ...named }), named ? withoutFresh(stream) : stream, order);
  const question =
    order && reportsProgress(body.question)
      ? { ...body.question, progress: (done: number, of: number) => order.progress(done, of, 'working') }
      : body.question;
  return named
    ? served.of(caller.name, { ...payload, ...named }).release(question as Question, options)
    : served.of(caller.name, payload).release(question as Question, { ...options, ...(fresh && { fresh }) });
}

const withoutFresh = ({ fresh: _fresh, ...stream }: { readonly fresh?: unknown }): object => stream;

async function releaseSteps(session: PrivacySession, request: object, order?: JobContext): Promise<object> {
  const steps: StreamedStep[] = [];
  for await (const step of streamIn(session, request)) {
    steps.push(step);
    order?.progress(step.step, step.step, 'steps released');
    if (order?.isCancelled()) break;
  }
  const receipt = steps.findLast((step) => step.receipt)?.receipt;
  return { steps, ...(receipt && { receipt }) };
}

export const askRoutes = [
  defineRoute({
    name: 'plan',
    method: 'post',
    path: '/v1/policies/{policy}/plan',
    summary: 'Privacy cost and expected error of a release. Spends nothing.',
    roles: ['steward', 'analyst'],
    works: true,
    body: questionShape,
    answer: planShape,
    handle: async ({ served, caller, body }) => {
      const stream = streamOf(body);
      return stream
        ? planStreamIn(served.session(caller.name), stream)
        : served.of(caller.name).plan(body.question as Question, optionsOf(body));
    },
  }),
  defineRoute({
    name: 'release',
    method: 'post',
    path: '/v1/policies/{policy}/release',
    summary: 'Pays and answers. The same request again returns the recorded answer and spends nothing.',
    roles: ['steward', 'analyst'],
    works: true,
    body: questionShape,
    answer: releaseShape,
    handle: ({ service, served, caller, body, once }) =>
      releaseOnce({ service, served, caller, body, ...(once !== undefined && { once }) }),
  }),
  defineRoute({
    name: 'predict',
    method: 'post',
    path: '/v1/policies/{policy}/answers/{entry}/predict',
    summary: 'Applies a released classifier to rows. Reads no data and costs nothing.',
    roles: ['steward', 'analyst'],
    body: z.strictObject({
      rows: z
        .array(z.record(z.string(), z.union([z.string().max(1000), z.number(), z.boolean(), z.null()])))
        .min(1)
        .max(10_000),
    }),
    answer: z.strictObject({
      predictions: z.array(z.looseObject({ score: z.number(), positive: z.boolean(), probability: z.number().optional() })),
    }),
    handle: async (request) => {
      const { result } = await recordedAnswer(request.served.session(request.caller.name), await visibleEntry(request));
      return { predictions: request.body.rows.map((row) => predict(result as never, row)) };
    },
  }),
];
