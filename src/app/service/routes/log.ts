import * as z from 'zod';
import { verifyAuditLog } from '../audit-log.js';
import { everybody } from '../role.js';
import { defineRoute, RawBody } from '../route.js';

const watchers = everybody.filter((role) => role !== 'analyst');

export const logRoutes = [
  defineRoute({
    name: 'verifyLog',
    method: 'get',
    path: '/v1/log/verify',
    summary: "Verifies the chain of this process's audit log.",
    roles: watchers,
    works: true,
    answer: z.strictObject({
      events: z.number().int(),
      head: z.string().describe('Hash of the last event: a stored copy reveals lines missing at the end.'),
      torn: z.array(z.string()).describe('Files whose last line is incomplete after a power cut.'),
    }),
    handle: async ({ service }) => verifyAuditLog(service.logFolder),
  }),
  defineRoute({
    name: 'metrics',
    method: 'get',
    path: '/metrics',
    summary: "Counters and times in Prometheus' text format.",
    roles: watchers,
    mediaType: 'text/plain',
    answer: z.string(),
    handle: async ({ service }) => new RawBody(service.metrics.text()),
  }),
];
