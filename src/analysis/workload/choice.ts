import { addsRemoves } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Allotment } from '../../privacy/mechanism/allotment.js';
import { lawWords } from '../../privacy/mechanism/law.js';
import { answersTo, everyRecord } from '../../privacy/mechanism/record-class.js';
import type { Change } from '../../privacy/mechanism/residual/move.js';
import type { Layout } from '../../privacy/mechanism/residual/part.js';
import { type Changes, type NoisedTables, noisedTables } from '../../privacy/mechanism/residual/residual.js';
import { closing } from '../../release/accountant/choose.js';
import type { Allowance } from '../../release/session/allowance.js';
import { noNoise } from '../../release/session/plan.js';
import { axesOf } from './axes.js';
import type { Workload } from './form.js';
import { evened } from './largest.js';
import { answersIn, errorOf, largestErrorOf, plainLayout, residualLayout } from './ways.js';

/** A strategy for all tables, with the root mean square error over all their cells, or the largest error of one, weights included. */
export interface Way {
  readonly name: 'without smaller tables' | 'every table by itself';
  readonly noised: NoisedTables;
  readonly error: number;
}

/** Protected changes of one record, by the secret of the policy (residual.proof.md). */
export function changesOf(policy: Policy, workload: Workload): readonly Changes[] {
  const { protect, columns } = policy;
  const whole: Change = addsRemoves(policy) ? 'removed' : 'replaced';
  // With known totals so many rows change at once, each to any other (query/count/sensitivity.proof.md).
  const rows = protect.secret === 'person' ? protect.maxRows : (policy.known?.together ?? 1);
  const all: Changes = { of: everyRecord, change: whole, rows };
  if (protect.secret !== 'answer') return [all];
  const answers = workload.columns.flatMap((own): Changes[] =>
    columns.get(own.name)?.public ? [] : [{ of: answersTo(own.name), change: { along: axesOf(own) }, rows: 1 }],
  );
  return answers.length > 0 ? [...answers, all] : [];
}

/** Strategies by increasing error. */
export function waysFor(
  workload: Workload,
  changes: readonly Changes[],
  allowance: Allowance,
  change: Extract<Change, string>,
  known: readonly number[],
): readonly Way[] {
  const { rho, pure, route, closes } = allowance;
  const by = (name: Way['name'], layout: Layout, allotment: Allotment): Way => {
    const noised = noisedTables('tables of the workload', layout, changes, allotment, route.amplifier.scope);
    const asked = { ...workload, known };
    const squared = largest ? largestErrorOf(asked, layout) : errorOf(asked, layout) / weightOf(workload);
    return { name, noised, error: Math.sqrt(squared * noised.variance) };
  };
  const largest = workload.aim === 'largest';
  const { sizes } = workload;
  const even = () => workload.tables.map((table) => ({ ...table, weight: table.weight / answersIn(sizes, table) }));
  const tables = largest ? even() : workload.tables;
  return [
    ...(rho
      ? [
          by(
            'without smaller tables',
            residualLayout({ sizes, tables: largest ? evened(workload, change) : tables, known }, change),
            rho,
          ),
          by('every table by itself', plainLayout({ sizes, tables }, 'zcdp'), rho),
        ]
      : []),
    ...(pure ? [by('every table by itself', plainLayout({ sizes, tables }, 'pure'), pure)] : []),
  ].sort((a, b) => weighed(a) - weighed(b));
  function weighed({ noised, error }: Way): number {
    return closes && noised.mechanism.law.kind === 'laplace' ? error * Math.sqrt(closing) : error;
  }
}
const weightOf = ({ sizes, tables }: Workload): number => tables.reduce((sum, t) => sum + t.weight * answersIn(sizes, t), 0);

export function whyOf(ways: readonly Way[]): string {
  const [best, ...others] = ways;
  if (best?.noised.mechanism.law.kind === 'none') return noNoise;
  const words = ({ name, noised }: Way) =>
    `${lawWords(noised.mechanism.law.kind)} noise on ${name === 'every table by itself' ? name : 'tables without what smaller tables say'}`;
  const next = others[0];
  if (!next) return `${words(best!)}, all tables read together, is the only kind this budget allows.`;
  if (next.error < best!.error)
    return `${words(best!)}, which leaves more to later questions; its expected error is ${Number((best!.error / next.error).toPrecision(3))} times that with ${words(next)}.`;
  return `${words(best!)}: its expected error is ${Number((next.error / best!.error).toPrecision(3))} times smaller than with ${words(next)}.`;
}
