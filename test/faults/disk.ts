import { execFileSync, spawn } from 'node:child_process';
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { constants as os, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandResult, mainFile } from '../fugu.js';

/** Fault of the n-th call that changes a file (shim.c defines the words). */
export interface DiskFault {
  readonly mode: 'fail' | 'lasting' | 'short' | 'kill' | 'tear' | 'after' | 'spoil';
  readonly errno?: 'EIO' | 'ENOSPC' | 'EROFS';
  /** The file whose byte changes, relative to the folder. */
  readonly victim?: string;
}

export interface Call {
  readonly what: string;
  /** Relative to the folder; drafts without their number. */
  readonly where: string;
}

export interface Command {
  readonly words: readonly string[];
  /** Only the child process whose command line has this word gets faults. */
  readonly only?: string;
  /** Folder for temporary files, so that writes there fail, too. */
  readonly temporary?: string;
}

/** A disk that fails on demand: below every library where a C compiler is at hand, else below Node's own functions only. */
export interface Disk {
  readonly reaches: 'every call' | 'calls of Node';
  run(folder: string, command: Command, fault?: DiskFault & { readonly at: number }): Promise<CommandResult>;
  /** The calls that the command makes, in order. */
  calls(folder: string, command: Command): Promise<{ readonly result: CommandResult; readonly calls: readonly Call[] }>;
  remove(): void;
}

const source = join(import.meta.dirname, 'shim.c');
const inNode = join(import.meta.dirname, 'shim.mjs');

function compiled(into: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const library = join(into, 'shim.so');
  try {
    execFileSync(process.env.CC ?? 'cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'pipe' });
    return library;
  } catch {
    return undefined;
  }
}

export function openDisk(wanted: Disk['reaches'] = 'every call'): Disk {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'fugu-disk-')));
  const library = wanted === 'every call' ? compiled(home) : undefined;
  const shim: Readonly<Record<string, string>> = library ? { LD_PRELOAD: library } : { NODE_OPTIONS: `--import ${inNode}` };
  const run = (
    folder: string,
    { words, only, temporary }: Command,
    env: Readonly<Record<string, string>>,
  ): Promise<CommandResult> =>
    new Promise((done) => {
      const child = spawn(process.execPath, [mainFile, ...words], {
        cwd: folder,
        env: {
          ...process.env,
          NO_COLOR: '1',
          UV_USE_IO_URING: '0',
          ...shim,
          FAULT_FOLDER: realpathSync(folder),
          ...(only && { FAULT_ONLY: only }),
          ...(temporary && { TMPDIR: join(realpathSync(folder), temporary) }),
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [out, err] = ['', ''];
      child.stdout.on('data', (text) => {
        out += text;
      });
      child.stderr.on('data', (text) => {
        err += text;
      });
      child.on('close', (code, signal) => done({ code, signal, out, err }));
    });
  return {
    reaches: library ? 'every call' : 'calls of Node',
    run: (folder, command, fault) =>
      run(
        folder,
        command,
        fault
          ? {
              FAULT_AT: `${fault.at}`,
              FAULT_HOW: fault.mode,
              FAULT_ERRNO: `${os.errno[fault.errno ?? 'EIO']}`,
              ...(fault.victim && { FAULT_VICTIM: join(realpathSync(folder), fault.victim) }),
            }
          : {},
      ),
    async calls(folder, command) {
      const log = join(home, 'calls');
      rmSync(log, { force: true });
      const result = await run(folder, command, { FAULT_LOG: log });
      const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
      const root = realpathSync(folder);
      const calls = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [what, place] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
          return {
            what,
            where: (place.slice(root.length + 1) || '.').replace(/\.fugu-\d+-\d+/, '.fugu-N').replace(/\.\d+\./, '.N.'),
          };
        });
      return { result, calls };
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** A copy of a folder with the times of its files, so that recorded answers are found again. */
export function copyOf(template: string, to: string): string {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  cpSync(template, to, { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE });
  return to;
}
