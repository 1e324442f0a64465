import { answerHash, BrokenChain, beginning, type ChainEnd, endOf, type Link, type StoredLink } from '../chain/chain.js';
import { type Books, follow, MemoryBooks, stateHash } from '../index/accounts.js';

interface WalkedSpend {
  readonly population: string;
  readonly hash: string;
  answered?: { readonly by: number; readonly answer: string };
}

/** Rebuilds every total of a chain, then compares the stored copies. Throws `BrokenChain` at the first mismatch. */
export class ChainWalk {
  readonly books = new MemoryBooks();
  readonly #spends = new Map<number, WalkedSpend>();
  #texts = 0;
  entries = 0;
  end: ChainEnd = beginning;

  take({ link, stored }: { readonly link: Link; readonly stored: StoredLink }): void {
    follow(this.books, link);
    if (link.kind === 'spend') {
      this.#spends.set(link.sequence, { population: link.population, hash: stored.hash });
      this.entries++;
    }
    if (link.kind === 'answer') this.#answer(link);
    this.end = endOf(stored, link);
  }

  #answer(link: Link & { readonly kind: 'answer' }): void {
    const spent = this.#spends.get(link.of);
    if (!spent || spent.population !== link.population || spent.answered)
      throw new BrokenChain(`entry ${link.sequence} answers what was not reserved, or was answered before`, link.sequence);
    spent.answered = { by: link.sequence, answer: link.answer };
  }

  /** One recorded text, or null for a lost one. */
  text(of: number, sequence: number, body: string | null): void {
    const spent = this.#spends.get(of);
    const fits = spent?.answered?.by === sequence;
    if (!fits || (body !== null && answerHash(spent.hash, body) !== spent.answered?.answer))
      throw new BrokenChain(`the answer recorded for entry ${of} was changed`, of);
    this.#texts++;
  }
  /** After the last text. */
  textsEnd(): void {
    if (this.#texts !== [...this.#spends.values()].filter((spent) => spent.answered).length)
      throw new BrokenChain('an answer was removed behind the chain');
  }

  /** Compares the stored accounts. `orphans`: number of analysts without an account. */
  accounts(kept: Books, orphans: number): void {
    const { books: walked } = this;
    if (kept.incomplete() !== walked.incomplete() || kept.states().size !== walked.accounts.size)
      throw new BrokenChain('an account was added or removed behind the chain');
    for (const [population, state] of walked.accounts) {
      if (kept.states().get(population) !== stateHash(state) || !kept.account(population))
        throw new BrokenChain(`the account "${population}" does not agree with its entries`);
      for (const analyst of state.shares.keys())
        if (kept.share(population, analyst) !== walked.share(population, analyst)) throw unshared();
    }
    if (orphans !== 0) throw unshared();
  }
}
const unshared = (): BrokenChain => new BrokenChain("an analyst's total does not agree with the entries");
