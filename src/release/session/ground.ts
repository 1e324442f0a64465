import { sha256 } from '../../base/platform/hash.js';
import { isAbsolute } from '../../base/platform/paths.js';
import { modelFile } from '../../data/ties/kinds.js';
import { dataSource, placeOfData } from '../../policy/data-source.js';
import { fullPaths } from '../../policy/full-path.js';
import type { Dependence, Policy } from '../../policy/policy.js';
import { type Axis, type Counting, columnsOfKey, countedText, type Measure, stableText } from '../../query/count/measure.js';
import { readingText } from './request-key.js';

const hash = (text: string): string => sha256(text);

/**
 * Digest of the rows that answers refer to: same rows of the same files, whatever the budget and quotas. Files are identified by place,
 * not by content (docs/explanation/decisions/0008): changed content shows in how well the answers agree.
 */
export const groundOf = (policy: Policy): string =>
  onFiles(policy, [dataSource(policy)], (file) => (isAbsolute(file) ? placeOfData(file, policy) : file));

/** Tests whether a recorded answer is on the ground of a policy; version 0.2 wrote full paths. */
export function onGroundOf(policy: Policy): (ground: string | undefined) => boolean {
  const { source, table = null } = policy.data;
  const before = fullPaths(policy).map((path) => onFiles(policy, [path(source), table], path));
  const grounds = new Set([groundOf(policy), ...before]);
  return (ground) => ground !== undefined && grounds.has(ground);
}

function onFiles(policy: Policy, source: readonly unknown[], place: (file: string) => string): string {
  const { data, protect, dependence, relations, population } = policy;
  return hash(
    stableText([
      ...source,
      data.encoding ?? null,
      protect.secret,
      protect.unit ?? null,
      // The kept rows of a person depend on all declared columns, and under pairs on their number.
      protect.secret === 'person'
        ? [population, protect.maxRows ?? null, protect.pairs !== undefined, data.links ?? null, readingText(policy)]
        : null,
      // Ties may leave records out.
      dependence.map((tie) => placed(tie, place)),
      [...relations.values()].map((relation) => [relation.name, place(relation.table)]),
    ]),
  );
}

/** A declared tie with the place of its model file. */
function placed(tie: Dependence, place: (file: string) => string): Dependence {
  const model = modelFile(tie);
  return model ? { ...tie, [model.key]: place(model.file) } : tie;
}

/** A whole table of rows by columns, without a filter: the columns, and how their cells are read. */
export interface WholeTable {
  readonly by: readonly string[];
  readonly of: string;
}

/** The whole table that a measure counts, if it is one. */
export function wholeTable(measure: Measure, policy: Policy): WholeTable | undefined {
  const { counting } = measure;
  const whole =
    measure.mechanism === 'additive' &&
    !measure.countedView &&
    !measure.published &&
    counting.filter.length === 0 &&
    counting.value.kind === 'one' &&
    !counting.derived;
  return whole && isWhole(counting.keys) ? tableBy(policy, counting.keys) : undefined;
}
const isWhole = (keys: Counting['keys']): keys is readonly Axis[] =>
  keys.every((key) => key.kind === 'bin' || (key.kind === 'code' && key.missing === 'cell'));

/** Two tables with one text count the same rows in the same cells. */
export const tableBy = (policy: Policy, keys: readonly Axis[]): WholeTable => ({
  by: keys.flatMap(columnsOfKey),
  of: hash(
    countedText(
      [{ counting: { filter: [], keys, value: { kind: 'one' } } as Counting, mechanism: 'additive' } as Measure],
      policy,
    ),
  ),
});
