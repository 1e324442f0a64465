/** Limits of running and waiting requests. Beyond them a request is refused, and nothing was begun for it. */
export class Turns {
  readonly #working: number;
  readonly #waiting: number;
  #busy = 0;
  readonly #queue: (() => void)[] = [];

  constructor(working: number, waiting: number) {
    this.#working = working;
    this.#waiting = waiting;
  }

  get busy(): number {
    return this.#busy;
  }
  get waiting(): number {
    return this.#queue.length;
  }

  /** Function that returns the turn; undefined if too many wait, or none came free within `patience` milliseconds. */
  async take(patience?: number): Promise<(() => void) | undefined> {
    if (this.#busy >= this.#working) {
      if (this.#queue.length >= this.#waiting) return undefined;
      // A returned turn passes to the next in the queue: `busy` stays.
      if (!(await this.#turn(patience))) return undefined;
    } else this.#busy++;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.#queue.shift();
      if (next) next();
      else this.#busy--;
    };
  }

  #turn(patience: number | undefined): Promise<boolean> {
    return new Promise((done) => {
      const go = () => {
        clearTimeout(late);
        done(true);
      };
      const late =
        patience === undefined
          ? undefined
          : setTimeout(() => {
              const at = this.#queue.indexOf(go);
              if (at >= 0) this.#queue.splice(at, 1);
              done(at < 0);
            }, patience);
      this.#queue.push(go);
    });
  }
}

/** Token bucket for each name: this many at once, and this many a second after that. */
export class RateLimiter {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #left = new Map<string, { tokens: number; at: number }>();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Seconds to wait; 0 if there is no need. */
  wait(name: string, now = performance.now()): number {
    const known = this.#left.get(name) ?? { tokens: this.#burst, at: now };
    const tokens = Math.min(this.#burst, known.tokens + ((now - known.at) / 1000) * this.#perSecond);
    const left = tokens >= 1 ? tokens - 1 : tokens;
    this.#left.set(name, { tokens: left, at: now });
    if (this.#left.size > 10_000) this.#forget(now);
    return tokens >= 1 ? 0 : (1 - tokens) / this.#perSecond;
  }

  /** Forgets names with a full bucket. */
  #forget(now: number): void {
    for (const [name, { tokens, at }] of this.#left)
      if (tokens + ((now - at) / 1000) * this.#perSecond >= this.#burst) this.#left.delete(name);
  }
}
