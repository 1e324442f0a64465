import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { publicName } from '../../../policy/population.js';
import { stepBudgetSummary } from '../../../release/session/parts.js';
import { entryPage } from '../../api/ledger-page.js';
import { everybody } from '../role.js';
import { defineRoute } from '../route.js';
import { budgetFigures, figureShape } from './shapes.js';

const use = z.looseObject({ total: figureShape.optional(), spent: figureShape, remaining: figureShape });
const spending = z.looseObject({
  population: z.string(),
  budget: budgetFigures,
  gained: figureShape.describe('Upper bound on the privacy loss of one record so far.'),
  quotas: z.array(use).optional().describe('Quotas of analysts; an analyst sees their own.'),
  parts: z.array(use).optional().describe('Budget use by values of public columns, if releases covered single values.'),
  steps: z.strictObject({ column: z.string(), each: figureShape }).optional().describe('Budget of every step, without an end.'),
});
const entry = z.looseObject({
  sequence: z.number().int(),
  at: z.string(),
  analyst: z.string(),
  label: z.string(),
  epsilon: z.number().optional().describe('Budget used by this entry alone, ties included; absent where it paid for nothing.'),
  settled: z.boolean(),
  hash: z.string(),
});

export const ledgerRoutes = [
  defineRoute({
    name: 'budget',
    method: 'get',
    path: '/v1/policies/{policy}/budget',
    summary: 'Spent and remaining budget of this population.',
    roles: everybody,
    answer: spending,
    handle: async ({ served, caller }) => {
      // The ledger's location is not shown to callers.
      const { ledger: _ledger, population: _population, quotas, ...rest } = await served.of(caller.name).spent();
      const { policy, account } = served.session(caller.name);
      const seen = caller.role === 'analyst' ? quotas?.filter(({ analyst }) => analyst === caller.name) : quotas;
      return {
        population: publicName(policy),
        ...rest,
        ...(seen && { quotas: seen }),
        ...(account.stepBudget && { steps: stepBudgetSummary(policy, account.stepBudget) }),
      };
    },
  }),
  defineRoute({
    name: 'entries',
    method: 'get',
    path: '/v1/policies/{policy}/ledger',
    summary: 'All ledger entries of this population; an analyst sees their own.',
    roles: everybody,
    query: z.strictObject({
      after: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('The first entries after this one; the first of all when absent.'),
      before: z.coerce
        .number()
        .int()
        .min(0)
        .optional()
        .describe('The last entries before this one instead; 9007199254740991 for the last of all.'),
      most: z.coerce.number().int().min(1).max(1000).optional().describe('Largest number of entries; 100 when absent.'),
    }),
    answer: z.strictObject({
      entries: z.array(entry).describe('Oldest first.'),
      more: z.boolean().describe('True if more entries may follow in that direction, even if few or none are listed here.'),
      next: z.number().int().optional().describe('Sequence number to continue from, as after or before.'),
    }),
    handle: async ({ served, caller, query: { after, before, most = 100 } }) => {
      if (after !== undefined && before !== undefined)
        throw new Fault('USAGE', 'Entries are listed in one direction.', 'Send after or before.');
      const analyst = caller.role === 'analyst' ? caller.name : undefined;
      return entryPage(served.session(caller.name), { after, before, most, analyst });
    },
  }),
  defineRoute({
    name: 'verify',
    method: 'get',
    path: '/v1/policies/{policy}/ledger/verify',
    summary: 'Verifies the chain of the ledger.',
    roles: ['steward', 'auditor'],
    works: true,
    answer: z.looseObject({ ok: z.boolean(), entries: z.number().int() }),
    handle: ({ served, caller }) => served.of(caller.name).verify(),
  }),
];
