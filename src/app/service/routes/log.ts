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
    summary: 'Walks the chain of the audit log of this process.',
    roles: watchers,
    works: true,
    answer: z.strictObject({
      events: z.number().int(),
      head: z.string().describe('Hash of the last event: whoever keeps it notices lines that are taken from the end.'),
      torn: z.array(z.string()).describe('Files whose last line a power cut tore.'),
    }),
    handle: async ({ service }) => verifyLog(service.logFolder),
  }),
  defineRoute({
    name: 'metrics',
    method: 'get',
    path: '/metrics',
    summary: 'Counters and times, as Prometheus reads them.',
    roles: watchers,
    tells: 'text/plain',
    answer: z.string(),
    handle: async ({ service }) => new Told(service.metrics.text()),
  }),
];
