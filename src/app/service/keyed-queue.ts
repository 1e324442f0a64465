/** Queue per name: work of one name runs one after another, in the order of arrival. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async inOrder<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const own = before ? before.then(work, work) : work();
    this.#last.set(name, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(name) === own) this.#last.delete(name);
    }
  }
}
