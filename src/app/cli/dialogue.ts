import { createInterface } from '../../base/platform/terminal.js';
import { visible } from '../report/visible.js';
import { printNote } from './output.js';

/** Prints one question and reads one line; an empty line at the end of the input. */
export type AskLine = (question: string) => Promise<string>;

/** True if a user at a terminal reads the error output. */
export const isInteractive = (json: boolean | undefined): boolean =>
  json !== true && process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Questions go to the error output, so that stdout holds the answer only. Lines typed ahead are kept for the next question. */
export async function withDialogue<T>(work: (ask: AskLine, hasEnded: () => boolean) => Promise<T>): Promise<T> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const lines: string[] = [];
  let ended = false;
  let wake = (): void => undefined;
  reader.on('line', (line) => {
    lines.push(line);
    wake();
  });
  reader.once('close', () => {
    ended = true;
    wake();
  });
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await work(
      async (question) => {
        reader.setPrompt(visible(question));
        reader.prompt();
        while (lines.length === 0 && !ended)
          await new Promise<void>((done) => {
            wake = done;
          });
        return (lines.shift() ?? '').trim();
      },
      () => ended,
    );
  } finally {
    reader.close();
  }
}

/** Yes or no; an empty line means the choice in capitals. */
export const askYesNo = (ask: AskLine, question: string, usual: boolean): Promise<boolean> =>
  askUntil(
    ask,
    `${question} ${usual ? '[Y/n]' : '[y/N]'} `,
    (answer) => {
      if (/^(y|yes|j|ja|o|oui|s|si)$/i.test(answer)) return true;
      return /^(n|no|nein|non)$/i.test(answer) ? false : undefined;
    },
    usual,
  );

/** Repeats a question until its answer is valid, three times at most; then the default is used. */
export async function askUntil<T>(ask: AskLine, question: string, read: (answer: string) => T | undefined, usual: T): Promise<T> {
  for (let k = 0; k < 3; k++) {
    const answer = await ask(question);
    if (answer === '') return usual;
    const found = read(answer);
    if (found !== undefined) return found;
    printNote('That cannot be used here.');
  }
  return usual;
}
