import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { tieKindColumns } from '../../../data/ties/kinds.js';
import { spentParts, stepBudgetSummary } from '../../../release/session/parts.js';
import { beliefPoints, whatIfFigures } from '../../api/policy-figures.js';
import { recordedAnswer } from '../../api/recorded.js';
import { hidesTies } from '../../api/tie-figures.js';
import { tableCsv } from '../../report/csv.js';
import { publishedTable } from '../../report/published-table.js';
import type { ServedPolicy } from '../policies.js';
import { Refusal } from '../problem.js';
import { everybody } from '../role.js';
import { defineRoute } from '../route.js';
import { runInWorker } from '../worker.js';
import { visibleEntry } from './entry.js';
import { figureShape } from './shapes.js';

const posterior = z.record(z.string(), z.number());
const leaks = z.array(z.strictObject({ base: z.number(), leak: figureShape }));
const amount = z.union([z.string().max(40), z.number()]).transform(String);

const fileOf = ({ file, policy: { digest } }: ServedPolicy) => ({ file, digest });

export const figureRoutes = [
  defineRoute({
    name: 'belief',
    method: 'get',
    path: '/v1/policies/{policy}/belief',
    summary:
      'Expected error of a count compared with the highest posterior of an attacker, for budgets around that of the policy.',
    roles: everybody,
    works: true,
    answer: z.looseObject({
      column: z.string().optional().describe('Column of the count.'),
      points: z.array(z.strictObject({ epsilon: z.number(), posterior, error: figureShape.nullable() })),
    }),
    handle: async ({ served, caller }) => beliefPoints(served.session(caller.name)),
  }),
  defineRoute({
    name: 'leakage',
    method: 'get',
    path: '/v1/policies/{policy}/leakage',
    summary:
      'Leakage to an attacker who knows the ties, for records with few and with many of them. For stewards only if the policy hides ties or the number of records.',
    roles: ['steward', 'auditor'],
    works: true,
    inWorker: true,
    answer: z.looseObject({
      kinds: z.array(z.looseObject({ name: z.string(), records: z.number().int(), leakage: leaks })),
      group: leaks.describe('Leakage under group privacy.'),
    }),
    handle: async ({ served, caller }) => {
      if (caller.role !== 'steward' && hidesTies(served.policy))
        throw new Refusal({
          status: 403,
          code: 'ACCESS_DENIED',
          title: 'Who is tied to whom is hidden in this policy.',
          hint: 'Ask a steward.',
        });
      return runInWorker({ ...fileOf(served), kind: 'leakage' });
    },
  }),
  defineRoute({
    name: 'whatIf',
    method: 'post',
    path: '/v1/policies/{policy}/what-if',
    summary: 'Effect of another limit, or of other odds ratios of the ties. Reads ties only, spends nothing, changes nothing.',
    roles: ['steward'],
    works: true,
    inWorker: true,
    body: z.strictObject({
      epsilon: amount.optional(),
      belief: z.strictObject({ prior: amount, posterior: amount }).optional(),
      ties: z
        .array(
          z.strictObject({
            index: z.number().int().min(0).max(1000),
            oddsRatio: z.union([z.number().min(1).max(1e12), z.literal('inf')]),
          }),
        )
        .max(100)
        .optional(),
    }),
    answer: z.looseObject({
      epsilon: z.number(),
      base: z.number().describe('Largest spending of one record, before ties.'),
      amplification: figureShape,
      error: figureShape.nullable(),
      posterior,
    }),
    handle: async ({ served, caller, body }) =>
      body.ties?.length
        ? runInWorker({ ...fileOf(served), kind: 'whatIf', request: body })
        : whatIfFigures(
            served.policy,
            body,
            served.session(caller.name).account.routes.map(({ amplifier }) => amplifier),
          ),
  }),
  defineRoute({
    name: 'ties',
    method: 'get',
    path: '/v1/policies/{policy}/ties',
    summary: 'Part of the network of ties, for a drawing. Holds no names.',
    roles: ['steward'],
    works: true,
    inWorker: true,
    query: z.strictObject({ most: z.coerce.number().int().min(1).max(2000).optional().describe('Records; 300 when absent.') }),
    answer: z.looseObject({
      records: z.number().int(),
      ties: z.number().int(),
      shown: z.looseObject({
        nodes: z.array(
          z.looseObject({
            id: z.number().int(),
            degree: z.number().int(),
            kind: z.literal('shared').optional().describe('A hidden variable that several records share, instead of a record.'),
          }),
        ),
        edges: z.array(z.looseObject({ a: z.number().int(), b: z.number().int(), kind: z.string(), oddsRatio: figureShape })),
      }),
      kinds: z.array(z.looseObject({ kind: z.string(), index: z.number().int() })),
    }),
    handle: ({ served, query: { most = 300 } }) => runInWorker({ ...fileOf(served), kind: 'network', most }),
  }),
  defineRoute({
    name: 'time',
    method: 'get',
    path: '/v1/policies/{policy}/time',
    summary: 'Spent and remaining budget of each step, ties included, if the policy has steps.',
    roles: everybody,
    answer: z.looseObject({
      column: z.string(),
      each: figureShape.optional().describe('Budget of every step, without an end.'),
      steps: z.array(z.looseObject({ part: z.string(), spent: figureShape, remaining: figureShape })),
    }),
    handle: async ({ served, caller }) => {
      const session = served.session(caller.name);
      const { policy, account } = session;
      const column = policy.dependence.flatMap((d) => tieKindColumns(d).filter(({ key }) => key === 'order'))[0]?.column;
      if (column === undefined)
        throw new Fault('QUERY_UNSUPPORTED', 'This policy has no steps.', 'A declared sequence makes some.');
      const steps = spentParts(policy, account, await session.spent()).filter((part) => part.column === column);
      return { column, ...(account.stepBudget && { each: stepBudgetSummary(policy, account.stepBudget).each }), steps };
    },
  }),
  defineRoute({
    name: 'attack',
    method: 'post',
    path: '/v1/policies/{policy}/attack',
    summary:
      'Posteriors of attackers with and without the ties after a recorded release. As private as the rows, and recorded nowhere.',
    roles: ['steward'],
    works: true,
    inWorker: true,
    body: z.strictObject({
      entry: z.number().int().min(1).max(1e12),
      column: z.string().max(500).optional().describe('Histogram to attack; the tied column when absent.'),
      show: z.number().int().min(1).max(50).optional(),
    }),
    answer: z.looseObject({
      private: z.literal(true),
      column: z.string(),
      attackers: z.array(z.looseObject({ name: z.string(), median: figureShape, most: figureShape })),
      exposed: z.array(z.looseObject({ beliefs: z.array(z.looseObject({})) })),
    }),
    handle: async (request) => {
      const { served, caller, body } = request;
      const session = served.session(caller.name);
      const sequence = await visibleEntry({ ...request, named: { entry: String(body.entry) } });
      const { tables, receipt } = await recordedAnswer(session, sequence);
      if (!tables) throw new Fault('QUERY_UNSUPPORTED', 'Only tables can be attacked.', 'Name the entry of a histogram.');
      return runInWorker({
        ...fileOf(served),
        kind: 'attack',
        receipt: JSON.stringify(receipt),
        tables: tables.map((table, k) => [`${k}.csv`, tableCsv(publishedTable(table, served.policy))] as const),
        column: body.column,
        show: body.show ?? 6,
      });
    },
  }),
];
