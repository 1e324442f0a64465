import { Fault } from '../../../base/errors.js';
import { spawnSync } from '../../../base/platform/programs.js';

/** An external memory of the head of the chain: it notices entries that both files have lost. */
export interface Witness {
  /** The latest head that was reported to it, or none. */
  readonly head: () => { readonly sequence: number; readonly hash: string } | undefined;
  readonly put: (sequence: number, hash: string) => void;
}

const deadline = 10_000;

/** A program: `COMMAND get` prints "SEQUENCE HASH" or nothing, `COMMAND put SEQUENCE HASH` stores it. Run without a shell. */
export function commandWitness(command: string): Witness {
  const [program, ...words] = command.split(/\s+/).filter(Boolean);
  const run = (...more: string[]): string => {
    const output = program
      ? spawnSync(program, [...words, ...more], {
          encoding: 'utf8',
          timeout: deadline,
          maxBuffer: 65_536,
          stdio: ['ignore', 'pipe', 'ignore'],
        })
      : undefined;
    if (output?.status !== 0) throw witnessFault(more[0]!);
    return output.stdout.trim();
  };
  return {
    head: () => {
      const output = run('get');
      if (output === '') return undefined;
      const parts = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(output);
      if (!parts) throw witnessFault('get');
      return { sequence: Number(parts[1]), hash: parts[2]! };
    },
    put: (sequence, hash) => void run('put', String(sequence), hash),
  };
}

const witnessFault = (word: string): Fault =>
  new Fault(
    'DISK_FAILED',
    `The witness of the ledger did not answer to "${word}".`,
    'Run the command of --witness (or FUGU_WITNESS) by hand: "get" must print SEQUENCE HASH or nothing, "put SEQUENCE HASH" must keep it, both with exit 0 within ten seconds.',
  );
