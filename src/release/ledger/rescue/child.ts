import { Fault, type FaultCode } from '../../../base/errors.js';
import { existsSync } from '../../../base/platform/files.js';
import { fileURLToPath } from '../../../base/platform/paths.js';
import { spawnSync } from '../../../base/platform/programs.js';

/** Exit code of a child that reports a fault. */
export const exitFault = 3;

/** Longer than walking a million entries takes. */
const deadline = 600_000;

export interface ChildResult {
  /** Output of the child; undefined when it died or took too long. */
  readonly output: string | undefined;
}

/** On some damage the driver aborts the process, which must not be ours. Tests run the sources; a child runs the build. */
export function inChild(task: 'verify' | 'salvage', ...words: string[]): ChildResult {
  const source = fileURLToPath(new URL('./child-main.js', import.meta.url));
  const built = source.replace(/src(?=.release.ledger.rescue.child-main\.js$)/, 'dist');
  const program = [source, built].find((file) => existsSync(file));
  if (program === undefined) throw new Error('the program that walks over a ledger is not built: npm run build');
  const { status, signal, error, stdout } = spawnSync(process.execPath, [program, task, ...words], {
    encoding: 'utf8',
    timeout: deadline,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (status === exitFault) throw faultFrom(stdout);
  if (signal && stoppers.includes(signal) && (error as NodeJS.ErrnoException | undefined)?.code !== 'ETIMEDOUT')
    throw stopped(words[0]!);
  return { output: status === 0 ? stdout : undefined };
}

/** Signals of a user, or of a system short of memory; damage never causes them. */
const stoppers: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];
const stopped = (place: string): Fault =>
  new Fault(
    'LEDGER_BUSY',
    'The process that was reading the ledger was stopped.',
    'Try again; see that there is memory enough.',
    { place: { file: place } },
  );

function faultFrom(text: string): Fault {
  const { code, message, hint, file } = JSON.parse(text) as { code: FaultCode; message: string; hint: string; file: string };
  return new Fault(code, message, hint, { place: { file } });
}
