import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandResult } from '../fugu.js';
import { fugu } from '../fugu.js';
import { type Call, copyOf, type Disk, type DiskFault } from './disk.js';
import { type Broken, diskState, killed, type PlantedFault, type State } from './oracle.js';
import type { Scenario } from './scenarios.js';

export interface SweepRun {
  readonly scenario: string;
  readonly at: number;
  readonly call: Call;
  readonly fault: DiskFault;
  readonly end: 'done' | 'told' | 'killed';
  readonly seconds: number;
  readonly broken: readonly Broken[];
}

export interface SweepRequest {
  /** Faults planted in a call (numbered from 1), one run each. */
  readonly faults: (call: Call, at: number, all: readonly Call[]) => readonly DiskFault[];
  /** True if the command runs again afterwards on a sound disk. */
  readonly again?: (at: number) => boolean;
  /** When to stop; every call meets one fault all the same. */
  readonly until?: number;
  readonly lanes?: number;
  /** Called at the end of every run. */
  readonly onRun?: (run: SweepRun) => void;
}

/** Fails the n-th call of a command, for every wanted n and fault, each on a fresh copy of the folder, and judges the result. */
export async function sweep(disk: Disk, scenario: Scenario, wanted: SweepRequest): Promise<readonly SweepRun[]> {
  const home = mkdtempSync(join(tmpdir(), 'fugu-faults-'));
  try {
    const lanes: Lane[] = [];
    for (let k = 0; k < (wanted.lanes ?? 1); k++) lanes.push(await laneIn(join(home, `lane-${k}`), scenario));
    const first = lanes[0]!.fresh();
    const { result, calls } = await disk.calls(first, scenario);
    const sound = await diskState(first);
    if (result.code !== 0 || calls.length === 0)
      throw new Error(`${scenario.name} fails on a sound disk: ${result.out}${result.err}`);
    const chosen = calls
      .flatMap((call, k) =>
        turned(wanted.faults(call, k + 1, calls), k).map((fault, round) => ({
          round,
          at: k + 1,
          fault,
          planted: { ...fault, call, sound },
        })),
      )
      .sort((a, b) => a.round - b.round);
    const runs: SweepRun[] = [];
    const work = async ({ fresh, before }: Lane) => {
      for (let next = chosen.shift(); next; next = chosen.shift()) {
        if (next.round > 0 && wanted.until !== undefined && Date.now() > wanted.until) return;
        const run = await one(disk, scenario, fresh(), before, next, wanted.again?.(next.at) ?? false);
        runs.push(run);
        wanted.onRun?.(run);
      }
    };
    await Promise.all(lanes.map(work));
    return runs;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Lane {
  fresh(): string;
  /** Noise was drawn for this one alone. */
  readonly before: State;
}

/** The scene, set once and put back before every run, under one name: answers are recorded for the files they are about. */
async function laneIn(folder: string, scenario: Scenario): Promise<Lane> {
  mkdirSync(folder);
  await scenario.prepare(folder);
  const template = copyOf(folder, `${folder}-template`);
  const fresh = () => copyOf(template, folder);
  return { fresh, before: await diskState(fresh()) };
}

/** Every call meets one fault before any meets a second, so that a sweep cut short has still been everywhere. */
const turned = <T>(list: readonly T[], by: number): readonly T[] => list.map((_, k) => list[(k + by) % list.length]!);

async function one(
  disk: Disk,
  scenario: Scenario,
  folder: string,
  before: State,
  { at, fault, planted }: { readonly at: number; readonly fault: DiskFault; readonly planted: PlantedFault },
  repeat: boolean,
): Promise<SweepRun> {
  const started = Date.now();
  const { name, words, judge, again } = scenario;
  const result = await disk.run(folder, scenario, { ...fault, at });
  const seconds = (Date.now() - started) / 1000;
  const after = await diskState(folder);
  const broken = judge(before, result, after, planted);
  if (repeat && again)
    broken.push(...again({ before, result, after, planted }, await fugu({ cwd: folder }, ...words), await diskState(folder)));
  return { scenario: name, at, call: planted.call, fault, end: endOf(result), seconds, broken };
}

const endOf = (result: CommandResult): SweepRun['end'] => (killed(result) ? 'killed' : result.code === 0 ? 'done' : 'told');

export const faultText = ({ mode, errno, victim }: DiskFault): string => [mode, errno, victim].filter(Boolean).join(' ');

/** Outcomes of the runs, one line per command, with the number of broken promises. */
export function summary(runs: readonly SweepRun[]): string {
  const names = [...new Set(runs.map((r) => r.scenario))];
  const broken = (list: readonly SweepRun[]) => list.filter((r) => r.broken.length > 0).length;
  const lines = names.map((name) => {
    const mine = runs.filter((r) => r.scenario === name);
    const ends = (['done', 'told', 'killed'] as const).map((end) => `${mine.filter((r) => r.end === end).length}`.padStart(7));
    const slowest = Math.max(...mine.map((r) => r.seconds)).toFixed(1);
    return `${name.padEnd(24)}${`${new Set(mine.map((r) => r.at)).size}`.padStart(6)}${`${mine.length}`.padStart(6)}${ends.join('')}${`${broken(mine)}`.padStart(8)}${slowest.padStart(9)}`;
  });
  const kinds = new Map<string, number>();
  for (const r of runs)
    for (const { promise, what } of r.broken) {
      const kind = `${promise.padEnd(10)} ${r.scenario.padEnd(22)} ${what}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  return [
    `${'command'.padEnd(24)} calls  runs   done   told killed  broken  slowest`,
    ...lines,
    `${runs.length} faults, ${broken(runs)} broke a promise`,
    ...[...kinds].sort((a, b) => b[1] - a[1]).map(([kind, n]) => `${`${n}`.padStart(5)}  ${kind}`),
  ].join('\n');
}
