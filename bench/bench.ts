import { type Interval, median, medianInterval } from './statistics.js';

/** One line of the table of figures: rounds of a piece of work, and of a peer's for the same in the same rounds. */
export interface Bench {
  readonly name: string;
  /** Goal that a user set before the measurement; a line without a goal is shown and never fails. */
  readonly goal?: Goal;
  run(): Promise<Measured | Skipped>;
}

/** Upper limit on the ratio to the peer, on our own time in seconds, or on the peak memory of our process. */
export type Goal = { readonly ratio: number } | { readonly seconds: number } | { readonly bytes: number };

/** One number of each round: seconds for one unit of work; bytes where the goal is in bytes; or the unit named by `unit`. */
export interface Measured {
  readonly ours: readonly number[];
  /** The peer's numbers, pair by pair. */
  readonly peer?: { readonly name: string; readonly rounds: readonly number[] };
  /** For a line about quality: the quantity that replaces seconds; less is better. */
  readonly unit?: string;
  /** The number is computed, not measured: one round is its own interval. */
  readonly exact?: true;
}

export interface Skipped {
  readonly skipped: string;
  /** True if the line could not be measured although it should have been. */
  readonly failed?: boolean;
}
export type Failed = Skipped & { readonly failed: true };

/** Median of all rounds with its interval: of the ratios pair by pair, or of our own numbers. */
export interface Figure {
  readonly median: number;
  /** Undefined where there were too few rounds for one. */
  readonly interval: Interval | undefined;
}
const figure = (values: readonly number[], exact?: true): Figure => ({
  median: median(values),
  interval: exact ? [values[0]!, values[0]!] : medianInterval(values),
});
export const ownFigure = ({ ours, exact }: Measured): Figure => figure(ours, exact);
export function ratioFigure({ ours, peer, exact }: Measured): Figure | undefined {
  if (!peer) return undefined;
  if (peer.rounds.length !== ours.length) throw new Error(`${ours.length} rounds beside ${peer.rounds.length} of the peer`);
  return figure(
    ours.map((x, i) => x / peer.rounds[i]!),
    exact,
  );
}

/** The figure that decides: of our own numbers where the goal is about them, otherwise of the ratios. */
export const decidingFigure = (goal: Goal | undefined, measured: Measured): Figure =>
  goal && !('ratio' in goal) ? ownFigure(measured) : (ratioFigure(measured) ?? ownFigure(measured));

function limitOf(goal: Goal): number {
  if ('ratio' in goal) return goal.ratio;
  return 'bytes' in goal ? goal.bytes : goal.seconds;
}

/** True only if the whole interval meets the goal; undefined where there is no goal. */
export function isMet(goal: Goal | undefined, measured: Measured): boolean | undefined {
  if (!goal) return undefined;
  if ('ratio' in goal && !measured.peer) return false;
  const { interval } = decidingFigure(goal, measured);
  return interval !== undefined && interval[1] <= limitOf(goal);
}

/** With nine rounds the interval leaves out the least and the greatest; with seven it is all of them, with five there is none. */
const usual = 9;
/** For work that takes seconds. */
export const few = 7;

/** One measurement of a round. */
export type Measurement = () => number | Promise<number>;

/** The same list in random order. */
export function shuffled<T>(list: readonly T[]): T[] {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

export async function inRounds(ours: Measurement, rounds = usual): Promise<Measured> {
  const found: number[] = [];
  for (let i = 0; i < rounds; i++) found.push(await ours());
  return { ours: found };
}

/** Both measurements in every round, in random order, so that a busy machine meets both alike. */
export async function inPairs(ours: Measurement, name: string, peer: Measurement, rounds = usual): Promise<Measured> {
  const found = { ours: [] as number[], peer: [] as number[] };
  const turns = [
    ['ours', ours],
    ['peer', peer],
  ] as const;
  for (let i = 0; i < rounds; i++) for (const [whose, once] of shuffled(turns)) found[whose].push(await once());
  return { ours: found.ours, peer: { name, rounds: found.peer } };
}

/**
 * Seconds of one call, of `calls` in a run. Garbage is collected before an untimed warm-up run, because the heap has to
 * grow again after a collection; `warm: false` leaves both out, for work in a process of its own.
 */
export const secondsOf =
  (work: () => unknown, { calls = 1, warm = true }: { readonly calls?: number; readonly warm?: boolean } = {}): Measurement =>
  async () => {
    if (warm) {
      globalThis.gc?.();
      await work();
    }
    const start = performance.now();
    await work();
    return (performance.now() - start) / 1000 / calls;
  };

interface Rounds {
  readonly rounds?: number;
  readonly calls?: number;
  readonly peerCalls?: number;
  readonly warm?: boolean;
}
/** Seconds of a piece of work. */
export const timed = (work: () => unknown, { rounds, ...options }: Omit<Rounds, 'peerCalls'> = {}): Promise<Measured> =>
  inRounds(secondsOf(work, options), rounds);

/** Seconds of two pieces of work in paired rounds. */
export const timedBeside = (
  peerName: string,
  ours: () => unknown,
  peer: () => unknown,
  { rounds, peerCalls, ...options }: Rounds = {},
): Promise<Measured> =>
  inPairs(secondsOf(ours, options), peerName, secondsOf(peer, { ...options, ...(peerCalls && { calls: peerCalls }) }), rounds);

/** The same work, repeated this many times. */
export const repeat = (times: number, work: () => unknown) => async (): Promise<void> => {
  for (let i = 0; i < times; i++) await work();
};

/** One answer for all who ask for the same. */
export function once<K, T>(work: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const known = new Map<K, Promise<T>>();
  return (key) => {
    const found = known.get(key) ?? work(key);
    known.set(key, found);
    return found;
  };
}
