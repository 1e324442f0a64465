import type { DatabaseAddress } from '../../../policy/address.js';
import { databaseClosed } from '../engine.js';
import { PostgresConnection } from './connection.js';
import { postgresTimeout } from './fault.js';

/** Moments of the data that are held at once, and statements under way in each: the rest waits. */
const mostPins = 4;
const mostStatements = 2;
const mostIdle = 3;

/** Pool of connections; a caller beyond the maximum waits at most as long as a statement may take. */
export class Pool {
  readonly #address: DatabaseAddress;
  readonly #deadline: number;
  readonly #taken = new Set<PostgresConnection>();
  #idle: PostgresConnection[] = [];
  #closed = false;
  readonly pins = new Turnstile(mostPins);

  constructor(address: DatabaseAddress, deadline: number) {
    this.#address = address;
    this.#deadline = deadline;
  }

  refuseClosed(): void {
    if (this.#closed) throw databaseClosed();
  }
  get isClosed(): boolean {
    return this.#closed;
  }

  async take(): Promise<PostgresConnection> {
    this.refuseClosed();
    let connection = this.#idle.pop();
    while (connection && !connection.usable) connection = this.#idle.pop();
    connection ??= await PostgresConnection.connect(this.#address, this.#deadline);
    if (this.#closed) {
      connection.destroy();
      throw databaseClosed();
    }
    this.#taken.add(connection);
    return connection;
  }

  /** Ends its transaction, without waiting for a server that does not answer. */
  async giveBack(connection: PostgresConnection): Promise<void> {
    try {
      if (!connection.usable || this.#closed) return;
      await connection.within(Math.min(this.#deadline, 2000), (open) => open.run('ROLLBACK'));
    } catch {
      connection.destroy();
    } finally {
      this.#taken.delete(connection);
      if (connection.usable && !this.#closed && this.#idle.length < mostIdle) this.#idle.push(connection);
      else if (connection.usable) await connection.end();
    }
  }

  drop(connection: PostgresConnection): void {
    this.#taken.delete(connection);
    connection.destroy();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.pins.refuseAll();
    for (const connection of this.#taken) connection.destroy();
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()));
  }
}

interface Waiting {
  readonly go: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Admits a limited number of callers; the others wait in order. */
export class Turnstile {
  readonly #waiting: Waiting[] = [];
  #free: number;

  constructor(most: number = mostStatements) {
    this.#free = most;
  }

  async enter(deadline: number): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    let mine: Waiting | undefined;
    const turn = new Promise<void>((go, refuse) => {
      mine = { go, refuse };
      this.#waiting.push(mine);
    });
    const giveUp = () => {
      const at = this.#waiting.indexOf(mine!);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      mine!.refuse(postgresTimeout());
    };
    const timer = setTimeout(giveUp, deadline);
    await turn.finally(() => clearTimeout(timer));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next.go();
    else this.#free++;
  }

  refuseAll(): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(databaseClosed());
  }
}
