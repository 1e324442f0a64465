import * as z from 'zod';
import { everybody } from '../role.js';
import { defineRoute } from '../route.js';
import { budget } from './shapes.js';

const spending = z.looseObject({ population: z.string(), budget, gained: z.number() });
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
      const { ledger: _ledger, ...told } = await served.of(caller.name).spent();
      return told;
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
