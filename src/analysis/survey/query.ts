import { Fault } from '../../base/errors.js';
import { tieKindColumns } from '../../data/ties/kinds.js';
import { isDesignName, isDeviceName, isIdName, isTimingName } from '../../policy/column-name.js';
import { isWeight } from '../../policy/domain.js';
import { type ColumnSelection, chooseNames } from '../../policy/name-pattern.js';
import type { Column, Policy } from '../../policy/policy.js';
import type { Batch } from '../../query/query.js';

/** Declared columns of a survey, and those left out that could be selected. */
export interface SurveyQuestions {
  readonly columns: readonly Column[];
  readonly leftOut: readonly string[];
}

/**
 * Weights and the unit column are never questions. Group keys, ids, timings and device data are selected by their exact names only,
 * the rest by names and patterns.
 */
export function surveyQuestions(policy: Policy, choice: ColumnSelection = {}): SurveyQuestions {
  const all = [...policy.columns.values()].filter((column) => !isWeight(column) && column.name !== policy.protect.unit);
  const keys = new Set(
    policy.dependence.flatMap((d) =>
      tieKindColumns(d)
        .filter(({ read }) => read === 'name')
        .map(({ column }) => column),
    ),
  );
  const named = new Set(choice.columns);
  const isQuestion = (name: string) =>
    named.has(name) || !(keys.has(name) || isIdName(name) || isTimingName(name) || isDeviceName(name) || isDesignName(name));
  const names = all.map(({ name }) => name);
  const chosen = chooseNames(names, choice, 'Questions of the survey');
  const byName = new Map(all.map((column) => [column.name, column]));
  const columns = chosen.filter(isQuestion).map((name) => byName.get(name)!);
  if (names.length === 0)
    throw new Fault(
      'QUERY_INVALID',
      'The policy declares no column to ask about.',
      'Write the questions under columns:, as docs/reference/policy.md shows.',
    );
  if (columns.length === 0)
    throw new Fault(
      'QUERY_INVALID',
      'None of the declared columns is left to ask about.',
      'Keys of groups, ids, timings and columns about devices are left out unless you name them: --columns a,b.',
    );
  return { columns, leftOut: chosen.filter((name) => !isQuestion(name)) };
}

/** Selection of survey questions, and the weight by which answers count. */
export interface SurveySelection extends ColumnSelection {
  readonly weight?: string;
}

/** One histogram per question. Those in `merged` are derived from the joint histogram of their cluster. */
export function surveyBatch(policy: Policy, merged: ReadonlySet<string> = new Set(), choice: SurveySelection = {}): Batch {
  return {
    queries: surveyQuestions(policy, choice).columns.map(({ name }) => ({
      kind: 'histogram',
      column: name,
      ...(merged.has(name) && { merged: true as const }),
      ...(choice.weight !== undefined && { weight: choice.weight }),
    })),
  };
}
