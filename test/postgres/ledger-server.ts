import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Ledger } from '../../src/release/ledger/ledger.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { LedgerServer } from '../../src/release/ledger/postgres/server.js';
import { verifyServer } from '../../src/release/ledger/postgres/verify.js';
import type { LedgerPlace } from '../ledger-contract.js';
import { type Started, startServer } from './start-server.js';

const password = 'keeper-s3cret';

/** A server that waits for its disk, with a role that may keep a ledger and nothing else. */
export class LedgerTown {
  readonly server: Started;
  /** Memory of this machine about ledgers. */
  readonly state = mkdtempSync(join(tmpdir(), 'fugu-state-'));
  private constructor(server: Started) {
    this.server = server;
  }

  static async open(): Promise<LedgerTown> {
    // Settings as careless as a server permits; a ledger does not rely on them.
    const town = new LedgerTown(await startServer(['synchronous_commit=off', 'max_connections=60']));
    await town.as('owner', `CREATE ROLE keeper LOGIN PASSWORD '${password}'`, 'postgres');
    await town.as('owner', 'CREATE DATABASE budgets OWNER keeper', 'postgres');
    process.env.FUGU_LEDGER_PASSWORD = password;
    process.env.XDG_STATE_HOME = town.state;
    return town;
  }

  readonly password = password;
  address(user = 'keeper', database = 'budgets'): string {
    return `postgres://${user}@127.0.0.1:${this.server.port}/${database}`;
  }

  async as(user: 'owner' | 'keeper', sql: string, database = 'budgets'): Promise<readonly unknown[][]> {
    const own = user === 'owner' ? this.server.owner : password;
    const client = new pg.Client({ host: '127.0.0.1', port: this.server.port, user, password: own, database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      const result = (await client.query({ text: `${sql}`, rowMode: 'array' })) as { rows?: unknown[][] };
      return result.rows ?? [];
    } finally {
      await client.end();
    }
  }
  tamper(sql: string): Promise<unknown> {
    return this.as('keeper', `SET search_path = fugu_ledger; ${sql}`);
  }
  /** Removes everything, including the memory of this machine. */
  async empty(): Promise<void> {
    await this.as('keeper', 'DROP SCHEMA IF EXISTS fugu_ledger CASCADE');
    this.forget();
  }
  forget(): void {
    rmSync(join(this.state, 'fugu'), { recursive: true, force: true });
  }

  async room(): Promise<LedgerPlace> {
    await this.empty();
    const open: Ledger[] = [];
    return {
      open: async (witness) => {
        const ledger = await openLedger(this.address(), witness === undefined ? {} : { witness });
        open.push(ledger);
        return ledger;
      },
      verify: () => verifyServer(new LedgerServer(this.address())),
      tamper: async (sql) => void (await this.tamper(sql)),
      quick: 50,
      close: async () => {
        for (const ledger of open) await ledger.close();
      },
    };
  }

  close(): void {
    this.server.remove();
    rmSync(this.state, { recursive: true, force: true });
  }
}
