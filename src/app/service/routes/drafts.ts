import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { existsSync, rmSync } from '../../../base/platform/files.js';
import { dirname, join } from '../../../base/platform/paths.js';
import { publicName } from '../../../policy/population.js';
import { answersForm } from '../drafts.js';
import { comeAgain } from '../identity.js';
import type { ServedPolicy } from '../policies.js';
import { Refusal } from '../problem.js';
import type { Role } from '../role.js';
import { type Caller, defineRoute } from '../route.js';

const listed = z.looseObject({ id: z.string(), file: z.string(), made: z.string() });
const answerShape = z.union([z.string(), z.array(z.string())]);
const draft = z.looseObject({
  id: z.string(),
  file: z.string(),
  made: z.string(),
  questions: z.array(
    z.looseObject({
      id: z.string(),
      text: z.string(),
      choices: z.array(z.strictObject({ value: z.string(), text: z.string() })).optional(),
      several: z.literal(true).optional(),
      usual: answerShape.optional(),
      answer: answerShape.optional(),
      needed: z.literal(true).optional(),
    }),
  ),
  columns: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  leftOut: z.array(z.looseObject({ name: z.string(), why: z.string() })),
  doubts: z.array(z.string()),
  undecided: z.boolean(),
  hasBudget: z.literal(true).optional().describe('Its data has the budget of another policy: confirming it needs newBudget.'),
  policy: z.string().describe('Text of the policy as it would be written.'),
});
const roles: readonly Role[] = ['steward'];

/** A token limited to some policies makes no others. */
function refuseNarrow({ policies }: Caller): void {
  if (policies !== undefined)
    throw new Refusal({
      status: 403,
      code: 'ACCESS_DENIED',
      title: 'This token opens some policies only.',
      hint: 'Ask a steward whose token opens all.',
    });
}

/** A path means nothing in a browser; the name of the policy that has the budget does. */
function namePolicyHolder(error: unknown, served: readonly ServedPolicy[]): unknown {
  const population = error instanceof Fault ? error.details.population : undefined;
  const name = served.find(({ policy }) => policy.population === population)?.name;
  if (!(error instanceof Fault) || name === undefined) return error;
  return new Fault(
    error.code,
    `This data has a budget already: that of the policy ${name}.`,
    'Ask it there. A second budget needs a reason, which goes on record: newBudget. What is promised about both adds up.',
    { ...(error.outcome && { outcome: error.outcome }) },
  );
}

export const draftRoutes = [
  defineRoute({
    name: 'drafts',
    method: 'get',
    path: '/v1/drafts',
    summary: 'Files that were sent and have no policy yet.',
    roles,
    answer: z.strictObject({ drafts: z.array(listed) }),
    handle: async ({ service, caller }) => {
      refuseNarrow(caller);
      return { drafts: service.drafts.list() };
    },
  }),
  defineRoute({
    name: 'draft',
    method: 'post',
    path: '/v1/drafts',
    summary:
      'Sends a file as it is, its name in x-file-name, and begins the interview about it. The answer is as private as the file.',
    roles,
    works: true,
    takesFile: true,
    answer: draft,
    handle: async ({ service, caller, sent, inTurn }) => {
      refuseNarrow(caller);
      const back = await service.sending.take();
      if (!back)
        throw new Refusal({
          status: 503,
          code: 'BUSY',
          title: 'Too many files are being sent already.',
          hint: comeAgain,
          wait: 5,
        });
      const receive = async () => service.drafts.receive(await sent());
      const draft = await receive().finally(back);
      try {
        return await inTurn(() => service.drafts.begin(draft));
      } catch (error) {
        // Also without a turn: a file that is not listed could not be removed by anybody.
        service.drafts.forget(draft);
        throw error;
      }
    },
  }),
  defineRoute({
    name: 'drafted',
    method: 'get',
    path: '/v1/drafts/{draft}',
    summary: 'Questions about a file, and the answers so far.',
    roles,
    works: true,
    answer: draft,
    handle: async ({ service, caller, named }) => {
      refuseNarrow(caller);
      return service.drafts.find(named.draft!);
    },
  }),
  defineRoute({
    name: 'answerDraft',
    method: 'post',
    path: '/v1/drafts/{draft}/answers',
    summary: 'Answers questions of the interview, by their ids.',
    roles,
    works: true,
    body: answersForm,
    answer: draft,
    handle: async ({ service, caller, named, body }) => {
      refuseNarrow(caller);
      return service.drafts.answer(named.draft!, body);
    },
  }),
  defineRoute({
    name: 'confirmDraft',
    method: 'post',
    path: '/v1/drafts/{draft}/confirm',
    summary:
      'Accepts the domains read from the data, writes the policy next to the first one and serves it, also after a restart. Data that has a budget already is refused unless newBudget gives a reason.',
    roles,
    works: true,
    body: z.strictObject({
      name: z
        .string()
        .regex(/^[A-Za-z0-9][\w-]{0,59}$/)
        .describe('Name of the policy, and of its file.'),
      columns: z
        .union([z.literal('all'), z.array(z.string().max(500)).max(5000)])
        .optional()
        .describe('Columns that were reviewed; "all" when absent.'),
      newBudget: z
        .string()
        .max(1000)
        .regex(/\S/)
        .optional()
        .describe("Reason for a further budget of this data; permanent in the ledger's chain."),
    }),
    answer: z.strictObject({ name: z.string(), population: z.string() }),
    handle: async ({ service, caller, named, body: { name, columns = 'all', newBudget } }) => {
      refuseNarrow(caller);
      const file = join(dirname(service.firstPolicy!.policy.file), `${name}.yaml`);
      if (existsSync(file) || service.policyOf(caller, name))
        throw new Refusal({
          status: 409,
          code: 'USAGE',
          title: `There is a policy called ${name} already.`,
          hint: 'Choose another name.',
        });
      return service.drafts.alone(named.draft!, async () => {
        await service.drafts.confirm(named.draft!, file, columns);
        try {
          const served = await service.serveMade(name, file, newBudget?.trim());
          service.drafts.end(named.draft!, true);
          return { name: served.name, population: publicName(served.policy) };
        } catch (error) {
          rmSync(file, { force: true });
          throw namePolicyHolder(error, service.policiesOf(caller));
        }
      });
    },
  }),
  defineRoute({
    name: 'endDraft',
    method: 'delete',
    path: '/v1/drafts/{draft}',
    summary: 'Removes a file that was sent.',
    roles,
    answer: z.strictObject({ ended: z.boolean() }),
    handle: async ({ service, caller, named }) => {
      refuseNarrow(caller);
      await service.drafts.alone(named.draft!, async () => service.drafts.end(named.draft!));
      return { ended: true };
    },
  }),
];
