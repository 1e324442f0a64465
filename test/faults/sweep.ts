import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Said } from '../fugu.js';
import { fugu } from '../fugu.js';
import { type Call, copyOf, type Disk, type Fault } from './disk.js';
import { type Broken, judgeAgain, killed, type Planted, type State, stateOf } from './oracle.js';
import type { Scenario } from './scenarios.js';

export interface Run {
  readonly scenario: string;
  readonly at: number;
  readonly call: Call;
  readonly fault: Fault;
  readonly end: 'done' | 'told' | 'killed';
  readonly broken: readonly Broken[];
}

export interface Wanted {
  /** What is done to a call, from 1, one run each. */
  readonly faults: (call: Call, at: number, all: readonly Call[]) => readonly Fault[];
  /** Whether the command is run again afterwards on a sound disk. */
  readonly again?: (at: number) => boolean;
  readonly until?: number;
  readonly lanes?: number;
}

/** Fails the n-th call of a command, for every wanted n and fault, each on a fresh copy of the folder, and judges what is left. */
export async function sweep(disk: Disk, scenario: Scenario, wanted: Wanted): Promise<readonly Run[]> {
  const home = mkdtempSync(join(tmpdir(), 'fugu-faults-'));
  try {
    const template = join(home, 'template');
    mkdirSync(template);
    await scenario.prepare(template);
    const { said, calls } = await disk.calls(copyOf(template, join(home, 'sound')), scenario.words);
    const sound = await stateOf(join(home, 'sound'));
    if (said.code !== 0 || calls.length === 0) throw new Error(`${scenario.name} fails on a sound disk: ${said.out}${said.err}`);
    const before = await stateOf(copyOf(template, join(home, 'sound')));
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
    const runs: Run[] = [];
    const lane = async (name: string) => {
      for (let next = chosen.shift(); next; next = chosen.shift()) {
        if (wanted.until !== undefined && Date.now() > wanted.until) return;
        const folder = copyOf(template, join(home, name));
        runs.push(await one(disk, scenario, folder, before, next, wanted.again?.(next.at) ?? false));
      }
    };
    await Promise.all(Array.from({ length: wanted.lanes ?? 1 }, (_, k) => lane(`lane-${k}`)));
    return runs;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Every call meets one fault before any meets a second, so that a sweep cut short has still been everywhere. */
const turned = <T>(list: readonly T[], by: number): readonly T[] => list.map((_, k) => list[(k + by) % list.length]!);

async function one(
  disk: Disk,
  { name, words, judge, again }: Scenario,
  folder: string,
  before: State,
  { at, fault, planted }: { readonly at: number; readonly fault: Fault; readonly planted: Planted },
  repeat: boolean,
): Promise<Run> {
  const said = await disk.run(folder, words, { ...fault, at });
  const broken = judge(before, said, await stateOf(folder), planted);
  if (repeat && again) broken.push(...judgeAgain(before, await fugu({ cwd: folder }, ...words), await stateOf(folder)));
  return { scenario: name, at, call: planted.call, fault, end: endOf(said), broken };
}

const endOf = (said: Said): Run['end'] => (killed(said) ? 'killed' : said.code === 0 ? 'done' : 'told');

export const faultText = ({ how, errno, victim }: Fault): string => [how, errno, victim].filter(Boolean).join(' ');

/** How the runs ended, a line for each command, and what was broken how often. */
export function summary(runs: readonly Run[]): string {
  const names = [...new Set(runs.map((r) => r.scenario))];
  const broken = (list: readonly Run[]) => list.filter((r) => r.broken.length > 0).length;
  const lines = names.map((name) => {
    const mine = runs.filter((r) => r.scenario === name);
    const ends = (['done', 'told', 'killed'] as const).map((end) => `${mine.filter((r) => r.end === end).length}`.padStart(7));
    return `${name.padEnd(24)}${`${new Set(mine.map((r) => r.at)).size}`.padStart(6)}${`${mine.length}`.padStart(6)}${ends.join('')}${`${broken(mine)}`.padStart(8)}`;
  });
  const kinds = new Map<string, number>();
  for (const r of runs)
    for (const { promise, what } of r.broken) {
      const kind = `${promise.padEnd(10)} ${r.scenario.padEnd(22)} ${what}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  return [
    `${'command'.padEnd(24)} calls  runs   done   told killed  broken`,
    ...lines,
    `${runs.length} faults, ${broken(runs)} broke a promise`,
    ...[...kinds].sort((a, b) => b[1] - a[1]).map(([kind, n]) => `${`${n}`.padStart(5)}  ${kind}`),
  ].join('\n');
}
