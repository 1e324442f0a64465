import * as z from 'zod';
import { type Rational, toNumber } from '../../../base/exact/rational.js';
import { explain } from '../../../data/terms/explain.js';
import { tieKindColumns } from '../../../data/ties/kinds.js';
import type { Column, Policy } from '../../../policy/policy.js';
import { publicName } from '../../../policy/population.js';
import type { CheckedPolicy } from '../../api/check.js';
import { everybody } from '../role.js';
import { defineRoute } from '../route.js';
import { runInWorker } from '../worker.js';

const column = z.looseObject({
  name: z.string(),
  type: z.string(),
  label: z.string().optional(),
  values: z.array(z.strictObject({ value: z.string(), label: z.string().optional() })).optional(),
  bounds: z.array(z.number()).optional(),
  bins: z.array(z.number()).optional(),
  step: z.number().optional(),
  /** Its numbers are days since 1970-01-01; conditions name them as dates. */
  date: z.literal(true).optional(),
  public: z.literal(true).optional(),
});
const sentence = z.strictObject({ topic: z.string(), text: z.string() });

function columnOf(declared: Column) {
  const { name, type, label, public: known } = declared;
  return {
    name,
    type,
    ...(label !== undefined && { label }),
    ...('values' in declared && {
      values: declared.values.map((value) => {
        const words = declared.labels.get(value);
        return { value, ...(words !== undefined && words !== value && { label: words }) };
      }),
    }),
    ...('bounds' in declared && { bounds: declared.bounds.map(toNumber), step: toNumber(declared.step) }),
    ...('date' in declared && { date: true }),
    ...('bins' in declared && declared.bins && { bins: declared.bins.map(toNumber) }),
    ...(known && { public: true }),
  };
}

/** Promise of the policy. The locations of its files and its ledger are not shown to callers. */
const sentencesOf = (policy: Policy) =>
  explain({ ...policy, ledger: 'the ledger of this service', population: publicName(policy) });

/** Public column that orders the rows. */
const orderOf = ({ dependence }: Policy): string | undefined =>
  dependence.flatMap((d) => tieKindColumns(d).filter(({ key }) => key === 'order'))[0]?.column;

function detailsOf(name: string, policy: Policy) {
  const { protect, budget, columns, relations, tables, dependence } = policy;
  const steps = orderOf(policy);
  const number = (x: Rational) => toNumber(x);
  return {
    name,
    population: publicName(policy),
    ...(policy.title !== undefined && { title: policy.title }),
    secret: protect.secret,
    adversary: protect.adversary,
    ...(protect.neighbours && { neighbours: protect.neighbours }),
    budget: {
      epsilon: number(budget.epsilon),
      delta: number(budget.delta),
      ...(budget.belief && { belief: { prior: number(budget.belief.prior), posterior: number(budget.belief.posterior) } }),
    },
    columns: [...columns.values()].map(columnOf),
    dependence: dependence.map((d) => plainTie(d)),
    ...(relations.size > 0 && {
      relations: [...relations.values()].map(({ name, columns, symmetric, private: hidden }) => ({
        name,
        columns,
        symmetric,
        private: hidden,
      })),
    }),
    ...(tables &&
      tables.size > 0 && {
        tables: [...tables.values()].map((t) => ({
          name: t.name,
          public: t.public,
          links: t.links,
          columns: [...t.columns.values()].map(columnOf),
        })),
      }),
    ...(steps !== undefined && { steps: { column: steps } }),
    sentences: sentencesOf(policy),
  };
}

/** Declared tie as written, without the locations of its files. */
function plainTie(d: object): object {
  const fields = Object.entries(d).filter(([, v]) => ['string', 'number', 'boolean'].includes(typeof v) || Array.isArray(v));
  return Object.fromEntries(fields.filter(([, v]) => !(typeof v === 'string' && v.includes('/'))));
}

export const policyRoutes = [
  defineRoute({
    name: 'policies',
    method: 'get',
    path: '/v1/policies',
    summary: 'The policies this token opens.',
    roles: everybody,
    answer: z.strictObject({
      policies: z.array(
        z.strictObject({
          name: z.string(),
          population: z.string(),
          steps: z.boolean().describe('True if rows are ordered in time: then the route `time` has figures.'),
        }),
      ),
    }),
    handle: async ({ service, caller }) => ({
      policies: service.policiesOf(caller).map(({ name, policy }) => ({
        name,
        population: publicName(policy),
        steps: orderOf(policy) !== undefined,
      })),
    }),
  }),
  defineRoute({
    name: 'policy',
    method: 'get',
    path: '/v1/policies/{policy}',
    summary: 'Declared columns, privacy unit, attacker and budget, in figures and in words.',
    roles: everybody,
    answer: z.looseObject({
      name: z.string(),
      population: z.string(),
      title: z.string().optional(),
      secret: z.string(),
      adversary: z.string(),
      neighbours: z.string().optional(),
      budget: z.looseObject({
        epsilon: z.number(),
        delta: z.number(),
        belief: z.strictObject({ prior: z.number(), posterior: z.number() }).optional(),
      }),
      columns: z.array(column),
      dependence: z.array(z.looseObject({ kind: z.string() })).describe('Declared ties, in order.'),
      relations: z.array(z.looseObject({ name: z.string(), columns: z.array(z.string()) })).optional(),
      tables: z.array(z.looseObject({ name: z.string(), columns: z.array(column) })).optional(),
      steps: z.strictObject({ column: z.string() }).optional().describe('Public column that orders the rows.'),
      sentences: z.array(sentence),
    }),
    handle: async ({ served: { name, policy } }) => detailsOf(name, policy),
  }),
  defineRoute({
    name: 'check',
    method: 'get',
    path: '/v1/policies/{policy}/check',
    summary:
      'Promise of the policy and its missing declarations, in plain words. Loads every file that it names; spends nothing.',
    roles: everybody,
    works: true,
    inWorker: true,
    answer: z.looseObject({
      ready: z.boolean(),
      undecided: z.boolean(),
      population: z.string(),
      epsilon: z.string(),
      delta: z.string(),
      explanation: z.array(sentence),
      warnings: z.array(z.string()),
    }),
    handle: async ({ served: { name, file, policy }, caller: { role } }) => {
      const checked = (await runInWorker({ file, digest: policy.digest, kind: 'check' })) as CheckedPolicy;
      const { policy: _file, ledger: _ledger, population: _population, warnings, ...fields } = checked;
      return {
        policy: name,
        population: publicName(policy),
        ...fields,
        explanation: sentencesOf(policy),
        // Ways in which the same people could get a second budget: with file names, so for stewards only.
        warnings: role === 'steward' ? warnings : [],
      };
    },
  }),
];
