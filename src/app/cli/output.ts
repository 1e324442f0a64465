import { asFault } from '../api/outcome-words.js';
import { jsonText } from '../report/json-text.js';
import { jsonLines, numberText, shown } from '../report/terminal-text.js';
import { visible } from '../report/visible.js';
import { exitOf, processEnding } from './process-ending.js';
import { asTyped } from './typed.js';

/** Prints text for people to stdout, control characters escaped. */
export function printOut(text: string): void {
  process.stdout.write(`${shown(text)}\n`);
}

/** One JSON document on stdout. */
export function printJson(document: unknown): void {
  process.stdout.write(`${jsonLines(jsonText(document, 2))}\n`);
}

/** One of several JSON documents on stdout, each on a line. */
export function printJsonLine(document: unknown): void {
  process.stdout.write(`${jsonLines(jsonText(document))}\n`);
}

/** Prints a note to stderr, next to the answer on stdout. */
export function printNote(text: string): void {
  process.stderr.write(`${text.split('\n').map(visible).join('\n')}\n`);
}

/** Prints a sentence and its details to stderr. */
export function warnOf(...lines: readonly string[]): void {
  process.stderr.write(`fugu: ${lines.map(visible).join('\n  ')}\n`);
}

/** Prints one JSON document to stdout, or the human form; a command calls this once. */
export function emit(json: boolean | undefined, document: unknown, human: () => string): void {
  if (json) printJson(document);
  else printOut(human());
}

/** Time to the second, in UTC. */
export const momentText = (at: string | number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Text of a recorded answer, always with its date. */
export const recordedText = (at: string, entry: number): string =>
  `Recorded answer of ${momentText(at)} UTC (ledger entry ${entry}), whatever has become of the data since; nothing was spent. --fresh asks again, and pays.`;

/** Cost of an answer that was just released. */
export const paidText = (entry: number, epsilon: number, resumed = false): string =>
  resumed
    ? `Completes ledger entry ${entry} (epsilon ${numberText(epsilon)}), which was never answered; nothing more was spent.`
    : `Ledger entry ${entry}: epsilon ${numberText(epsilon)} spent.`;

/** True once a progress bar was drawn: it shows more than an elapsed time, so clocks stay silent. */
let barDrawn = false;

/** Label and elapsed time of a wait, on a terminal's stderr, where no progress bar is possible; the returned function erases them. */
export function waitingClock(label: string): () => void {
  const started = Date.now();
  let drawn = false;
  if (!process.stderr.isTTY) return () => undefined;
  const timer = setInterval(() => {
    if (barDrawn) return;
    drawn = true;
    process.stderr.write(`\r${visible(label)} … ${Math.round((Date.now() - started) / 1000)} s`);
  }, 1000);
  return () => {
    clearInterval(timer);
    if (drawn && !barDrawn) process.stderr.write('\r\u001b[K');
  };
}

/** A progress bar on stderr, shown only on a terminal and only after a second. */
export function progressBar(label: string): (done: number, total: number) => void {
  const started = Date.now();
  let last = 0;
  return (done, total) => {
    const now = Date.now();
    if (!process.stderr.isTTY || now - started < 1000 || (now - last < 100 && done < total)) return;
    last = now;
    barDrawn = true;
    const filled = Math.round((24 * done) / Math.max(1, total));
    process.stderr.write(
      `\r\u001b[K${visible(label)} [${'#'.repeat(filled)}${'.'.repeat(24 - filled)}] ${Math.round((100 * done) / Math.max(1, total))} %`,
    );
    if (done >= total) process.stderr.write('\n');
  };
}

/** Turns any error into one sentence, a hint, the budget outcome, and an exit code. */
export function fail(error: unknown, json: boolean): never {
  const fault = asFault(error);
  const ending = processEnding(fault);
  const { lines, ...document } = ending;
  const place = fault.place
    ? `${fault.place.file}${fault.place.line ? `:${fault.place.line}` : ''}${fault.place.column ? `:${fault.place.column}` : ''}: `
    : '';
  if (json) printJson({ error: { ...fault.toJSON().error, ...document } });
  else warnOf(`${place}${fault.message}`, `${asTyped(fault.hint)} [${fault.code}]`, ...lines.map((line) => asTyped(line)));
  process.exit(exitOf(ending, fault.exit));
}

/** Warning of an error that leaves the answer valid. */
export function warnCaution(error: unknown): void {
  const fault = asFault(error);
  warnOf(`warning: ${fault.message}`, `${asTyped(fault.hint)} [${fault.code}]`);
}
