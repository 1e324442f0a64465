import { additive, type Noised } from './additive.js';
import type { Allotment } from './allotment.js';
import type { Scope } from './effect.js';
import type { Mechanism } from './mechanism.js';

/**
 * Booked for steps that are not known yet: it cannot be drawn from, only exchanged (paid.ts) for mechanisms that together cost no more, a smaller reserve among
 * them (mechanism.proof.md). `what` is told; its effects say which records pay.
 */
export function reserve(what: Noised, allotment: Allotment, scope?: Scope): Mechanism {
  const { law, cost, told } = additive(what, allotment, scope);
  return { law, cost, draws: 1, told: { name: told.name, cells: told.cells } };
}
