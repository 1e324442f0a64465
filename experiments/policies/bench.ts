import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { one } from '../../src/base/exact/rational.js';
import type { Cell } from '../../src/data/engine/engine.js';
import { parsePolicy } from '../../src/data/terms/read.js';
import type { Policy } from '../../src/policy/policy.js';
import { emptyBounds } from '../../src/privacy/dependence/bounds-cache.js';
import { untied } from '../../src/privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../../src/privacy/dependence/graph-amplifier.js';
import type { AdditiveMechanism } from '../../src/privacy/mechanism/additive.js';
import { inDoubles } from '../../src/privacy/mechanism/distribution.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import { nothingSpent } from '../../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../src/privacy/mechanism/record-class.js';
import { bindBatch } from '../../src/query/bind.js';
import type { AnswerTable, BoundBatch, NoisyCounts } from '../../src/query/bound.js';
import type { MechanismOf } from '../../src/query/count/measure.js';
import { numbersToNoise } from '../../src/query/count/noisy-cells.js';
import { rowCounter } from '../../src/query/count/row-counter.js';
import { parseBatch } from '../../src/query/parse.js';
import type { Account } from '../../src/release/accountant/account.js';
import { chooseNoise } from '../../src/release/accountant/choose.js';
import { openAccount } from '../../src/release/accountant/open-account.js';
import { type Agreement, agreementOf } from '../../src/release/session/agreement.js';

/** A policy as a steward writes it: rows of strangers, with these columns and pairs, and perhaps more. */
export async function policyWith(columns: string, pairs: string, epsilon: string, more = ''): Promise<Policy> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-policies-'));
  const text = `data: { source: rows.csv }\nprotect: { secret: row${pairs && `, pairs: { ${pairs} }`} }\nbudget: { epsilon: ${epsilon} }\ndependence: none\ncolumns: { ${columns} }\n${more}\n`;
  try {
    return await parsePolicy(text, join(folder, 'policy.yaml'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const strangersOf = (policy: Policy): Account =>
  openAccount(policy, [
    graphAmplifier(
      {
        scope: (record) => record === everyRecord,
        adversary: 'informed',
        reach: 'any',
        assumptions: [],
        method: '',
        name: 'independent',
        graph: untied(1),
      },
      emptyBounds,
    ),
  ]);

/**
 * Queries with all of a policy's budget over rows in memory: the product's own binding, choice of noise,
 * mechanisms and finish.
 */
export class Bench {
  readonly #policy: Policy;
  readonly #bound: BoundBatch;
  readonly #agreement: Agreement;
  readonly #mechanisms: readonly MechanismOf[];
  #counts: bigint[][] = [];

  constructor(policy: Policy, queries: readonly object[], told: 'agreeing' | 'as they are' = 'agreeing') {
    this.#policy = policy;
    this.#bound = bindBatch(parseBatch(queries), policy);
    const { measures } = this.#bound;
    const agreement = told === 'agreeing' ? agreementOf(policy, measures) : undefined;
    this.#agreement = agreement ?? { measures, agree: (values) => values };
    this.#mechanisms = chooseNoise(this.#agreement.measures, strangersOf(policy), one, nothingSpent)[0]!.mechanisms;
  }

  count(columns: ReadonlyMap<string, readonly Cell[]>): this {
    const names = [...columns.keys()];
    const counter = rowCounter(this.#agreement.measures, names, this.#policy);
    counter.add({ columns: [...columns.values()], rows: columns.get(names[0]!)!.length });
    this.#counts = counter.totals();
    return this;
  }

  /** Answers without noise. */
  exact(): readonly AnswerTable[] {
    return this.#finish(
      () => ({ kind: 'none' }),
      (_, numbers) => [...numbers],
    );
  }
  released(): readonly AnswerTable[] {
    return this.#finish(
      (k) => inDoubles((this.#mechanisms[k] as AdditiveMechanism).distribution),
      (k, numbers) => (this.#mechanisms[k] as AdditiveMechanism).prepare(new Payment(this.#mechanisms))(numbers),
    );
  }

  #finish(
    law: (k: number) => NoisyCounts['noise'],
    noised: (k: number, numbers: readonly bigint[]) => bigint[],
  ): readonly AnswerTable[] {
    const { measures, agree } = this.#agreement;
    const values = agree(
      measures.map((m, k) => noised(k, m.mechanism === 'ordered' ? numbersToNoise(m, this.#counts[k]!) : this.#counts[k]!)),
    );
    return this.#bound.finish(this.#bound.measures.map((_, k) => ({ noise: law(k), values: values[k]! })));
  }
}

/** A repeatable sequence of numbers in 0 .. 1. */
export function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
