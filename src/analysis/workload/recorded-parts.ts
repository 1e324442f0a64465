import type { Policy } from '../../policy/policy.js';
import { distributionFromText, varianceOf } from '../../privacy/mechanism/distribution.js';
import type { LayoutPart } from '../../privacy/mechanism/residual/layout.js';
import type { Axis } from '../../query/count/measure.js';
import type { SpendEntry } from '../../release/ledger/ledger.js';
import type { RecordedBatchAnswer as RecordedBatch } from '../../release/session/batch.js';
import { onGroundOf, tableBy } from '../../release/session/ground.js';
import { axesOf, type WorkloadColumn } from './axes.js';
import type { RecordedWorkload } from './release.js';

/** A recorded answer in the ledger. */
export interface AnsweredEntry {
  readonly entry: SpendEntry;
  readonly answer: string;
}

/** Recorded noisy numbers of a table over the axes of a workload. */
export interface RecordedPart {
  readonly entry: number;
  readonly part: LayoutPart;
  readonly numbers: readonly number[];
  /** Variance of the noise on each of them. */
  readonly variance: number;
  /** True if that noise may be Laplace noise. */
  readonly wide: boolean;
}

/** Evidence in the record about tables over these columns; and the reasons why other entries were not used. */
export interface RecordedEvidence {
  readonly parts: readonly RecordedPart[];
  readonly unused: readonly { readonly entry: number; readonly label: string; readonly why: string }[];
  /** Numbers of rows that used entries state: the latest, and the earliest if it differs. */
  readonly rows: readonly number[];
}

type RecordedText = Partial<RecordedBatch> & { readonly result?: Partial<RecordedWorkload> };

/** Variance assigned to numbers released without noise. */
const exactVariance = 1e-12;

export function recordedEvidence(
  policy: Policy,
  columns: readonly WorkloadColumn[],
  answers: readonly AnsweredEntry[],
): RecordedEvidence {
  const isOn = onGroundOf(policy);
  const evidence = { parts: [] as RecordedPart[], unused: [] as RecordedEvidence['unused'][number][], rows: [] as number[] };
  for (const { entry, answer } of answers) {
    const text = JSON.parse(answer) as RecordedText;
    const on = text.told?.ground ?? text.result?.ground;
    const found = !isOn(on) ? [] : text.told ? fromBatch(policy, columns, text) : fromWorkload(policy, columns, text.result!);
    evidence.parts.push(...found.map((own) => ({ entry: entry.sequence, ...own })));
    if (found.length > 0 && text.result?.rows !== undefined) evidence.rows.push(text.result.rows);
    if (found.length > 0) continue;
    const why =
      on === undefined
        ? 'it tells no whole tables, or was recorded before such tables were marked'
        : !isOn(on)
          ? 'it is about other rows: the source, the secret or the ties were declared otherwise'
          : 'none of its tables goes by these columns alone, in these cells';
    evidence.unused.push({ entry: entry.sequence, label: entry.label, why });
  }
  return evidence;
}

type Own = Omit<RecordedPart, 'entry'>;

/** Counts, histograms and crosstabs of a batch of queries: a column is on one axis there. */
function fromBatch(
  policy: Policy,
  columns: readonly WorkloadColumn[],
  { told: description, noisy }: RecordedText,
): readonly Own[] {
  const flat = new Map(columns.filter(isFlat).map((column) => [column.name, column]));
  return description!.tables.flatMap((table, k): readonly Own[] => {
    const own = table?.by.map((name) => flat.get(name));
    const { values, noise } = noisy!.measures[k]!;
    if (!table || !values || !own?.every((column) => column !== undefined)) return [];
    if (
      tableBy(
        policy,
        own.map(({ key }) => key as Axis),
      ).of !== table.of
    )
      return [];
    const distribution = distributionFromText(noise);
    const order = own.map(({ first }) => first);
    return [
      {
        part: { axes: [...order].sort((a, b) => a - b), scale: 1n, centred: false },
        numbers: axesInOrder(
          values.map(Number),
          own.map(({ sizes }) => sizes[0]!),
          order,
        ),
        variance: Math.max(exactVariance, varianceOf(distribution)),
        wide: distribution.kind === 'laplace',
      },
    ];
  });
}
const isFlat = ({ sizes, at }: WorkloadColumn): boolean => sizes.length === 1 && at.every((place, k) => place === k);

/** Parts of another workload with the same layout of columns on axes. */
function fromWorkload(
  policy: Policy,
  columns: readonly WorkloadColumn[],
  { parts, columns: own, variance, wide }: Partial<RecordedWorkload>,
): readonly Own[] {
  if (!parts || !own || variance === undefined) return [];
  const axes = new Map<number, { readonly axis: number; readonly size: number }>();
  let from = 0;
  for (const column of own) {
    const here = columns.find(({ name }) => name === column.name);
    if (here && isLaidOut(policy, here, column))
      for (const [k, axis] of axesOf(here).entries()) axes.set(from + k, { axis, size: here.sizes[k]! });
    from += column.sizes.length;
  }
  return parts.flatMap((part): readonly Own[] => {
    const to = part.axes.map((axis) => axes.get(axis));
    if (!to.every((x) => x !== undefined)) return [];
    const order = to.map(({ axis }) => axis);
    return [
      {
        part: { axes: [...order].sort((a, b) => a - b), scale: BigInt(part.scale), centred: part.centred },
        numbers: axesInOrder(
          part.told.map(Number),
          to.map(({ size }) => size),
          order,
        ),
        variance: Math.max(exactVariance, variance),
        wide: (wide ?? 0) > 2,
      },
    ];
  });
}
export const isLaidOut = (
  policy: Policy,
  here: WorkloadColumn,
  there: NonNullable<RecordedWorkload['columns']>[number],
): boolean =>
  there.of === tableBy(policy, [here.key as Axis]).of &&
  there.sizes.join() === here.sizes.join() &&
  there.at.join() === here.at.join();

/** A table with its axes in increasing order. */
function axesInOrder(values: readonly number[], own: readonly number[], order: readonly number[]): readonly number[] {
  const sorted = order.map((_, k) => k).sort((a, b) => order[a]! - order[b]!);
  if (sorted.every((k, i) => k === i)) return values;
  const strides = own.map((_, k) => own.slice(k + 1).reduce((n, m) => n * m, 1));
  let cells = [0];
  for (const k of sorted) cells = cells.flatMap((base) => Array.from({ length: own[k]! }, (_, p) => base + p * strides[k]!));
  return cells.map((cell) => values[cell]!);
}
