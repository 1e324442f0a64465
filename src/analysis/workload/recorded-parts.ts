import type { Policy } from '../../policy/policy.js';
import { distributionFromText, varianceOf } from '../../privacy/mechanism/distribution.js';
import type { LayoutPart } from '../../privacy/mechanism/residual/layout.js';
import type { Axis } from '../../query/count/measure.js';
import type { SpendEntry } from '../../release/ledger/ledger.js';
import type { RecordedBatchAnswer as RecordedBatch } from '../../release/session/batch.js';
import { onGroundOf, tableBy } from '../../release/session/ground.js';
import { axesOf, type WorkloadColumn } from './axes.js';
import type { PartReading } from './estimate.js';
import type { RecordedWorkload } from './release.js';

/** A recorded answer of the ledger, read. */
export interface AnsweredEntry {
  readonly entry: SpendEntry;
  readonly answer: Partial<RecordedBatch> & { readonly result?: Partial<RecordedWorkload> };
}

export interface RecordedPart extends PartReading {
  readonly entry: number;
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

const exactVariance = 1e-12;

export function recordedEvidence(
  policy: Policy,
  columns: readonly WorkloadColumn[],
  answers: readonly AnsweredEntry[],
): RecordedEvidence {
  const isOn = onGroundOf(policy);
  const evidence = { parts: [] as RecordedPart[], unused: [] as RecordedEvidence['unused'][number][], rows: [] as number[] };
  for (const { entry, answer: text } of answers) {
    const on = text.told?.ground ?? text.result?.ground;
    const partsIn = () => (text.told ? fromBatch(policy, columns, text) : fromWorkload(policy, columns, text.result!));
    const found = !isOn(on) ? [] : partsIn();
    evidence.parts.push(...found.map((own) => ({ entry: entry.sequence, ...own })));
    if (found.length > 0 && text.result?.rows !== undefined) evidence.rows.push(text.result.rows);
    if (found.length > 0) continue;
    evidence.unused.push({ entry: entry.sequence, label: entry.label, why: whyUnused(on, isOn) });
  }
  return evidence;
}

function whyUnused(on: string | undefined, isOn: (ground: string | undefined) => boolean): string {
  if (on === undefined) return 'it tells no whole tables, or was recorded before such tables were marked';
  return isOn(on)
    ? 'none of its tables goes by these columns alone, in these cells'
    : 'it is about other rows: the source, the secret or the ties were declared otherwise';
}

type Own = Omit<RecordedPart, 'entry'>;

/** Counts, histograms and crosstabs of a batch of queries: a column is on one axis there. */
function fromBatch(
  policy: Policy,
  columns: readonly WorkloadColumn[],
  { told: description, noisy }: AnsweredEntry['answer'],
): readonly Own[] {
  const flat = new Map(columns.filter(isFlat).map((column) => [column.name, column]));
  return description!.tables.flatMap((table, k): readonly Own[] => {
    const own = table?.by.map((name) => flat.get(name));
    const { values, noise } = noisy!.measures[k]!;
    if (!table || !values || !own?.every((column) => column !== undefined)) return [];
    const keys = own.map(({ key }) => key as Axis);
    if (tableBy(policy, keys).of !== table.of) return [];
    const distribution = distributionFromText(noise);
    return [
      {
        ...partOn(
          own.map(({ first, sizes }) => ({ axis: first, size: sizes[0]! })),
          values,
          { scale: 1n, centred: false },
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
    return [
      {
        ...partOn(to, part.told, { scale: BigInt(part.scale), centred: part.centred }),
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

/** A recorded table with its axes in increasing order. */
function partOn(
  to: readonly { readonly axis: number; readonly size: number }[],
  recorded: readonly string[],
  more: Pick<LayoutPart, 'scale' | 'centred'>,
): Pick<RecordedPart, 'part' | 'numbers'> {
  const strides = to.map((_, k) => to.slice(k + 1).reduce((n, { size }) => n * size, 1));
  const sorted = [...to.keys()].sort((a, b) => to[a]!.axis - to[b]!.axis);
  let cells = [0];
  for (const k of sorted) cells = cells.flatMap((base) => Array.from({ length: to[k]!.size }, (_, p) => base + p * strides[k]!));
  return { part: { axes: sorted.map((k) => to[k]!.axis), ...more }, numbers: cells.map((cell) => Number(recorded[cell])) };
}
