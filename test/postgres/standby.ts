import { join } from 'node:path';
import pg from 'pg';
import type { Started } from './start-server.js';

/** A copy of a server that follows it, on the same machine. */
export interface Standby {
  readonly port: number;
  /** Until it has whatever the other has by now. */
  readonly caughtUp: () => Promise<void>;
  /** Promotes the follower. */
  readonly promote: () => void;
  readonly kill: () => void;
  /** After that: under another port if need be, and as a server of its own where it is promoted then. */
  readonly startAgain: (port?: number) => void;
}

export async function followerOf(primary: Started, port: number): Promise<Standby> {
  const data = join(primary.folder, `follower-${port}`);
  process.env.PGPASSWORD = primary.owner;
  primary.run('pg_basebackup', '-D', data, '-h', '127.0.0.1', '-p', `${primary.port}`, '-U', 'owner', '-R', '-X', 'stream', '-c', 'fast'); // biome-ignore format: one line
  const startAgain = (at = port) => {
    const options = `-p ${at} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${primary.folder} -c hot_standby_feedback=on`;
    primary.run('pg_ctl', '-D', data, '-w', '-l', join(data, 'log'), '-o', options, 'start');
  };
  startAgain();
  const one = async (at: number, sql: string): Promise<string> => {
    const client = new pg.Client({ host: '127.0.0.1', port: at, user: 'owner', password: primary.owner, database: 'postgres' });
    await client.connect();
    try {
      return String(((await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][])[0]![0]);
    } finally {
      await client.end();
    }
  };
  return {
    port,
    async caughtUp() {
      const until = Date.now() + 600_000;
      const there = await one(primary.port, 'SELECT pg_current_wal_insert_lsn()');
      while ((await one(port, `SELECT pg_last_wal_replay_lsn() >= '${there}'`)) !== 'true') {
        if (Date.now() > until) throw new Error('the follower does not follow');
        await new Promise((waited) => setTimeout(waited, 50));
      }
    },
    promote: () => void primary.run('pg_ctl', '-D', data, '-w', 'promote'),
    kill: () => void primary.run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'),
    startAgain,
  };
}
