import type * as z from 'zod';
import type { Question } from '../../ask/kinds.js';
import { defineRoute } from '../route.js';
import { asking, plan, release } from './shapes.js';

type Asking = z.output<typeof asking>;
const optionsOf = ({ epsilon, tidy, fresh, label }: Asking) => ({
  ...(epsilon !== undefined && { epsilon }),
  ...(tidy && { tidy }),
  ...(fresh && { fresh }),
  ...(label !== undefined && { label }),
});

export const routes = [
  defineRoute({
    name: 'plan',
    method: 'post',
    path: '/v1/policies/{policy}/plan',
    summary: 'What a release would cost and how wrong it would be. Spends nothing.',
    roles: ['steward', 'analyst'],
    works: true,
    body: asking,
    answer: plan,
    handle: ({ served, caller, body }) => served.of(caller.name).plan(body.question as Question, optionsOf(body)),
  }),
  defineRoute({
    name: 'release',
    method: 'post',
    path: '/v1/policies/{policy}/release',
    summary: 'Pays, and answers. The same request again is told the recorded answer and spends nothing.',
    roles: ['steward', 'analyst'],
    works: true,
    body: asking,
    answer: release,
    handle: ({ served, caller, body, once }) => {
      // Asked anew under a name: the first time it is on no record, so it pays; the second time it is.
      const { fresh, ...options } = optionsOf(body);
      return fresh && once !== undefined
        ? served.of(caller.name, `${caller.id} ${once}`).release(body.question as Question, options)
        : served.of(caller.name).release(body.question as Question, { ...options, ...(fresh && { fresh }) });
    },
  }),
];
