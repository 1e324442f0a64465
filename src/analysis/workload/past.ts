import type { Policy } from '../../policy/policy.js';
import { lawFromText, varianceOf } from '../../privacy/mechanism/law.js';
import type { Part } from '../../privacy/mechanism/residual/part.js';
import type { Axis } from '../../query/count/measure.js';
import type { Entry } from '../../release/ledger/ledger.js';
import type { Recorded as RecordedBatch } from '../../release/session/batch.js';
import { onGroundOf, tableBy } from '../../release/session/ground.js';
import { axesOf, type WorkloadColumn } from './axes.js';
import type { Recorded } from './release.js';

/** A recorded answer in the ledger. */
export interface Kept {
  readonly entry: Entry;
  readonly answer: string;
}

/** Recorded noisy numbers of a table over the axes of a workload. */
export interface Heard {
  readonly entry: number;
  readonly part: Part;
  readonly told: readonly number[];
  /** Variance of the noise on each of them. */
  readonly variance: number;
  /** True if that noise may be Laplace noise. */
  readonly wide: boolean;
}

/** Evidence in the record about tables over these columns; and the reasons why other entries were not used. */
export interface Past {
  readonly heard: readonly Heard[];
  readonly unused: readonly { readonly entry: number; readonly label: string; readonly why: string }[];
  /** Numbers of rows that used entries state: the latest, and the earliest if it differs. */
  readonly rows: readonly number[];
}

type Text = Partial<RecordedBatch> & { readonly result?: Partial<Recorded> };

/** Variance assigned to numbers released without noise. */
const exactly = 1e-12;

export function heardIn(policy: Policy, columns: readonly WorkloadColumn[], kept: readonly Kept[]): Past {
  const isOn = onGroundOf(policy);
  const past = { heard: [] as Heard[], unused: [] as Past['unused'][number][], rows: [] as number[] };
  for (const { entry, answer } of kept) {
    const text = JSON.parse(answer) as Text;
    const on = text.told?.ground ?? text.result?.ground;
    const found = !isOn(on) ? [] : text.told ? fromBatch(policy, columns, text) : fromWorkload(policy, columns, text.result!);
    past.heard.push(...found.map((own) => ({ entry: entry.sequence, ...own })));
    if (found.length > 0 && text.result?.rows !== undefined) past.rows.push(text.result.rows);
    if (found.length > 0) continue;
    const why =
      on === undefined
        ? 'it tells no whole tables, or was recorded before such tables were marked'
        : !isOn(on)
          ? 'it is about other rows: the source, the secret or the ties were declared otherwise'
          : 'none of its tables goes by these columns alone, in these cells';
    past.unused.push({ entry: entry.sequence, label: entry.label, why });
  }
  return past;
}

type Own = Omit<Heard, 'entry'>;

/** Counts, histograms and crosstabs of a batch of queries: a column is on one axis there. */
function fromBatch(policy: Policy, columns: readonly WorkloadColumn[], { told, noisy }: Text): readonly Own[] {
  const flat = new Map(columns.filter(isFlat).map((column) => [column.name, column]));
  return told!.tables.flatMap((table, k): readonly Own[] => {
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
    const law = lawFromText(noise);
    const order = own.map(({ first }) => first);
    return [
      {
        part: { axes: [...order].sort((a, b) => a - b), scale: 1n, centred: false },
        told: turned(
          values.map(Number),
          own.map(({ sizes }) => sizes[0]!),
          order,
        ),
        variance: Math.max(exactly, varianceOf(law)),
        wide: law.kind === 'laplace',
      },
    ];
  });
}
const isFlat = ({ sizes, at }: WorkloadColumn): boolean => sizes.length === 1 && at.every((place, k) => place === k);

/** Parts of another workload with the same layout of columns on axes. */
function fromWorkload(
  policy: Policy,
  columns: readonly WorkloadColumn[],
  { parts, columns: own, variance, wide }: Partial<Recorded>,
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
        told: turned(
          part.told.map(Number),
          to.map(({ size }) => size),
          order,
        ),
        variance: Math.max(exactly, variance),
        wide: (wide ?? 0) > 2,
      },
    ];
  });
}
export const isLaidOut = (policy: Policy, here: WorkloadColumn, there: NonNullable<Recorded['columns']>[number]): boolean =>
  there.of === tableBy(policy, [here.key as Axis]).of &&
  there.sizes.join() === here.sizes.join() &&
  there.at.join() === here.at.join();

/** A table with its axes in increasing order. */
function turned(values: readonly number[], own: readonly number[], order: readonly number[]): readonly number[] {
  const sorted = order.map((_, k) => k).sort((a, b) => order[a]! - order[b]!);
  if (sorted.every((k, i) => k === i)) return values;
  const strides = own.map((_, k) => own.slice(k + 1).reduce((n, m) => n * m, 1));
  let cells = [0];
  for (const k of sorted) cells = cells.flatMap((base) => Array.from({ length: own[k]! }, (_, p) => base + p * strides[k]!));
  return cells.map((cell) => values[cell]!);
}
