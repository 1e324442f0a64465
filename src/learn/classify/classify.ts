import { Fault } from '../../errors.js';
import { fromNumber, multiply, one, type Rational, subtract } from '../../exact/rational.js';
import { addProfiles, type Profile } from '../../mechanism/profile.js';
import type { Plan } from '../../release/plan.js';
import type { Receipt } from '../../release/receipt.js';
import type { Allowance, AskOptions, Session } from '../../release/session.js';
import { publicRecords, rowsPerRecord } from '../public-size.js';
import { bindCells } from './cells.js';
import { descentTrainer } from './descent.js';
import { readExamples } from './examples.js';
import { type FeatureMap, joinFeatures, mapFeatures, unit } from './features.js';
import { huberHinge, logistic } from './loss.js';
import { objectiveTrainer } from './objective.js';
import { outputTrainer } from './output.js';
import type { ClassifyResult } from './predict.js';
import { type ClassifyRequest, parseClassify } from './request.js';
import { type Selection, selectionStep } from './select.js';
import type { Means, Setting, Trainer } from './trainer.js';

export async function planClassify(session: Session, input: unknown, options: AskOptions = {}): Promise<Plan> {
  return (await prepare(session, input, options)).plan;
}

export async function releaseClassify(
  session: Session,
  input: unknown,
  options: AskOptions = {},
): Promise<{ result: ClassifyResult; receipt: Receipt }> {
  const { ask, map, plan, profile, allowance, trainerFor, selection } = await prepare(session, input, options);
  return session.analyse<ClassifyResult>({
    kind: 'classify',
    allowance,
    canonical: JSON.stringify(ask),
    plan,
    profile,
    execute: async (engine) => {
      const kept = selection ? joinFeatures(await selection.choose(engine), map.label) : map;
      const examples = (await readExamples(engine, session.policy, kept)).open();
      const trainer = trainerFor(kept);
      return tell(ask, trainer.method, kept, trainer.train(examples));
    },
  });
}

interface Prepared {
  readonly ask: ClassifyRequest;
  readonly map: FeatureMap;
  readonly plan: Plan;
  readonly profile: Profile;
  readonly allowance: Allowance;
  /** The method is fixed; the noise follows the features that are kept. */
  readonly trainerFor: (map: FeatureMap) => Trainer;
  readonly selection?: Selection;
}

async function prepare(session: Session, input: unknown, options: AskOptions): Promise<Prepared> {
  const ask = parseClassify(input);
  const { policy } = session;
  const map = mapFeatures(policy, ask);
  bindCells(policy, [ask.label, ...ask.features]);
  const allowance = await session.allowance(options);
  const records = await publicRecords(session);
  if (records < 1) throw new Fault('QUERY_INVALID', 'The table has no rows to learn from.', 'Check the source of the data.');
  if (ask.method === 'objective' && !ask.asPublished)
    throw new Fault(
      'NOT_PRIVATE',
      'Objective perturbation is proven for real numbers and exact minimisers, which no computer has.',
      'Use the method "output" or "sgd"; to compare with the paper all the same, add "asPublished": true.',
    );
  const means = meansOf(allowance);
  if (means.length === 0)
    throw new Fault('BUDGET_EXCEEDED', 'Nothing is left of the budget for this.', '"fugu ledger POLICY" lists what was spent.');
  const each = rowsPerRecord(policy);
  const choice = choose(ask, { map, loss: lossOf(ask), records, each }, means);
  const selection =
    ask.select && selectionStep(policy, map, choice.means, { keep: ask.select.keep, share: ask.select.share, records, each });
  const rest = selection ? scale(choice.means, subtract(one, fromNumber(ask.select!.share))) : choice.means;
  const trainerFor = (kept: FeatureMap) => choice.trainer(kept, rest);
  const sample = trainerFor(map);
  const profile = selection ? addProfiles(sample.profile, selection.profile) : sample.profile;
  const framed = session.frame({
    label: options.label ?? `classify ${ask.label}: ${ask.model} on ${ask.features.length} columns (${sample.method})`,
    share: allowance.share,
    spent: allowance.spent,
    route: allowance.route,
    profile,
    reading: allowance.reading,
    mechanism: `${sample.noise}, ${sample.method}`,
    why: sample.why,
    measures: [...(selection?.measures ?? []), ...sample.measures],
    errors: [],
    candidates: [],
  });
  return {
    ask,
    map,
    plan: sample.certified ? framed : asPublished(framed),
    profile,
    allowance,
    trainerFor,
    ...(selection && { selection }),
  };
}

