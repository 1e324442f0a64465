import * as z from 'zod';
import { verifyLog } from '../audit-log.js';
import { everybody } from '../role.js';
import { defineRoute, Told } from '../route.js';

const watchers = everybody.filter((role) => role !== 'analyst');

export const routes = [
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
    handle: async ({ service }) => verifyLog(service.logFolder),
  }),
  defineRoute({
    name: 'metrics',
    method: 'get',
    path: '/metrics',
    summary: "Counters and times in Prometheus' text format.",
    roles: watchers,
    tells: 'text/plain',
    answer: z.string(),
    handle: async ({ service }) => new Told(service.metrics.text()),
  }),
];
