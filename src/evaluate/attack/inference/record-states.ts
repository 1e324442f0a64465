/** Possible states of a few records, each a row for every record, with the attacker's prior. Known totals rule states out. */
export interface RecordStates {
  readonly states: readonly (readonly number[])[];
  readonly weights: Float64Array;
}

/** Records assumed independent, except for totals that everybody knows: states that contradict them are excluded. */
export function independentGiven(
  beliefs: readonly (readonly number[])[],
  isPossible: (state: readonly number[]) => boolean,
): RecordStates {
  const states = beliefs
    .reduce<readonly (readonly number[])[]>(
      (all, own) => all.flatMap((state) => own.flatMap((p, row) => (p > 0 ? [[...state, row]] : []))),
      [[]],
    )
    .filter(isPossible);
  return { states, weights: Float64Array.from(states, (state) => state.reduce((p, row, j) => p * beliefs[j]![row]!, 1)) };
}

/** One released number: for each of its outcomes the log probability, state by state. */
export type ReleasedNumber = readonly Float64Array[];

/** Multiple of epsilon that is promised between two rows; Infinity if they may be distinguished. */
export type PromisedDistance = (a: number, b: number) => number;

/** A target record and a set of known records: states in the same cell agree in the target's row and in the known rows. */
interface View {
  readonly cell: Int32Array;
  readonly before: Float64Array;
  /** Pairs of cells that differ only in the target's row, with the multiple of epsilon promised between them. */
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly steps: Float64Array;
}

function viewsOf({ states, weights }: RecordStates, promised: PromisedDistance): readonly View[] {
  const records = states[0]?.length ?? 0;
  const rows = 1 + states.reduce((most, state) => Math.max(most, ...state), 0);
  const views: View[] = [];
  for (let i = 0; i < records; i++)
    for (let known = 0; known < 1 << records; known++) {
      if (known & (1 << i)) continue;
      const groups = new Map<number, Map<number, number>>();
      let cells = 0;
      const cell = Int32Array.from(states, (state) => {
        let seen = 0;
        for (let j = 0; j < records; j++) if (known & (1 << j)) seen = seen * rows + state[j]!;
        const group = groups.get(seen) ?? new Map<number, number>();
        groups.set(seen, group);
        const at = group.get(state[i]!) ?? cells++;
        group.set(state[i]!, at);
        return at;
      });
      const before = new Float64Array(cells);
      for (let s = 0; s < cell.length; s++) before[cell[s]!]! += weights[s]!;
      const compared: (readonly [number, number, number])[] = [];
      for (const group of groups.values()) {
        const list = [...group];
        for (let k = 1; k < list.length; k++)
          for (let l = 0; l < k; l++) {
            const steps = promised(list[k]![0], list[l]![0]);
            if (Number.isFinite(steps)) compared.push([list[k]![1], list[l]![1], steps]);
          }
      }
      if (compared.length > 0)
        views.push({
          cell,
          before,
          first: Int32Array.from(compared, ([a]) => a),
          second: Int32Array.from(compared, ([, b]) => b),
          steps: Float64Array.from(compared, ([, , steps]) => steps),
        });
    }
  return views;
}

export interface Search {
  /** Beyond this many, outcomes are not enumerated but searched by coordinate ascent: number by number, from several starts. */
  readonly outcomes: number;
  readonly starts: number;
  readonly random: () => number;
}

/**
 * Largest change of the log odds between two rows of one record, over the promised epsilons: over all records,
 * sets of known others, and outcomes. If outcomes are searched and not enumerated, the result is a lower bound.
 */
