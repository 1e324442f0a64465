import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { beforeAll, expect, it } from 'vitest';
import { builtOnce } from './fugu.js';

beforeAll(builtOnce);

/** A process in the middle of a ledger write that ends after so many milliseconds. */
function writing(milliseconds: number) {
  const module = (name: string) => JSON.stringify(new URL(`../dist/app/cli/${name}`, import.meta.url).href);
  const script = `
    const { outcomes } = await import(${module('process-ending.js')});
    const { listenForSignals } = await import(${module('signals.js')});
    listenForSignals(false);
    process.on('SIGINT', () => console.log('heard'));
    outcomes.during(() => new Promise((done) => setTimeout(() => {
      outcomes.note({ state: 'recorded', entry: 4 });
      outcomes.note({ state: 'spent', entry: 5, resumable: true });
      done();
    }, ${milliseconds})));
    setInterval(() => undefined, 1000);
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (data) => (err += data));
  const stdout = createInterface({ input: child.stdout });
  const printed = (word: string) => new Promise<void>((done) => stdout.on('line', (line) => line === word && done()));
  const [ready, heard] = [printed('ready'), printed('heard')];
  const ended = new Promise<{ code: number | null; err: string }>((done) => child.on('close', (code) => done({ code, err })));
  return { child, ready, heard, ended };
}

it.skipIf(process.platform === 'win32')(
  'a signal waits for the reservation under way and reports all that was paid for',
  async () => {
    const { child, ready, ended } = writing(500);
    await ready;
    child.kill('SIGTERM');
    const { code, err } = await ended;
    expect(code).toBe(143);
    expect(err).toBe(
      'fugu: stopped by SIGTERM.\n' +
        '  Spent and recorded: ledger entry 4. Ask the same again (without --fresh): it is answered from the record, and nothing more is spent.\n' +
        '  Spent without an answer: ledger entry 5. Ask the same again: it is completed without paying again.\n',
    );
  },
);

it.skipIf(process.platform === 'win32')(
  'a second signal ends it at once, and the message states that the outcome is open',
  async () => {
    const { child, ready, heard, ended } = writing(900_000);
    await ready;
    child.kill('SIGINT');
    // Two pending signals arrive as one.
    await heard;
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect(code).toBe(130);
    expect(err).toMatch(/under way .* is not known/);
  },
);
