import * as z from 'zod';
import type { Receipt } from '../../../release/session/receipt.js';
import type { Session } from '../../../release/session/session.js';
import type { Question } from '../../api/kinds.js';
import { predict } from '../../api/predict.js';
import { entryNumbered, recordedAnswer } from '../../api/recorded.js';
import { planStreamIn, type StreamedStep, streamIn } from '../../api/stream.js';
import type { Order } from '../jobs.js';
import type { Served } from '../policies.js';
import { type Caller, defineRoute } from '../route.js';
import type { Service } from '../service.js';
import { seenEntry } from './entry.js';
import { asking, plan, release } from './shapes.js';

type Asking = z.output<typeof asking>;
const optionsOf = ({ epsilon, tidy, fresh, label }: Asking) => ({
  ...(epsilon !== undefined && { epsilon }),
  ...(tidy && { tidy }),
  ...(fresh && { fresh }),
  ...(label !== undefined && { label }),
});

/** Stream in a question: one release after another, and the only question without a kind. */
const streamOf = ({ question, epsilon, tidy, fresh }: Asking): { readonly fresh?: unknown } | undefined =>
  !Array.isArray(question) && 'stream' in question
    ? {
        ...(question.stream as object),
        ...(epsilon !== undefined && { epsilon }),
        ...(tidy && { tidy }),
        ...(fresh && { fresh }),
      }
    : undefined;

/** Kinds that report their progress. */
const tellsProgress = (question: Asking['question']): boolean =>
  !Array.isArray(question) && ('synth' in question || 'network' in question);

interface Release {
  readonly service: Service;
  readonly served: Served;
  readonly caller: Caller;
  readonly body: Asking;
  readonly once?: string;
  readonly order?: Order;
}

/**
 * Equal requests run one after another, so that a repeated one gets the recorded answer: some kinds could not resume a reservation
 * and both would pay. Fresh ones without a key are each meant to pay.
 */
export async function released(asked: Release): Promise<object> {
  const { service, served, caller, body, once } = asked;
  const { label: _label, ...same } = body;
  const anew = body.fresh || streamOf(body)?.fresh === true;
  if (anew && once === undefined) return ownWords(asked, await answerOf(asked));
  const name = JSON.stringify([served.name, same, anew && [caller.id, once]]);
  return ownWords(asked, await service.alike.inOrder(name, () => answerOf(asked)));
}

/** A recorded answer that another analyst paid for gets the caller's label: the labels of others are theirs. */
async function ownWords({ served, caller, body }: Release, told: object): Promise<object> {
  const { receipt } = told as { readonly receipt?: Receipt };
  if (caller.role !== 'analyst' || !receipt?.ledger.replayed) return told;
  const entry = await entryNumbered(served.session(caller.name), receipt.ledger.entry);
  return entry?.analyst === caller.name ? told : { ...told, receipt: { ...receipt, label: body.label ?? 'recorded answer' } };
}

async function answerOf({ served, caller, body, once, order }: Release): Promise<object> {
  const told = order && { decide: order.decide, outcomes: order.outcomes };
  const stream = streamOf(body);
  // Fresh with a key: the first request is not recorded yet and pays; a repeated one finds the record.
  const { fresh, ...options } = optionsOf(body);
  const anew = stream ? stream.fresh === true : fresh;
  const named = anew && once !== undefined ? { once: `${caller.id} ${once}` } : undefined;
  if (stream) return allSteps(served.session(caller.name, { ...told, ...named }), named ? unfresh(stream) : stream, order);
  const question =
    order && tellsProgress(body.question)
      ? { ...body.question, progress: (done: number, of: number) => order.progress(done, of, 'working') }
      : body.question;
  return named
    ? served.of(caller.name, { ...told, ...named }).release(question as Question, options)
    : served.of(caller.name, told).release(question as Question, { ...options, ...(fresh && { fresh }) });
}

const unfresh = ({ fresh: _fresh, ...stream }: { readonly fresh?: unknown }): object => stream;

async function allSteps(session: Session, asked: object, order?: Order): Promise<object> {
  const steps: StreamedStep[] = [];
  for await (const step of streamIn(session, asked)) {
    steps.push(step);
    order?.progress(step.step, step.step, 'steps told');
    if (order?.isCancelled()) break;
  }
  const receipt = steps.findLast((step) => step.receipt)?.receipt;
  return { steps, ...(receipt && { receipt }) };
}

export const routes = [
  defineRoute({
    name: 'plan',
    method: 'post',
    path: '/v1/policies/{policy}/plan',
    summary: 'Privacy cost and expected error of a release. Spends nothing.',
    roles: ['steward', 'analyst'],
    works: true,
    body: asking,
    answer: plan,
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
    body: asking,
    answer: release,
    handle: ({ service, served, caller, body, once }) =>
      released({ service, served, caller, body, ...(once !== undefined && { once }) }),
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
    handle: async (asked) => {
      const { result } = await recordedAnswer(asked.served.session(asked.caller.name), await seenEntry(asked));
      return { predictions: asked.body.rows.map((row) => predict(result as never, row)) };
    },
  }),
];
