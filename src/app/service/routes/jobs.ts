import * as z from 'zod';
import { everybody } from '../role.js';
import { defineRoute, RawBody } from '../route.js';
import { releaseOnce } from './ask.js';
import { questionShape, releaseShape } from './shapes.js';

const job = z.looseObject({
  job: z.string(),
  policy: z.string(),
  state: z.enum(['waiting', 'running', 'done', 'failed', 'cancelled']),
  progress: z.strictObject({ done: z.number(), of: z.number(), what: z.string() }).optional(),
  outcome: z.looseObject({ state: z.string() }).optional().describe('Budget outcome, as far as it is known.'),
  answer: releaseShape.optional(),
  problem: z.looseObject({ title: z.string(), code: z.string() }).optional(),
});

export const jobRoutes = [
  defineRoute({
    name: 'begin',
    method: 'post',
    path: '/v1/policies/{policy}/jobs',
    summary: 'The same as a release, in the background: answers at once with the name of a job.',
    roles: ['steward', 'analyst'],
    status: 202,
    body: questionShape,
    answer: job,
    handle: async ({ service, served, caller, body, once }) =>
      service.jobs.begin(caller, served.name, (order) =>
        releaseOnce({ service, served, caller, body, order, ...(once !== undefined && { once }) }),
      ),
  }),
  defineRoute({
    name: 'job',
    method: 'get',
    path: '/v1/jobs/{job}',
    summary: 'State of a job, and its answer.',
    roles: everybody,
    answer: job,
    handle: async ({ service, caller, named }) => service.jobs.find(caller, named.job!).view(),
  }),
  defineRoute({
    name: 'events',
    method: 'get',
    path: '/v1/jobs/{job}/events',
    summary: 'Server-sent events: progress, then done, failed or cancelled.',
    roles: everybody,
    mediaType: 'text/event-stream',
    answer: z.string(),
    handle: async ({ service, caller, session, named }) =>
      new RawBody(
        service.jobs.find(caller, named.job!).events(service.stillIn(caller, session), service.limits.heartbeatMilliseconds),
      ),
  }),
  defineRoute({
    name: 'cancel',
    method: 'delete',
    path: '/v1/jobs/{job}',
    summary:
      'Cancels a job. A reserved cost stays reserved: such a job is finished and recorded, and the same request returns its answer.',
    roles: everybody,
    answer: job,
    handle: async ({ service, caller, named }) => {
      const found = service.jobs.find(caller, named.job!);
      found.cancel();
      return found.view();
    },
  }),
];
