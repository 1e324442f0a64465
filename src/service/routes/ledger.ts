import * as z from 'zod';
import { publicName } from '../../policy/population.js';
import { steadyWords } from '../../release/parts.js';
import { everybody } from '../role.js';
import { defineRoute } from '../route.js';
import { budget, figure } from './shapes.js';

const use = z.looseObject({ total: figure.optional(), spent: figure, remaining: figure });
const spending = z.looseObject({
  population: z.string(),
  budget,
  gained: figure.describe('What an attacker may have gained at most about one record so far.'),
  quotas: z.array(use).optional().describe('Of analysts; an analyst sees their own.'),
  parts: z.array(use).optional().describe('Where something was released about values of a public column only.'),
  steps: z.strictObject({ column: z.string(), each: figure }).optional().describe('What every step may spend for ever.'),
});
const entry = z.looseObject({
  sequence: z.number().int(),
  at: z.string(),
  analyst: z.string(),
  label: z.string(),
  settled: z.boolean(),
  hash: z.string(),
});

export const routes = [
  defineRoute({
    name: 'budget',
    method: 'get',
    path: '/v1/policies/{policy}/budget',
    summary: 'What this population has spent, and what remains.',
    roles: everybody,
    answer: spending,
    handle: async ({ served, caller }) => {
      // Where the ledger lies is no business of whoever asks.
      const { ledger: _ledger, population: _population, quotas, ...told } = await served.of(caller.name).spent();
      const { policy, account } = served.session(caller.name);
      const seen = caller.role === 'analyst' ? quotas?.filter(({ analyst }) => analyst === caller.name) : quotas;
      return {
        population: publicName(policy),
        ...told,
        ...(seen && { quotas: seen }),
        ...(account.steady && { steps: steadyWords(policy, account.steady) }),
      };
    },
  }),
  defineRoute({
    name: 'entries',
    method: 'get',
    path: '/v1/policies/{policy}/ledger',
    summary: 'Everything this population has paid for; an analyst sees what they paid for themselves.',
    roles: everybody,
    query: z.strictObject({
      after: z.coerce.number().int().min(0).optional().describe('Entries after this one.'),
      most: z.coerce.number().int().min(1).max(1000).optional().describe('So many at most; 100 when absent.'),
    }),
    answer: z.strictObject({ entries: z.array(entry), more: z.boolean() }),
    handle: async ({ served, caller, query: { after = 0, most = 100 } }) => {
      const all = (await served.of(caller.name).entries()).filter(
        (e) => e.sequence > after && (caller.role !== 'analyst' || e.analyst === caller.name),
      );
      return { entries: all.slice(0, most), more: all.length > most };
    },
  }),
  defineRoute({
    name: 'verify',
    method: 'get',
    path: '/v1/policies/{policy}/ledger/verify',
    summary: 'Walks the chain of the ledger.',
    roles: ['steward', 'auditor'],
    works: true,
    answer: z.looseObject({ ok: z.boolean(), entries: z.number().int() }),
    handle: ({ served, caller }) => served.of(caller.name).verify(),
  }),
];
