import type { Dependence } from '../../policy/policy.js';
import { columnsTie } from './columns.js';
import { factorsTie } from './factors.js';
import { gaussianTie } from './gaussian.js';
import { groupsTie } from './groups.js';
import type { TieColumn, TieKind } from './kind.js';
import { relationTie } from './relation.js';
import { sequenceTie } from './sequence.js';

/** The registry: one line per kind. */
// biome-ignore format: one line per kind
export const tieKinds = [
  groupsTie,
  relationTie,
  columnsTie,
  sequenceTie,
  gaussianTie,
  factorsTie,
] as const satisfies readonly TieKind[];

export type TieKinds = readonly TieKind[];
/** Declarations of the registered kinds, discriminated by `kind`. */
export type DeclaredTie = ReturnType<(typeof tieKinds)[number]['declare']>;

export function tieKindOf(d: Dependence, kinds: TieKinds = tieKinds): TieKind {
  const found = kinds.find(({ kind }) => kind === d.kind);
  if (!found) throw new RangeError(`no kind of tie is called ${d.kind}`);
  return found;
}

export const tieKindColumns = (d: Dependence, kinds: TieKinds = tieKinds): readonly TieColumn[] =>
  tieKindOf(d, kinds).columns?.(d) ?? [];

/** The key and path of the model file a dependence rests on, if any. */
export function modelFile(
  d: Dependence,
  kinds: TieKinds = tieKinds,
): { readonly key: string; readonly file: string } | undefined {
  const key = tieKindOf(d, kinds).file;
  return key === undefined ? undefined : { key, file: (d as unknown as Record<string, string>)[key]! };
}
