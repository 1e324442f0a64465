import { isAddRemove } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import { distributionWords } from '../../privacy/mechanism/distribution.js';
import { answersTo, everyRecord } from '../../privacy/mechanism/record-class.js';
import type { ResidualLayout } from '../../privacy/mechanism/residual/layout.js';
import { type NoisedTables, noisedTables, type RecordChange } from '../../privacy/mechanism/residual/residual.js';
import type { RowChange } from '../../privacy/mechanism/residual/row-sensitivity.js';
import { closingPenalty } from '../../release/accountant/choose.js';
import type { Allowance } from '../../release/session/allowance.js';
import { noNoise } from '../../release/session/plan.js';
import { axesOf } from './axes.js';
import type { Workload } from './form.js';
import { minimaxTables } from './minimax-tables.js';
import { largestVariance, numberOfAnswers, plainLayout, residualLayout, weightedVariance } from './residual-layout.js';

/** A strategy for all tables, with the root mean square error over all their cells, or the largest error of one, weights included. */
export interface WorkloadStrategy {
  readonly name: 'without smaller tables' | 'every table by itself';
  readonly noised: NoisedTables;
  readonly error: number;
}

/** Protected changes of one record, by the secret of the policy (residual.proof.md). */
export function workloadChanges(policy: Policy, workload: Workload): readonly RecordChange[] {
  const { protect, columns } = policy;
  const whole: RowChange = isAddRemove(policy) ? 'removed' : 'replaced';
  // With known totals so many rows change at once, each to any other (query/count/sensitivity.proof.md).
  const rows = protect.secret === 'person' ? protect.maxRows : (policy.known?.together ?? 1);
  const all: RecordChange = { of: everyRecord, change: whole, rows };
  if (protect.secret !== 'answer') return [all];
  const answers = workload.columns.flatMap((own): RecordChange[] =>
    columns.get(own.name)?.public ? [] : [{ of: answersTo(own.name), change: { along: axesOf(own) }, rows: 1 }],
  );
  return answers.length > 0 ? [...answers, all] : [];
}

/** Strategies by increasing error. */
export function workloadStrategies({
  workload,
  changes,
  allowance,
  change,
  known,
}: {
  readonly workload: Workload;
  readonly changes: readonly RecordChange[];
  readonly allowance: Allowance;
  readonly change: Extract<RowChange, string>;
  readonly known: readonly number[];
}): readonly WorkloadStrategy[] {
  const { rho, pure, route, closes } = allowance;
  const by = (name: WorkloadStrategy['name'], layout: ResidualLayout, budgetShare: BudgetShare): WorkloadStrategy => {
    const noised = noisedTables({ name: 'tables of the workload', layout, changes }, budgetShare, route.amplifier.scope);
    const requested = { ...workload, known };
    const squared = largest ? largestVariance(requested, layout) : weightedVariance(requested, layout) / weightOf(workload);
    return { name, noised, error: Math.sqrt(squared * noised.variance) };
  };
  const largest = workload.aim === 'largest';
  const { sizes } = workload;
  const even = () => workload.tables.map((table) => ({ ...table, weight: table.weight / numberOfAnswers(sizes, table) }));
  const tables = largest ? even() : workload.tables;
  return [
    ...(rho
      ? [
          by(
            'without smaller tables',
            residualLayout({ sizes, tables: largest ? minimaxTables(workload, change) : tables, known }, change),
            rho,
          ),
          by('every table by itself', plainLayout({ sizes, tables }, 'zcdp'), rho),
        ]
      : []),
    ...(pure ? [by('every table by itself', plainLayout({ sizes, tables }, 'pure'), pure)] : []),
  ].sort((a, b) => weighed(a) - weighed(b));
  function weighed({ noised, error }: WorkloadStrategy): number {
    return closes && noised.mechanism.distribution.kind === 'laplace' ? error * Math.sqrt(closingPenalty) : error;
  }
}
const weightOf = ({ sizes, tables }: Workload): number =>
  tables.reduce((sum, t) => sum + t.weight * numberOfAnswers(sizes, t), 0);

export function strategyReason(strategies: readonly WorkloadStrategy[]): string {
  const [best, ...others] = strategies;
  if (best?.noised.mechanism.distribution.kind === 'none') return noNoise;
  const words = ({ name, noised }: WorkloadStrategy) =>
    `${distributionWords(noised.mechanism.distribution.kind)} noise on ${name === 'every table by itself' ? name : 'tables without what smaller tables say'}`;
  const next = others[0];
  if (!next) return `${words(best!)}, all tables read together, is the only kind that this budget allows.`;
  if (next.error < best!.error)
    return `${words(best!)}, which leaves more to later questions; its expected error is ${Number((best!.error / next.error).toPrecision(3))} times that with ${words(next)}.`;
  return `${words(best!)}: its expected error is ${Number((next.error / best!.error).toPrecision(3))} times smaller than with ${words(next)}.`;
}
