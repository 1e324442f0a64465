import * as z from 'zod';
import {
  type LearnedTransitions,
  learnTransitions,
  planTransitions,
  readTransitionsRequest,
} from '../../../analysis/learn/transitions/learn-transitions.js';
import { type Answer, defineKind } from '../kind.js';

const request = z.strictObject({
  /** Whose steps they are; of the declared sequence, or the unit, when absent. */
  by: z.string().min(1).optional(),
  /** A whole number: the next step is one more. */
  order: z.string().min(1).optional(),
  /** The state that changes. */
  state: z.string().min(1).optional(),
});

/** A transition matrix, and the scale of the noise in every count it was made of. */
export interface LearnedSteps extends LearnedTransitions {
  readonly noiseScale: number;
}

/** Which state follows which, from the protected table: a matrix that a policy can declare. */
export const transitions = defineKind({
  name: 'transitions',
  question: z.strictObject({ transitions: request }),
  hint: 'Write {"transitions": {"by": "person", "order": "day", "state": "place"}}.',
  example({ columns, protect }) {
    const order = [...columns.values()].find((c) => c.type === 'integer' && c.name !== protect.unit);
    const state = [...columns.values()].find((c) => c.type === 'category' && c.name !== protect.unit && c.values.length > 1);
    const open = protect.secret === 'row' || protect.secret === 'step' || (protect.secret === 'person' && protect.maxRows > 1);
    return order && state && open && protect.unit !== undefined
      ? { transitions: { by: protect.unit, order: order.name, state: state.name } }
      : undefined;
  },
  plan: (session, { transitions }, options) =>
    planTransitions(session, readTransitionsRequest(session.policy, asked(transitions)), options),
  async release(session, { transitions }, options): Promise<Answer<LearnedSteps>> {
    const request = readTransitionsRequest(session.policy, asked(transitions));
    const { learned, scale, receipt } = await learnTransitions(session, request, options);
    return { result: { ...learned, noiseScale: scale }, receipt };
  },
});

/** Without what was left open. */
const asked = ({ by, order, state }: z.input<typeof request>) => ({
  ...(by !== undefined && { by }),
  ...(order !== undefined && { order }),
  ...(state !== undefined && { state }),
});