export function largestGain(
  few: RecordStates,
  evidence: readonly ReleasedNumber[],
  promised: PromisedDistance,
  { outcomes, starts, random }: Search,
): number {
  const views = viewsOf(few, promised);
  if (views.length === 0) return 0;
  const numbers = evidence.filter(({ length }) => length > 1);
  const all = numbers.reduce((n, { length }) => n * length, 1);
  let most = 0;
  if (all > outcomes) for (let k = 0; k < starts; k++) most = Math.max(most, climbed(few, numbers, views, random));
  else for (const logs of each(few, numbers, all)) most = Math.max(most, gainOf(few, logs, views));
  return most;
}

/** Log probability of every outcome, state by state. */
function* each({ states }: RecordStates, numbers: readonly ReleasedNumber[], outcomes: number): Iterable<Float64Array> {
  for (let o = 0; o < outcomes; o++) {
    const logs = new Float64Array(states.length);
    let rest = o;
    for (const list of numbers) {
      addTo(logs, list[rest % list.length]!);
      rest = Math.floor(rest / list.length);
    }
    yield logs;
  }
}

function climbed(few: RecordStates, numbers: readonly ReleasedNumber[], views: readonly View[], random: () => number): number {
  const at = numbers.map(({ length }) => Math.floor(random() * length));
  const evidence = () => {
    const logs = new Float64Array(few.states.length);
    for (const [k, list] of numbers.entries()) addTo(logs, list[at[k]!]!);
    return logs;
  };
  let most = gainOf(few, evidence(), views);
  for (let moved = true; moved; ) {
    moved = false;
    for (const [k, list] of numbers.entries()) {
      let kept = at[k]!;
      for (let other = 0; other < list.length; other++) {
        if (other === kept) continue;
        at[k] = other;
        const found = gainOf(few, evidence(), views);
        if (found > most * (1 + 1e-12)) [most, kept, moved] = [found, other, true];
      }
      at[k] = kept;
    }
  }
  return most;
}

function addTo(sum: Float64Array, part: Float64Array): void {
  for (let s = 0; s < sum.length; s++) sum[s]! += part[s]!;
}

/** Beyond this a likelihood could leave the range of doubles, and what is unlikely would look impossible. */
const widest = 600;

function gainOf(few: RecordStates, logs: Float64Array, views: readonly View[]): number {
  let [top, low] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const x of logs) {
    if (x > top) top = x;
    if (x < low && x > Number.NEGATIVE_INFINITY) low = x;
  }
  // No possible state has this outcome.
  if (top === Number.NEGATIVE_INFINITY) return 0;
  const after = top - low > widest ? undefined : logs.map((x, s) => few.weights[s]! * Math.exp(x - top));
  let most = 0;
  for (const view of views) {
    const { before, first, second, steps } = view;
    const evidence = after ? sumsOf(after, view) : logarithmsOf(few, logs, view);
    for (let c = 0; c < before.length; c++) evidence[c]! -= Math.log(before[c]!);
    for (let k = 0; k < first.length; k++) {
      const gain = Math.abs(evidence[first[k]!]! - evidence[second[k]!]!) / steps[k]!;
      if (gain > most) most = gain;
    }
  }
  return most;
}

/** The logarithm of what every cell adds up to. */
function sumsOf(after: Float64Array, { cell, before }: View): Float64Array {
  const sums = new Float64Array(before.length);
  for (let s = 0; s < cell.length; s++) sums[cell[s]!]! += after[s]!;
  return sums.map(Math.log);
}
function logarithmsOf({ weights }: RecordStates, logs: Float64Array, { cell, before }: View): Float64Array {
  const tops = new Float64Array(before.length).fill(Number.NEGATIVE_INFINITY);
  for (let s = 0; s < cell.length; s++) if (logs[s]! > tops[cell[s]!]!) tops[cell[s]!] = logs[s]!;
  const sums = new Float64Array(before.length);
  for (let s = 0; s < cell.length; s++)
    if (logs[s]! > Number.NEGATIVE_INFINITY) sums[cell[s]!]! += weights[s]! * Math.exp(logs[s]! - tops[cell[s]!]!);
  return sums.map((sum, c) => Math.log(sum) + tops[c]!);
}
