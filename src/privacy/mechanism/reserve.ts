import { additive, type Noised } from './additive.js';
import type { Allotment } from './allotment.js';
import type { Scope } from './effect.js';
import type { Mechanism } from './mechanism.js';

/**
 * Reserved cost of steps not known yet: it cannot be drawn from, only exchanged (payment.ts) for mechanisms that cost no more in
 * total, smaller reserves included (mechanism.proof.md). `what` determines summary and paying records.
 */
export function reserve(what: Noised, allotment: Allotment, scope?: Scope): Mechanism {
  const { law, cost, told } = additive(what, allotment, scope);
  return { law, cost, draws: 1, told: { name: told.name, cells: told.cells } };
}
