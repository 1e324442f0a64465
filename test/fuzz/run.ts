import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { mutate, mutateJson } from './mutate.js';
import { type SeededRandom, seededFuzz } from './random.js';
import { seeds, type Target } from './seeds.js';

/** No input may take more processor time, nor leave the process larger. */
export const mostMs = 2000;
export const mostMib = 500;
/** Processors are shared, so this limit only detects that nothing happens any more. */
const silence = 600_000;

export interface FuzzFinding {
  readonly target: Target;
  readonly text: string;
  readonly what: string;
}
export interface FuzzRun {
  readonly target: Target;
  readonly cases: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly slowest: number;
  readonly peak: number;
  readonly findings: readonly FuzzFinding[];
}

interface ChildReport {
  readonly ready?: true;
  readonly index: number;
  readonly end: string;
  readonly why?: string;
  readonly ms: number;
  readonly rss: number;
}

/** Cases made from the seeds: the same for the same number. */
export function casesOf(target: Target, count: number, seed = 1): string[] {
  const random = seededFuzz(seed * 7919 + target.length * 104_729 + target.charCodeAt(0));
  const own = seeds[target];
  const all = Object.values(seeds).flat();
  return Array.from({ length: count }, () => {
    const text = random.pick(own);
    // Half of the JSON stays JSON, and most command lines stay command lines, so that what comes behind the parser is reached.
    if (/^[[{]/.test(text) && random.chance(0.6)) return mutateJson(text, random);
    if (target === 'words' && random.chance(0.8)) return oneWord(text, random);
    return mutate(text, random, random.chance(0.8) ? random.pick(own) : random.pick(all));
  });
}

function oneWord(text: string, random: SeededRandom): string {
  const words = text.split('\u0001');
  const at = 1 + random.below(words.length - 1);
  words[at] = mutate(words[at]!, random, words[1 + random.below(words.length - 1)]!);
  return words.join('\u0001');
}

/** Every case in a process of its own making: one that hangs or dies is a finding, and the next process goes on behind it. */
export async function runCases(target: Target, cases: readonly string[]): Promise<FuzzRun> {
  const ends: Record<string, number> = {};
  const findings: FuzzFinding[] = [];
  let slowest = 0;
  let peak = 0;
  const found = (text: string, what: string) => findings.push({ target, text, what });
  for (let next = 0; next < cases.length; ) {
    const from = next;
    const stopped = await inChild(target, cases.slice(from), ({ index, end, why, ms, rss }) => {
      next = from + index + 1;
      const text = cases[from + index]!;
      ends[end] = (ends[end] ?? 0) + 1;
      slowest = Math.max(slowest, ms);
      peak = Math.max(peak, rss);
      if (end === 'CRASH') found(text, why ?? 'crash');
      if (ms > mostMs) found(text, `slow: ${Math.round(ms)} ms`);
      if (rss > mostMib) found(text, `large: ${Math.round(rss)} MiB`);
      return rss <= mostMib;
    });
    if (stopped === undefined) continue;
    found(cases[next]!, stopped);
    ends.DIED = (ends.DIED ?? 0) + 1;
    next++;
  }
  return { target, cases: cases.length, ends, slowest, peak, findings };
}

/** Undefined if the child reported every case or `onReport` stopped it; otherwise the reason it ended early. */
function inChild(target: Target, cases: readonly string[], onReport: (one: ChildReport) => boolean): Promise<string | undefined> {
  return new Promise((done) => {
    const child: ChildProcess = fork(fileURLToPath(new URL('./child.mjs', import.meta.url)), [], {
      execArgv: ['--max-old-space-size=450'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    let timer: NodeJS.Timeout;
    let end: string | undefined;
    let complete = false;
    const stop = (why?: string) => {
      end = why;
      complete = why === undefined;
      child.kill('SIGKILL');
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stop(`hangs: nothing for ${silence / 1000} s`), silence);
    };
    wait();
    child.on('message', (message: ChildReport) => {
      wait();
      if (message.ready) {
        child.send({ target, cases });
        return;
      }
      if (!onReport(message) || message.index === cases.length - 1) stop();
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      done(complete ? undefined : (end ?? `the process ended (${signal ?? code})`));
    });
  });
}
