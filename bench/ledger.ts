import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ledger } from '../src/release/ledger/ledger.js';
import { openLedger } from '../src/release/ledger/open.js';
import { type Bench, few, type Goal, inPairs, inRounds, type Measured, secondsOf } from './bench.js';
import { bareCommits, reservation } from './ledger-work.js';

/** Folder of the ledgers: the system's temporary folder or FUGU_BENCH_FOLDER. Most of the time depends on that disk. */
const base = process.env.FUGU_BENCH_FOLDER ?? tmpdir();

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(base, 'fugu-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Peer {
  readonly name: string;
  readonly open: (folder: string) => { readonly once: () => void; readonly close: () => void };
}
/** Lower bound of a durable line: written into allocated space, and synced. */
const appending: Peer = {
  name: 'a line of 600 bytes and fdatasync',
  open: (folder) => {
    const fd = openSync(join(folder, 'lines'), 'w+');
    writeSync(fd, Buffer.alloc(1 << 22), 0, 1 << 22, 0);
    fdatasyncSync(fd);
    const line = Buffer.alloc(600, 'x');
    let at = 0;
    const once = () => {
      writeSync(fd, line, 0, line.length, at);
      fdatasyncSync(fd);
      at += line.length;
    };
    return { once, close: () => closeSync(fd) };
  },
};
const committing: Peer = {
  name: 'one row in SQLite, WAL, synchronous FULL',
  open: (folder) => {
    const { commit, close } = bareCommits(join(folder, 'bare.db'));
    return { once: commit, close };
  },
};

const beside = (name: string, peer: Peer, work: (ledger: Ledger, i: number) => Promise<unknown>, goal?: Goal): Bench => ({
  name: `ledger: ${name}, beside ${peer.name}`,
  ...(goal && { goal }),
  run: () =>
    inFolder(async (folder) => {
      const ledger = await openLedger(join(folder, 'ledger.db'));
      const other = peer.open(folder);
      let i = 0;
      const ours = () => work(ledger, i++);
      for (let k = 0; k < 150; k++) {
        await ours();
        other.once();
      }
      const each = { warm: false };
      const measured = await inPairs(secondsOf(ours, each), peer.name, secondsOf(other.once, each), 1500);
      await ledger.close();
      other.close();
      return measured;
    }),
});

const reserve = (ledger: Ledger, i: number) => ledger.reserve(reservation('ann', i));
const release = async (ledger: Ledger, i: number) => {
  const asked = reservation('ann', i);
  await ledger.replay(asked.population, asked.key);
  await ledger.commit(await ledger.reserve(asked), '{"counts":[1204,993,310,77]}');
};
/** The entry is reserved before the clock is read. */
const settleBench: Bench = {
  name: 'ledger: record an answer, not synced by itself',
  run: () =>
    inFolder(async (folder): Promise<Measured> => {
      const ledger = await openLedger(join(folder, 'ledger.db'));
      const times: number[] = [];
      for (let i = 0; i < 1000; i++) {
        const entry = await ledger.reserve(reservation('ann', i));
        const start = performance.now();
        await ledger.commit(entry, '{"counts":[1204,993,310,77]}');
        times.push((performance.now() - start) / 1000);
      }
      await ledger.close();
      return { ours: times };
    }),
};

const racers = 8;
const each = 200;
const heard = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => (code === 0 ? undefined : reject(new Error('a racer ended early'))));
  });
/** Seconds of one booking, from the start of all to the end of the last. */
async function race(kind: 'ours' | 'bare'): Promise<number> {
  return inFolder(async (folder) => {
    if (kind === 'bare') bareCommits(join(folder, 'ledger.db')).close();
    const program = fileURLToPath(new URL('./ledger-racer.js', import.meta.url));
    const children = Array.from({ length: racers }, (_, i) =>
      fork(program, [kind, join(folder, 'ledger.db'), `p${i}`, String(each)]),
    );
    await Promise.all(children.map(heard));
    const start = performance.now();
    const done = children.map(heard);
    for (const child of children) child.send('go');
    await Promise.all(done);
    const seconds = (performance.now() - start) / 1000;
    await Promise.all(children.map((child) => child.exitCode ?? new Promise((resolve) => child.once('exit', resolve))));
    return seconds / (racers * each);
  });
}

const raceBench: Bench = {
  name: `ledger: ${racers} processes book ${each} entries each, one booking`,
  run: () =>
    inPairs(
      () => race('ours'),
      committing.name,
      () => race('bare'),
      few,
    ),
};

export const benches: readonly Bench[] = [
  beside('book', appending, reserve),
  beside('book', committing, reserve, { ratio: 1.2 }),
  beside('look up, book and record, as a release does', committing, release),
  settleBench,
  raceBench,
  {
    name: 'ledger: verify 2,000 entries and their answers in both files, one link',
    run: () =>
      inFolder(async (folder): Promise<Measured> => {
        const ledger = await openLedger(join(folder, 'ledger.db'));
        for (let i = 0; i < 2000; i++) await release(ledger, i);
        const verify = async () => {
          const { ok, ...rest } = await ledger.verify();
          if (!ok) throw new Error(`the ledger of the bench does not verify: ${JSON.stringify(rest)}`);
        };
        const measured = await inRounds(secondsOf(verify, { calls: 4001 }));
        await ledger.close();
        return measured;
      }),
  },
];
