/** One line of the table of figures: our time for a piece of work and a peer's for the same, both measured in this run. */
export interface Bench {
  readonly name: string;
  /** Goal that a user set before the measurement; a line without a goal is shown and never fails. */
  readonly goal?: Goal;
  run(): Promise<Measured | Skipped>;
}

/** Upper limit on the ratio to the peer, on our own time in seconds, or on the peak memory of our process. */
export type Goal = { readonly ratio: number } | { readonly seconds: number } | { readonly bytes: number };

export interface Measured {
  /** Seconds for one unit of work; bytes where the goal is in bytes; or the unit named by `unit`. */
  readonly ours: number;
  readonly peer?: { readonly name: string; readonly seconds: number };
  /** For a line about quality: the quantity that replaces seconds; less is better. */
  readonly unit?: string;
  /** Interquartile range over the rounds: of the ratios, or without a peer of our own seconds. */
  readonly spread?: Spread;
}
export type Spread = readonly [low: number, high: number];

export interface Skipped {
  readonly skipped: string;
  /** True if the line could not be measured although it should have been. */
  readonly failed?: boolean;
}
export type Failed = Skipped & { readonly failed: true };

const now = (): number => Number(process.hrtime.bigint()) / 1e9;

/**
 * Best of `rounds` runs, in seconds per call; one run makes `calls` calls.
 * Garbage is collected before an untimed warm-up run, because the heap has to grow again after a collection.
 */
export async function secondsPer(
  work: () => unknown,
  { rounds = 5, calls = 1 }: { rounds?: number; calls?: number } = {},
): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < rounds; i++) {
    globalThis.gc?.();
    await work();
    const start = now();
    await work();
    best = Math.min(best, now() - start);
  }
  return best / calls;
}

/** The same work, repeated this many times. */
export const repeat = (times: number, work: () => unknown) => async (): Promise<void> => {
  for (let i = 0; i < times; i++) await work();
};

/** Two pieces of work to compare. */
export interface Turns {
  readonly ours: number;
  readonly peer: number;
  readonly spread: Spread;
}

/** Best times of two pieces of work that alternate, so that a busy machine slows both. */
export async function inTurns(
  ours: () => unknown,
  peer: () => unknown,
  { rounds = 5, ourCalls = 1, peerCalls = 1 }: { rounds?: number; ourCalls?: number; peerCalls?: number } = {},
): Promise<Turns> {
  const times = { ours: [] as number[], peer: [] as number[] };
  for (let i = 0; i < rounds; i++) {
    times.ours.push(await secondsPer(ours, { rounds: 1, calls: ourCalls }));
    times.peer.push(await secondsPer(peer, { rounds: 1, calls: peerCalls }));
  }
  return { ours: Math.min(...times.ours), peer: Math.min(...times.peer), spread: spreadOf(times.ours, times.peer) };
}

/** Interquartile range of the ratios, round by round. */
export function spreadOf(ours: readonly number[], peer: readonly number[]): Spread {
  const ratios = ours.map((x, i) => x / peer[i]!).sort((a, b) => a - b);
  const at = (share: number) => ratios[Math.round(share * (ratios.length - 1))]!;
  return [at(0.25), at(0.75)];
}

/** A line of the table from two pieces of work that alternate. */
export const versus = (name: string, { ours, peer, spread }: Turns): Measured => ({
  ours,
  peer: { name, seconds: peer },
  spread,
});

/**
 * Medians of single runs of two pieces of work that alternate: where a disk decides, the best run is luck.
 * The first tenth is not counted; `once` is one run, in seconds where the work measures its own time.
 */
export async function medians(
  ours: () => unknown,
  peer: () => unknown,
  runs: number,
  once: (work: () => unknown) => unknown = timed,
): Promise<Turns> {
  const times = { ours: [] as number[], peer: [] as number[] };
  for (let i = 0; i < runs; i++) {
    times.ours.push((await once(ours)) as number);
    times.peer.push((await once(peer)) as number);
  }
  const middle = (all: number[]) => {
    const counted = all.slice(Math.floor(all.length / 10)).sort((a, b) => a - b);
    return counted[Math.floor(counted.length / 2)]!;
  };
  return { ours: middle(times.ours), peer: middle(times.peer), spread: spreadOf(times.ours, times.peer) };
}

async function timed(work: () => unknown): Promise<number> {
  const start = now();
  await work();
  return now() - start;
}

function formatSeconds(s: number): string {
  if (s < 1e-6) return `${(s * 1e9).toFixed(0)} ns`;
  if (s < 1e-3) return `${(s * 1e6).toFixed(1)} us`;
  return s < 1 ? `${(s * 1e3).toFixed(1)} ms` : `${s.toFixed(2)} s`;
}

export const formatFigure = (x: number, unit?: string): string => (unit ? `${x.toPrecision(3)} ${unit}` : formatSeconds(x));

const formatBytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
export const formatOurs = (goal: Goal | undefined, ours: number): string =>
  goal && 'bytes' in goal ? formatBytes(ours) : formatSeconds(ours);
export const formatGoal = (goal: Goal | undefined): string => {
  if (!goal) return '';
  if ('ratio' in goal) return `<= ${goal.ratio}x`;
  return `<= ${'bytes' in goal ? formatBytes(goal.bytes) : formatSeconds(goal.seconds)}`;
};

/** Undefined where there is no goal. */
export function isMet(goal: Goal | undefined, measured: Measured): boolean | undefined {
  if (!goal) return undefined;
  if ('ratio' in goal) return measured.peer !== undefined && measured.ours / measured.peer.seconds <= goal.ratio;
  return measured.ours <= ('bytes' in goal ? goal.bytes : goal.seconds);
}
