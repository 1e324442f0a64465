import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Outcome } from '../src/base/errors.js';

export interface SpenderLine {
  readonly sequence?: number;
  readonly key?: string;
  readonly hash?: string;
  readonly refused?: { readonly asked: string; readonly spent: string; readonly remaining: string };
  readonly failed?: { readonly key: string; readonly code: string; readonly outcome?: Outcome };
}
export interface Spender {
  readonly child: ChildProcess;
  readonly firstLine: Promise<void>;
  /** Number of reservations acknowledged so far. */
  readonly acknowledged: () => number;
  readonly done: Promise<{ lines: SpenderLine[]; code: number | null; errors: string }>;
}
export interface SpenderLoad {
  readonly count: number | 'endless';
  /** Number of concurrent clients in this process. */
  readonly clients?: number;
  /** Of the budget, one for each reservation. */
  readonly parts?: number;
  /** Continues after any fault. */
  readonly goesOn?: boolean;
}

/** Runs on dist/, which `npm test` builds first. */
export function spender(place: string, name: string, { count, clients = 1, parts = 1000, goesOn = false }: SpenderLoad): Spender {
  const words = [join(import.meta.dirname, 'ledger-race-child.mjs'), place, name, count, clients, parts].map(String);
  const env = { ...process.env, ...(goesOn && { FUGU_RACE_GOES_ON: '1' }) };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let out = '';
  let errors = '';
  let spoke: () => void = () => undefined;
  const firstLine = new Promise<void>((resolve) => {
    spoke = resolve;
  });
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (out.includes('\n')) spoke();
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const done = new Promise<{ lines: SpenderLine[]; code: number | null; errors: string }>((resolve) => {
    child.on('close', (code) => {
      spoke();
      // A killed child may leave half a line: that reservation was not acknowledged.
      const whole = out
        .slice(0, out.lastIndexOf('\n') + 1)
        .split('\n')
        .filter(Boolean);
      resolve({ lines: whole.map((line) => JSON.parse(line) as SpenderLine), code, errors });
    });
  });
  return { child, firstLine, acknowledged: () => out.split('"sequence"').length - 1, done };
}
