import { Fault } from '../../../base/errors.js';
import { fromNumber, one, subtract, toNumber } from '../../../base/exact/rational.js';
import { declaredColumn, isCoded } from '../../../policy/domain.js';
import type { Policy } from '../../../policy/policy.js';
import { type BudgetShare, splitShare } from '../../../privacy/mechanism/budget-share.js';
import type { Mechanism } from '../../../privacy/mechanism/mechanism.js';
import { bindBatch } from '../../../query/bind.js';
import type { Query } from '../../../query/query.js';
import { closingPenalty } from '../../../release/accountant/choose.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { type Allowance, planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { recordsInMemory, refuseChangedSize, rowsPerRecord } from '../public-size.js';
import { descentTrainer } from './descent.js';
import { readExamples } from './examples.js';
import { type FeatureMap, joinFeatures, mapFeatures, unit } from './features.js';
import { huberHinge, linearisedLogistic, logistic } from './loss.js';
import { objectiveTrainer } from './objective.js';
import { outputTrainer } from './output.js';
import type { ClassifyResult } from './predict.js';
import { type ClassifyRequest, parseClassify } from './request.js';
import { type FeatureChoice, featureChoice } from './select.js';
import { boundsIn, currentForm } from './stored.js';
import { tiltTrainer } from './tilt.js';
import type { ClassifySetting, Trainer } from './trainer.js';

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

interface PreparedClassify {
  readonly ask: ClassifyRequest;
  readonly map: FeatureMap;
  readonly plan: Plan;
  readonly mechanisms: readonly Mechanism[];
  readonly allowance: Allowance;
  readonly trainer: Trainer;
  readonly records: number;
  /** Present if features are chosen first: the method is fixed, the noise follows the features that are kept. */
  readonly features?: { readonly choice: FeatureChoice; readonly trainerFor: (map: FeatureMap) => Trainer };
}

/** Faults of reading the data are raised here, before anything is spent. */
function refuseUncountable(policy: Policy, names: readonly string[]): void {
  const counted = (name: string): Query =>
    isCoded(declaredColumn(policy, name)) ? { kind: 'count', by: [name] } : { kind: 'sum', column: name };
  bindBatch({ queries: names.map(counted) }, policy);
}

/** One entry of a row with its index, in lists that double as they grow. */
const bytesPerSlot = 24;

async function prepareClassify(session: PrivacySession, input: unknown, options: ReleaseOptions): Promise<PreparedClassify> {
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
  const each = rowsPerRecord(policy);
  const { budgetShare, makeTrainer } = chooseTrainer(ask, { map, loss: lossOf(ask), records, each }, within, allowance.closes);
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
    ...(choice && { features: { choice, trainerFor } }),
  };
}

const lossOf = (ask: ClassifyRequest) => (ask.model === 'logistic' ? logistic : huberHinge(ask.huber));

interface TrainerChoice {
  readonly budgetShare: BudgetShare;
  readonly makeTrainer: (map: FeatureMap, budgetShare: BudgetShare) => Trainer;
}

/** Length of noise that does no harm to weights of length about ten: the exact minimiser then beats any number of steps. */
const harmlessNoise = 0.5;
/** Length of noise that still leaves a useful classifier. */
const bearableNoise = 2.5;
const defaultPenalty = { output: 1e-3, sgd: 1e-4, objective: 1e-3 };
/**
 * Slope limit of the loss and strength of the penalty, fitted to census data of 400 to 70,000 rows: under much noise wrongly
 * classified rows should pull less. The curvature costs at most an eighth of the budget.
 */
function tiltSetting(
  { records, each, loss }: Omit<ClassifySetting, 'regularisation'>,
  epsilon: number,
): Pick<ClassifySetting, 'loss' | 'regularisation'> {
  const recordsTimesEpsilon = (records / each) * epsilon;
  const penalty = Math.max(3 * (30_000 / recordsTimesEpsilon) ** 0.25, (8 * loss.curvature * each) / epsilon);
  const steepest = recordsTimesEpsilon < 10_000 ? 9 / 16 : recordsTimesEpsilon < 100_000 ? 3 / 4 : 1;
  return { regularisation: penalty / records, loss: loss.name === 'svm' || steepest === 1 ? loss : linearisedLogistic(steepest) };
}

