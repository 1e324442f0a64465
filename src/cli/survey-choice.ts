import { chooseSurvey, type SurveyChoice } from '../calibration/survey.js';
import { type CellNoise, type ReleaseError, releaseError } from '../calibration/survey-error.js';
import { declaredSpread } from '../dependence/declared-pairwise.js';
import type { AttackFigure } from '../dependence/spread-file.js';
import { divide, fromNumber, multiply, parseRational, toNumber } from '../exact/rational.js';
import { jointKeyOf } from '../query/keys.js';
import type { Plan, PlannedMeasure } from '../release/plan.js';
import type { Session } from '../release/session.js';
import { bold, dim, figure, table } from './output.js';

/** Every way to release the survey the plan is about, with its expected error and what it protects. Public numbers only. */
export function surveyChoice(plan: Plan, { policy, account }: Session): SurveyChoice & { readonly attack?: AttackFigure } {
  const share = divide(fromNumber(plan.epsilon), account.epsilon);
  const part = (capacity: Parameters<typeof multiply>[0]): number => toNumber(multiply(capacity, share));
  const columns = plan.errors.map((e) => {
    const name = 'column' in e.query ? e.query.column : e.name;
    // Rows are secret as a whole, so a public column of theirs is noised like any other.
    return { name, cells: e.cells, public: policy.protect.secret === 'answer' && policy.columns.get(name)?.public === true };
  });
  const route = (name: string) => account.routes.find((r) => r.amplifier.name === name);
  const rows = account.routes.find((r) => r.amplifier.scope('*'));
  const network = route('columns');
  const pairwise = route('pairwise');
  const declared = policy.dependence.flatMap((d) => declaredSpread(d) ?? [])[0];
  const choice = chooseSurvey(
    columns,
    {
      secret: policy.protect.secret === 'answer' ? 'answer' : 'row',
      adversary: policy.protect.adversary,
      epsilon: rows ? part(rows.pureCapacity) : plan.epsilon,
      delta: toNumber(account.delta),
      ...(rows?.gaussian && { rho: part(rows.gaussian.capacity) }),
    },
    {
      ...(network && {
        network: {
          base: part(network.pureCapacity),
          adversary: policy.protect.adversary,
          origin: network.amplifier.assumptions.at(-1) ?? '',
        },
      }),
      ...(policy.merge && {
        clusters: policy.merge.map((c) => ({ columns: c.columns, support: jointKeyOf(policy, c).key.size })),
      }),
      ...(pairwise && declared && { pairwise: { ...declared, base: part(pairwise.pureCapacity) } }),
    },
  );
  return pairwise && declared?.attack ? { ...choice, attack: declared.attack } : choice;
}

export function surveyText(choice: SurveyChoice & { readonly attack?: AttackFigure }): string {
  const rows = choice.candidates.map((c) => [
    c === choice.chosen ? `> ${c.name}` : `  ${c.name}`,
    figure(c.error.l2),
    `${figure(c.ratio)}x`,
    c.keeps ? c.protects : dim(c.reason),
  ]);
  const { error } = choice.chosen;
  const attacked = choice.attack
    ? [
        `Pairwise bound under attack, on the rows its tables came from (epsilon ${figure(choice.attack.epsilon)}): ${figure(choice.attack.inSample)} of epsilon in sample, ${figure(choice.attack.heldOut)} held out.`,
      ]
    : [];
  return [
    bold('Ways to release this survey'),
    table(['', 'L2 error', 'of Laplace', 'protects'], rows),
    choice.why,
    ...choice.chosen.assumes.map((text) => `${dim('Assumption:')} ${text}`),
    wholeErrorText(error),
    ...attacked,
  ].join('\n');
}

/** Error of all tables of a released survey together, from the noise its receipt tells; before any tidying. */
export function surveyError(measures: readonly PlannedMeasure[]): ReleaseError {
  return releaseError(
    measures.flatMap(({ noise, cells, tables = 1 }): CellNoise[] => {
      if (noise.kind === 'laplace') return [{ kind: 'laplace', scale: toNumber(parseRational(noise.scale)), cells, tables }];
      if (noise.kind === 'gaussian')
        return [{ kind: 'gaussian', scale: Math.sqrt(toNumber(parseRational(noise.variance))), cells, tables }];
      return [];
    }),
  );
}

export const wholeErrorText = (error: ReleaseError): string =>
  `All tables together: with 95 % every cell is within ±${figure(error.maximum)}, and with 95 % all absolute errors add up to at most ${figure(error.l1)}.`;
