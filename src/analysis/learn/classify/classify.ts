import { Fault } from '../../../base/errors.js';
import { fromNumber, one, subtract } from '../../../base/exact/rational.js';
import { declaredColumn, isCoded } from '../../../policy/domain.js';
import type { Policy } from '../../../policy/policy.js';
import { splitShare } from '../../../privacy/mechanism/budget-share.js';
import { bindBatch } from '../../../query/bind.js';
import type { Query } from '../../../query/query.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { recordsInMemory, refuseChangedSize, rowsPerRecord } from '../public-size.js';
import { chooseTrainer } from './choose-trainer.js';
import { readExamples } from './examples.js';
import { type FeatureMap, joinFeatures, mapFeatures, unit } from './features.js';
import { huberHinge, logistic } from './loss.js';
import type { ClassifyResult } from './predict.js';
import { type ClassifyRequest, parseClassify } from './request.js';
import { featureChoice } from './select.js';
import { boundsIn, currentForm } from './stored.js';
import type { Trainer } from './trainer.js';

export async function planClassify(session: PrivacySession, input: unknown, options: ReleaseOptions = {}): Promise<Plan> {
  return (await prepareClassify(session, input, options)).plan;
}

export async function releaseClassify(
  session: PrivacySession,
  input: unknown,
  options: ReleaseOptions = {},
): Promise<{ result: ClassifyResult; receipt: Receipt }> {
  const { ask, map, plan, mechanisms, allowance, trainer, features, records } = await prepareClassify(session, input, options);
  const { result, receipt } = await session.analyse<ClassifyResult>({
    kind: 'classify',
    allowance,
    canonical: JSON.stringify(ask),
    plan,
    mechanisms,
    still: refuseChangedSize(records),
    execute: async (engine, payment) => {
      const kept = features && joinFeatures(await features.choice.choose(engine, payment), map.label);
      const used = kept ? features.trainerFor(kept) : trainer;
      // The features are published by now: noise for fewer of them costs the same.
      if (kept) for (const [k, reserved] of trainer.mechanisms.entries()) payment.exchange(reserved, used.mechanisms[k]!);
      const train = used.prepare(payment);
      const rows = kept ?? map;
      return classifyResult(ask, used, rows, train((await readExamples(engine, session.policy, rows)).open()));
    },
  });
  // A recorded answer may be of version 0.2; its request key includes the columns' bounds, so the policy's bounds apply.
  return { result: currentForm(result, boundsIn(map)), receipt };
}

/** Faults of reading the data are raised here, before anything is spent. */
function refuseUncountable(policy: Policy, names: readonly string[]): void {
  const counted = (name: string): Query =>
    isCoded(declaredColumn(policy, name)) ? { kind: 'count', by: [name] } : { kind: 'sum', column: name };
  bindBatch({ queries: names.map(counted) }, policy);
}

/** One entry of a row with its index, and its copy when blocks are joined. */
const bytesPerSlot = 24;

async function prepareClassify(session: PrivacySession, input: unknown, options: ReleaseOptions) {
  const ask = parseClassify(input);
  const { policy } = session;
  const map = mapFeatures(policy, ask);
  refuseUncountable(policy, [ask.label, ...ask.features]);
  const allowance = await session.allowance(options);
  const read = [ask.label, ...ask.features];
  const { records, counting } = await recordsInMemory(session, read, bytesPerSlot * read.length);
  if (records < 1) throw new Fault('QUERY_INVALID', 'The table has no rows to learn from.', 'Check the source of the data.');
  if (ask.method === 'objective' && !ask.asPublished)
    throw new Fault(
      'NOT_PRIVATE',
      'Objective perturbation is proven for real numbers and exact minimisers, which no computer has.',
      'Use the method "tilt", which pays for both; to compare with the paper all the same, add "asPublished": true.',
    );
  const within = [allowance.rho, allowance.pure].filter((budgetShare) => budgetShare !== undefined);
  if (within.length === 0) throw nothingLeft();
  const loss = ask.model === 'logistic' ? logistic : huberHinge(ask.huber);
  const base = { map, loss, records, rowsPerRecord: rowsPerRecord(policy), steps: ask.steps };
  const { budgetShare, makeTrainer } = chooseTrainer(ask, base, within, allowance.closes);
  const share = fromNumber(ask.select?.share ?? 0);
  const choice = ask.select && featureChoice(policy, map, splitShare(budgetShare, share), { keep: ask.select.keep, records });
  const trainerFor = (kept: FeatureMap) => makeTrainer(kept, splitShare(budgetShare, subtract(one, share)));
  const trainer = trainerFor(map);
  const mechanisms = [...(choice?.mechanisms ?? []), ...trainer.mechanisms];
  const framed = session.completePlan({
    label: options.label ?? `classify ${ask.label}: ${ask.model} on ${ask.features.length} columns (${trainer.method})`,
    ...planFieldsOf(allowance),
    mechanisms,
    mechanism: `${trainer.noise}, ${trainer.method}`,
    why: trainer.why,
    counting,
    errors: [],
    candidates: [],
  });
  return {
    ask,
    map,
    plan: trainer.certified ? framed : asPublished(framed),
    mechanisms,
    allowance,
    trainer,
    records,
    /** Present if features are chosen first: the method is fixed, the noise follows the features that are kept. */
    features: choice && { choice, trainerFor },
  };
}

function classifyResult(
  ask: ClassifyRequest,
  { method, halfWidth, intervals }: Trainer,
  map: FeatureMap,
  w: Float64Array,
): ClassifyResult {
  // Weights are for rows divided by the radius; published ones are for features in -1 .. 1.
  const natural = unit / map.radius;
  const terms = map.features.flatMap((feature) => feature.terms);
  const around = (x: number): readonly [number, number] => [(x - halfWidth!) * natural, (x + halfWidth!) * natural];
  return {
    model: ask.model,
    method,
    label: ask.label,
    positive: ask.positive,
    features: map.features.map((f) => f.column),
    intercept: w[0]! * natural,
    ...(halfWidth !== undefined && { interceptInterval: around(w[0]!) }),
    weights: terms.map((term, k) => ({
      ...term,
      weight: w[k + 1]! * natural,
      ...(halfWidth !== undefined && { interval: around(w[k + 1]!) }),
    })),
    intervals,
  };
}

const asPublished = (plan: Plan): Plan => ({
  ...plan,
  guarantee: {
    ...plan.guarantee,
    certified: false,
    assumptions: [
      ...plan.guarantee.assumptions,
      'As published: the noise is a real number and the minimiser is exact. Neither is true of a computer, so nothing is certified.',
    ],
    sentences: ['As published, for comparison: what follows holds for the mechanism on paper only.', ...plan.guarantee.sentences],
  },
});
