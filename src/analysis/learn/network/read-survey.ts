import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { declaredCategory, declaredColumn, isWeight } from '../../../policy/domain.js';
import type { Policy } from '../../../policy/policy.js';
import { resolutionOf } from '../../../privacy/dependence/model/resolution.js';
import { columnLevels, singleValueLevels, type ValueLevels } from '../../../privacy/dependence/model/value-levels.js';
import { bindBatch } from '../../../query/bind.js';
import { columnView } from '../../../query/count/column-view.js';
import { columnsRead } from '../../../query/count/measure.js';
import { keyRows } from '../../../query/count/read-rows.js';
import { compileStream } from '../../../query/count/stream.js';
import { levelsOfKey } from '../../../query/key-levels.js';
import { groupKeyOf } from '../../../query/keys.js';
import { oneRowEach, refuseTooManyRows } from '../public-size.js';
import type { CodedTable } from './coded.js';

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

export interface SurveyRows extends SurveyLevels {
  readonly table: Exact<CodedTable>;
}

/** Codes of a row, and their copy when parts are joined. */
const bytesPerRow = (columns: number): number => 4 * columns;

/** Passes the rows to a judge and returns its result: unpaid, for the steward only, never to be published. */
export async function judgeRows<T>(engine: Snapshot, policy: Policy, judge: (table: CodedTable) => Promise<T>): Promise<T> {
  return judge((await readSurvey(engine, policy)).table.open());
}

/**
 * Answers of every row as codes, for analyses of whole rows: held in memory, or refused with the size. Read through the policy as a
 * histogram of the column would be.
 */
export async function readSurvey(
  engine: Snapshot,
  policy: Policy,
  names: readonly string[] = networkColumns(policy),
): Promise<SurveyRows> {
  refuseTooManyRows((await engine.size()).open(), bytesPerRow(names.length), engine.room);
  const keys = names.map((name) => groupKeyOf(policy, name));
  const { measures } = bindBatch({ queries: names.map((column) => ({ kind: 'histogram', column })) }, policy);
  const source = { dialect: engine.dialect, policy, columns: await engine.columns() };
  const { statement, columns } = compileStream(columnsRead(measures), source);
  const views = new Map(columns.map((name) => [name, columnView(policy.columns.get(name)!)]));
  const fillers = keys.map(({ key }) => {
    if (key.kind === 'options') throw new RangeError('a multi-select column has no single answer');
    return keyRows(policy, views, key);
  });
  const blocks: Uint16Array[][] = names.map(() => []);
  let rows = 0;
  for await (const part of engine.stream(statement)) {
    const chunk = part.open();
    columns.forEach((name, c) => {
      views.get(name)!.load(chunk.columns[c]!, chunk.rows);
    });
    const place = new Int32Array(chunk.rows);
    fillers.forEach((fill, c) => {
      fill(place, chunk.rows);
      blocks[c]!.push(Uint16Array.from(place));
    });
    rows += chunk.rows;
  }
  const joined = blocks.map((list) => {
    const codes = new Uint16Array(rows);
    let at = 0;
    for (const block of list) {
      codes.set(block, at);
      at += block.length;
    }
    return codes;
  });
  const levels = keys.map(({ labels }) => labels.length);
  return {
    ...surveyLevels(policy, names),
    table: new Exact({ names, levels, rows, columns: joined }),
  };
}
