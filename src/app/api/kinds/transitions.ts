import * as z from 'zod';
import {
  type LearnedTransitions,
  learnTransitionsPaid,
  planTransitions,
  readTransitionsRequest,
} from '../../../analysis/learn/transitions/learn-transitions.js';
import { type Answer, defineKind } from '../kind.js';
import { field } from '../request.js';

const request = z.strictObject({
  by: field(
    z.string().min(1).optional(),
    'Column of the unit whose steps they are; that of the declared sequence, or the privacy unit, when absent.',
  ),
  order: field(z.string().min(1).optional(), 'Whole-number column of the order: the next step is one more.'),
  state: field(z.string().min(1).optional(), 'Column of the state.'),
});

/** Transition matrix, and the noise scale of every count it was computed from. */
export interface LearnedSteps extends LearnedTransitions {
  readonly noiseScale: number;
}

/** Transition matrix learned from the protected table, in the form that a policy can declare. */
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
    planTransitions(session, readTransitionsRequest(session.policy, transitionsRequest(transitions)), options),
  async release(session, { transitions }, options): Promise<Answer<LearnedSteps>> {
    const request = readTransitionsRequest(session.policy, transitionsRequest(transitions));
    const { learned, scale, receipt } = await learnTransitionsPaid(session, request, options);
    return { result: { ...learned, noiseScale: scale }, receipt };
  },
});

/** Request without undefined fields. */
const transitionsRequest = ({ by, order, state }: z.input<typeof request>) => ({
  ...(by !== undefined && { by }),
  ...(order !== undefined && { order }),
  ...(state !== undefined && { state }),
});
