import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import type { Exact } from '../../../data/engine/exact.js';
import { declaredCategory, declaredColumn, isWeight } from '../../../policy/domain.js';
import type { Policy } from '../../../policy/policy.js';
import { resolutionOf } from '../../../privacy/dependence/model/resolution.js';
import { columnLevels, singleValueLevels, type ValueLevels } from '../../../privacy/dependence/model/value-levels.js';
import { bindBatch } from '../../../query/bind.js';
import { levelsOfKey } from '../../../query/key-levels.js';
import { groupKeyOf } from '../../../query/keys.js';
import { oneRowEach, refuseTooManyRows } from '../public-size.js';
import type { CodedTable } from './coded.js';
import { bytesPerRow, codedColumns, readCoded } from './read-coded.js';

/** Columns a network can include: declared, with one answer per row. */
export function networkColumns(policy: Policy): readonly string[] {
  const names = [...policy.columns.values()]
    .filter((c) => !isWeight(c) && c.type !== 'multi' && c.name !== policy.protect.unit)
    .map((c) => c.name);
  if (names.length === 0)
    throw new Fault(
      'POLICY_INVALID',
      'The policy declares no column a network could speak about.',
      'Declare category or number columns.',
    );
  return names;
}

/** Paid learning counts one row per person. */
export function refuseRepeatedRows(policy: Policy): void {
  if (policy.protect.secret === 'edge' || !oneRowEach(policy))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A model of the answers can be learned privately only when one row is one person.',
      'Protect rows or answers, or declare maxRows: 1, without pairs.',
    );
}

/** Public values behind the codes of a coded table. Made from the keys that code the rows, so that the two cannot differ. */
export interface SurveyLevels {
  readonly names: readonly string[];
  /** The shown levels of each column, "(missing)" last. */
  readonly values: readonly (readonly string[])[];
  readonly levels: readonly ValueLevels[];
  /** Digest of these levels and of the values declared for the columns, including public columns that form strata. */
  readonly resolution: string;
}

export function surveyLevels(policy: Policy, names: readonly string[], known: readonly string[] = []): SurveyLevels {
  const keys = names.map((name) => groupKeyOf(policy, name));
  const levels = keys.map(({ key }) => levelsOfKey(policy, key));
  const refuse = (message: string, hint: string): Fault => new Fault('INTERNAL', message, hint);
  const all = [
    ...names.map((name, c) => columnLevels(declaredColumn(policy, name), levels[c]!, refuse)),
    ...known
      .map((name) => declaredCategory(policy, name))
      .map((column) => columnLevels(column, singleValueLevels(column), refuse)),
  ];
  return { names, values: keys.map(({ labels }) => labels), levels, resolution: resolutionOf(all, refuse).digest };
}

/** Passes the rows to a judge and returns its result: unpaid, for the steward only, never to be published. */
export async function judgeRows<T>(engine: Snapshot, policy: Policy, judge: (table: CodedTable) => Promise<T>): Promise<T> {
  return judge((await readSurvey(engine, policy)).open());
}

/**
 * Answers of every row as codes, for analyses of whole rows: held in memory, or refused with the size. Read through the policy as a
 * histogram of the column would be.
 */
export async function readSurvey(
  engine: Snapshot,
  policy: Policy,
  names: readonly string[] = networkColumns(policy),
): Promise<Exact<CodedTable>> {
  refuseTooManyRows((await engine.size()).open(), bytesPerRow(names.length), engine.room);
  bindBatch({ queries: names.map((column) => ({ kind: 'histogram', column })) }, policy);
  const columns = names.map((name) => declaredColumn(policy, name));
  return readCoded(engine, policy, codedColumns(policy, columns));
}
