import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Plan } from '../../release/session/plan.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { spendingDecision } from './confirm-spending.js';
import { expectedErrorText } from './expected-error.js';
import { planOptions } from './option-tables.js';
import { emit, momentText } from './output.js';
import { publishedText } from './published-text.js';
import { optionsFrom, readQuestion } from './question-options.js';
import { addOptions, type OptionWords } from './request-options.js';
import { withSession } from './session.js';
import { surveyText } from './survey-text.js';
import { asTyped } from './typed.js';
import { workloadText } from './workload-text.js';

export function registerPlanCommand(program: Command): void {
  addOptions(
    program.command('plan').description('cost and error of a release; spends nothing').argument('<policy>', 'policy file'),
    planOptions,
  ).action(async (file: string, words: OptionWords) => {
    const { question, values } = await readQuestion(planOptions, words);
    const { json, asPublished } = values;
    const plan = await withSession(file, spendingDecision(values, true), (fugu) => fugu.plan(question, optionsFrom(values)));
    const published = asPublished ? await publishedSurvey(file, plan, values.survey) : undefined;
    emit(json, { ...plan, ...(published && { published }) }, () =>
      [
        // Remedies for a release now do not apply to a recorded answer.
        ...('survey' in plan && !plan.recorded ? [surveyText(plan.survey)] : []),
        ...('workload' in plan ? [workloadText(plan)] : []),
        ...(published ? [publishedText(published)] : []),
        planText(plan),
      ].join('\n\n'),
    );
  });
}

async function publishedSurvey(file: string, { epsilon }: Plan, survey: true | undefined) {
  if (!survey)
    throw new Fault(
      'USAGE',
      '--as-published goes with --survey.',
      'It shows what the mechanism of Maughan and Near would do to the whole survey.',
    );
  const { judgePublishedSurvey } = await import('../api/published.js');
  return judgePublishedSurvey(file, { epsilon });
}

export const recordsText = ({ used, leftOut }: NonNullable<Plan['records']>): string =>
  `About ${used.toLocaleString('en-US')} of ${(used + leftOut).toLocaleString('en-US')} records: ${leftOut.toLocaleString('en-US')} are left out because of their ties (maxTies, maxUsed).`;

const freeText = ({ entry, at }: NonNullable<Plan['recorded']>): string =>
  `Answered from the record, free: the answer of ${momentText(at)} UTC (ledger entry ${entry}). --fresh asks again, and pays.`;

/** Part of the counting done by the database, and part done here. */
function countingText({ where, database, streamed, held }: NonNullable<Plan['counting']>): string {
  const number = (n: number) => n.toLocaleString('en-US');
  const grouped = database
    ? `counted by the database in ${database.statements === 1 ? 'one statement' : `${number(database.statements)} statements`}, of which at most ${database.rows === 1 ? 'one row comes' : `${number(database.rows)} rows come`} back`
    : '';
  const rows = streamed
    ? `read here row by row, ${streamed.columns.length === 1 ? 'one column' : `${streamed.columns.length} columns`}`
    : '';
  if (where === 'database') return `Rows are ${grouped}.`;
  if (where === 'by size') return `Up to ${number(streamed!.upTo!)} rows are ${rows}; more are ${grouped}.`;
  if (held) return `Rows are ${rows}, and held: memory is enough for ${number(held.upTo)} of them.`;
  return streamed?.upTo === undefined
    ? `Rows are ${rows}, and counted as they come.`
    : `Rows are ${rows} (tables of up to ${number(streamed.upTo)} rows are).`;
}

const remediesText = (ways: NonNullable<Plan['waysOut']>): string[] => [
  `  ${ways.length === 1 ? 'A way' : 'The best ways'} out (largest 95 % error of a count):`,
  ...ways.map(({ change, error }) => `    ±${numberText(error)}  ${change}`),
  ...(ways.some(({ change }) => change.includes('budget:'))
    ? [dim(asTyped('    Another budget is another promise: change the policy, then "fugu ledger POLICY amend --reason TEXT".'))]
    : []),
];

/** Plan as text: cost, expected error and promise. */
export function planText(plan: Plan): string {
  const { budget } = plan;
  const lines = [
    bold(`Plan: ${plan.label}`),
    ...(plan.recorded ? [good(`  ${freeText(plan.recorded)}`)] : []),
    `  uses epsilon ${numberText(plan.epsilon)} of ${numberText(budget.total)}${budget.delta ? ` (delta ${budget.delta})` : ''}; spent ${numberText(budget.spent)}, remaining ${numberText(budget.remaining)}`,
    `  ${plan.why}`,
    `  ${dim(plan.route)}`,
  ];
  for (const part of plan.parts ?? [])
    lines.push(`  about ${part.part} only: ${numberText(part.remaining)} of ${numberText(budget.total)} left there`);
  if (plan.steady)
    lines.push(`  every ${plan.steady.column} may spend ${numberText(plan.steady.each)}, for as long as it goes on`);
  if (plan.quota)
    lines.push(
      `  of the quota of ${plan.quota.analyst}, ${numberText(plan.quota.total)}: spent ${numberText(plan.quota.spent)}, remaining ${numberText(plan.quota.remaining)}`,
    );
  if (plan.completes !== undefined)
    lines.push(good(`  Completes ledger entry ${plan.completes}, which was never answered; nothing more is spent.`));
  if (plan.counting) lines.push(dim(`  ${countingText(plan.counting)}`));
  if (plan.records) lines.push(`  ${recordsText(plan.records)}`);
  if (!plan.fits) lines.push(warn('  This does not fit into what remains.'));
  if (plan.refusal !== undefined) lines.push(`  A release would say: ${plan.refusal}`);
  for (const warning of plan.warnings ?? []) lines.push(warn(asTyped(`  Warning: ${warning}`)));
  if (plan.waysOut) lines.push(...remediesText(plan.waysOut));
  if (plan.errors.length > 0)
    lines.push(
      '',
      table(
        ['answer', 'cells', '95 % error'],
        plan.errors.slice(0, 40).map((e) => [e.name, `${e.cells}`, expectedErrorText(e)]),
      ),
    );
  if (plan.errors.length > 40) lines.push(dim(`… and ${plan.errors.length - 40} more`));
  if (plan.whatIf.length > 0)
    lines.push(
      '',
      bold('Privacy loss if the declared ties were too weak'),
      table(
        ['if', 'epsilon'],
        plan.whatIf.map((w) => [w.change, numberText(w.leakage)]),
      ),
    );
  lines.push(
    '',
    bold('What is promised'),
    ...plan.guarantee.sentences.map((s) => `  ${s}`),
    ...plan.guarantee.assumptions.map((s) => `  ${dim('Assumption:')} ${s}`),
  );
  return lines.join('\n');
}
