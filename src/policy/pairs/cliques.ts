import { blockAt, type ColumnPairs } from './pairs.js';

/** Range of positions of one kind, both ends included. */
export interface ValueRun<K> {
  readonly from: number;
  readonly to: number;
  readonly kind: K;
}

/**
 * Sets of kinds such that two kinds have a declared pair exactly if some set holds both; a set of one kind means nothing. Pieces
 * are sorted and cover all positions; `missing` is the kind of no answer.
 */
export function* pairCliques<K>(
  pairs: ColumnPairs | undefined,
  pieces: readonly ValueRun<K>[],
  missing: K,
): Iterable<ReadonlySet<K>> {
  if (pairs === undefined) {
    yield new Set([...pieces.map(({ kind }) => kind), missing]);
    return;
  }
  const none = pairs.missing === 'any' ? [missing] : [];
  for (const set of ofAnswers(pairs, joined(pieces))) yield new Set([...set, ...none]);
}

/** Neighbours of one kind in one piece. */
function joined<K>(pieces: readonly ValueRun<K>[]): readonly ValueRun<K>[] {
  const out: ValueRun<K>[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (last?.kind === piece.kind && last.to + 1 === piece.from) out[out.length - 1] = { ...last, to: piece.to };
    else out.push(piece);
  }
  return out;
}

function* ofAnswers<K>(pairs: ColumnPairs, pieces: readonly ValueRun<K>[]): Iterable<Iterable<K>> {
  if (pairs.form === 'same') for (const { kind } of pieces) yield [kind];
  else if (pairs.form === 'steps') yield* windows(pairs.steps, pieces);
  else if (pairs.form === 'graph') {
    const kindAt = kindsOf(pieces, pairs.size);
    for (const [p, others] of pairs.joined.entries()) {
      yield [kindAt[p]!];
      for (const q of others) if (q > p) yield [kindAt[p]!, kindAt[q]!];
    }
  } else yield* blocks(pairs, pieces);
}

/** A position within `steps` of the end of a piece is as near to everything in between. */
function* windows<K>(steps: number, pieces: readonly ValueRun<K>[]): Iterable<Iterable<K>> {
  for (const [i, { kind, to }] of pieces.entries()) {
    const set = new Set([kind]);
    for (let j = i + 1; j < pieces.length && pieces[j]!.from - to <= steps; j++) set.add(pieces[j]!.kind);
    yield set;
  }
}

function* blocks<K>(
  pairs: Extract<ColumnPairs, { form: 'blocks' | 'ranges' }>,
  pieces: readonly ValueRun<K>[],
): Iterable<Iterable<K>> {
  const sets = new Map<number, Set<K>>();
  const put = (block: number, kind: K) => sets.set(block, (sets.get(block) ?? new Set<K>()).add(kind));
  if (pairs.form === 'ranges')
    for (const { from, to, kind } of pieces)
      for (let b = blockAt(pairs.starts, from); b <= blockAt(pairs.starts, to); b++) put(b, kind);
  else for (const [p, kind] of kindsOf(pieces, pairs.size).entries()) put(pairs.blockOf[p]!, kind);
  yield* sets.values();
}

function kindsOf<K>(pieces: readonly ValueRun<K>[], size: number): readonly K[] {
  const kinds = new Array<K>(size);
  for (const { from, to, kind } of pieces) kinds.fill(kind, from, to + 1);
  return kinds;
}
