import * as z from 'zod';
import { publicName } from '../../policy/population.js';
import { everybody } from '../role.js';
import { defineRoute } from '../route.js';

const column = z.looseObject({ name: z.string(), type: z.string() });

export const routes = [
  defineRoute({
    name: 'policies',
    method: 'get',
    path: '/v1/policies',
    summary: 'The policies this token opens.',
    roles: everybody,
    answer: z.strictObject({ policies: z.array(z.strictObject({ name: z.string(), population: z.string() })) }),
    handle: async ({ service, caller }) => ({
      policies: service.policiesOf(caller).map(({ name, policy }) => ({ name, population: publicName(policy) })),
    }),
  }),
  defineRoute({
    name: 'policy',
    method: 'get',
    path: '/v1/policies/{policy}',
    summary: 'What may be asked: the declared columns, who is protected, the budget.',
    roles: everybody,
    answer: z.strictObject({ name: z.string(), population: z.string(), secret: z.string(), columns: z.array(column) }),
    handle: async ({ served: { name, policy } }) => ({
      name,
      population: publicName(policy),
      secret: policy.protect.secret,
      columns: [...policy.columns.values()].map(({ name, type }) => ({ name, type })),
    }),
  }),
];