/** Method and noise, chosen from public numbers alone. */
function chooseTrainer(
  ask: ClassifyRequest,
  base: Omit<ClassifySetting, 'regularisation'>,
  within: readonly BudgetShare[],
  closes: true | undefined,
): TrainerChoice {
  const setting = (method: keyof typeof defaultPenalty, map: FeatureMap, penalty = defaultPenalty[method]): ClassifySetting => ({
    ...base,
    map,
    regularisation: ask.regularisation ?? penalty,
    ...(ask.steps !== undefined && { steps: ask.steps }),
  });
  const pure = within.find(({ noise }) => noise === 'pure');
  if ((ask.method === 'objective' || ask.method === 'tilt') && !pure)
    throw new Fault('QUERY_UNSUPPORTED', 'A random linear term needs pure epsilon.', 'Use the method "output" or "sgd".');
  if (ask.method === 'objective') {
    return { budgetShare: pure!, makeTrainer: (map, { amount }) => objectiveTrainer(setting('objective', map), amount) };
  }
  const tilt = (map: FeatureMap, budgetShare: BudgetShare): Trainer => {
    const { loss, regularisation } = tiltSetting(base, toNumber(budgetShare.amount));
    return tiltTrainer({ ...base, map, loss, regularisation: ask.regularisation ?? regularisation }, budgetShare);
  };
  if (ask.method === 'tilt') return { budgetShare: pure!, makeTrainer: tilt };
  const outputAt =
    (penalty: number) =>
    (map: FeatureMap, budgetShare: BudgetShare): Trainer =>
      outputTrainer(setting('output', map, penalty), budgetShare);
  // The noise is inversely proportional to the penalty: the smallest penalty that keeps the noise bearable.
  const output = (map: FeatureMap, budgetShare: BudgetShare): Trainer => {
    const { blur } = outputAt(defaultPenalty.output)(map, budgetShare);
    return outputAt(Math.min(0.1, Math.max(defaultPenalty.sgd, (defaultPenalty.output * blur) / bearableNoise)))(
      map,
      budgetShare,
    );
  };
  const descent = (map: FeatureMap, budgetShare: BudgetShare): Trainer => descentTrainer(setting('sgd', map), budgetShare);
  const weighed = ({ budgetShare, blur }: { readonly budgetShare: BudgetShare; readonly blur: number }): number =>
    closes && budgetShare.noise === 'pure' ? blur * Math.sqrt(closingPenalty) : blur;
  const least = (makeTrainer: TrainerChoice['makeTrainer']) =>
    within
      .map((budgetShare) => ({ budgetShare, blur: makeTrainer(base.map, budgetShare).blur }))
      .reduce((a, b) => (weighed(b) < weighed(a) ? b : a));
  const exact = least(outputAt(defaultPenalty.sgd));
  if (ask.method === 'output' || (ask.method === 'auto' && exact.blur <= harmlessNoise))
    return { budgetShare: exact.budgetShare, makeTrainer: output };
  // Gaussian noise grows with the root of the number of steps only; without it, noise added once is better than in every step.
  if (ask.method === 'auto' && pure && within.length === 1) return { budgetShare: pure, makeTrainer: tilt };
  return { budgetShare: least(descent).budgetShare, makeTrainer: descent };
}

function classifyResult(
  ask: ClassifyRequest,
  { method, half, intervals }: Trainer,
  map: FeatureMap,
  w: Float64Array,
): ClassifyResult {
  // Weights are for rows divided by the radius; published ones are for features in -1 .. 1.
  const natural = unit / map.radius;
  const terms = map.features.flatMap((feature) => feature.terms);
  const around = (x: number): readonly [number, number] => [(x - half!) * natural, (x + half!) * natural];
  return {
    model: ask.model,
    method,
    label: ask.label,
    positive: ask.positive,
    features: map.features.map((f) => f.column),
    intercept: w[0]! * natural,
    ...(half !== undefined && { interceptInterval: around(w[0]!) }),
    weights: terms.map((term, k) => ({
      ...term,
      weight: w[k + 1]! * natural,
      ...(half !== undefined && { interval: around(w[k + 1]!) }),
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