const lossOf = (ask: ClassifyRequest) => (ask.model === 'logistic' ? logistic : huberHinge(ask.huber));

const meansOf = ({ pure, rho }: Allowance): Means[] => [
  ...(rho ? [{ noise: 'gaussian' as const, rho }] : []),
  ...(pure ? [{ noise: 'laplace' as const, epsilon: pure }] : []),
];
const scale = (means: Means, share: Rational): Means =>
  means.noise === 'laplace'
    ? { noise: 'laplace', epsilon: multiply(means.epsilon, share) }
    : { noise: 'gaussian', rho: multiply(means.rho, share) };

interface Choice {
  readonly means: Means;
  readonly trainer: (map: FeatureMap, means: Means) => Trainer;
}

/** Noise this short beside weights of a length around ten does no harm: then the true minimiser beats any number of steps. */
const harmless = 0.5;
/** Noise this long still leaves a useful classifier. */
const bearable = 2.5;
const defaultPenalty = { output: 1e-3, sgd: 1e-4, objective: 1e-3 };

/** Which method with which noise; decided from public numbers alone. */
function choose(ask: ClassifyRequest, base: Omit<Setting, 'regularisation'>, means: readonly Means[]): Choice {
  const setting = (method: keyof typeof defaultPenalty, map: FeatureMap, penalty = defaultPenalty[method]): Setting => ({
    ...base,
    map,
    regularisation: ask.regularisation ?? penalty,
    ...(ask.steps !== undefined && { steps: ask.steps }),
  });
  if (ask.method === 'objective') {
    const pure = means.find((m) => m.noise === 'laplace');
    if (!pure)
      throw new Fault('QUERY_UNSUPPORTED', 'Objective perturbation needs pure epsilon.', 'Use the method "output" or "sgd".');
    return {
      means: pure,
      trainer: (map, m) => objectiveTrainer(setting('objective', map), (m as Extract<Means, { noise: 'laplace' }>).epsilon),
    };
  }
  const outputAt =
    (penalty: number) =>
    (map: FeatureMap, m: Means): Trainer =>
      outputTrainer(setting('output', map, penalty), m);
  // The noise is as long as the penalty is small: as small a penalty as keeps the noise bearable.
  const output = (map: FeatureMap, m: Means): Trainer => {
    const { blur } = outputAt(defaultPenalty.output)(map, m);
    return outputAt(Math.min(0.1, Math.max(defaultPenalty.sgd, (defaultPenalty.output * blur) / bearable)))(map, m);
  };
  const descent = (map: FeatureMap, m: Means): Trainer => descentTrainer(setting('sgd', map), m);
  const least = (trainer: Choice['trainer']) =>
    means.map((m) => ({ means: m, blur: trainer(base.map, m).blur })).sort((a, b) => a.blur - b.blur)[0]!;
  const exact = least(outputAt(defaultPenalty.sgd));
  if (ask.method === 'output' || (ask.method === 'auto' && exact.blur <= harmless)) return { ...exact, trainer: output };
  return { ...least(descent), trainer: descent };
}

function tell(ask: ClassifyRequest, method: Trainer['method'], map: FeatureMap, w: Float64Array): ClassifyResult {
  // Weights are for rows divided by the radius; told for features in -1 .. 1.
  const natural = unit / map.radius;
  const terms = map.features.flatMap((feature) => feature.terms);
  return {
    model: ask.model,
    method,
    label: ask.label,
    positive: ask.positive,
    features: map.features.map((f) => f.column),
    intercept: w[0]! * natural,
    weights: terms.map((term, k) => ({ ...term, weight: w[k + 1]! * natural })),
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
