import * as z from 'zod';
import { recordedAnswer, recordedReceipt } from '../../api/recorded.js';
import { htmlReport } from '../../report/html.js';
import { analysisReport, reportOf } from '../../report/report.js';
import { everybody, type Role } from '../role.js';
import { defineRoute, Told } from '../route.js';
import { seenEntry } from './entry.js';
import { receipt, release } from './shapes.js';

const query = z.strictObject({
  tidy: z.enum(['true', 'false']).optional().describe('No negative counts, totals that agree.'),
});
const owners: readonly Role[] = ['steward', 'analyst'];

export const routes = [
  defineRoute({
    name: 'receipt',
    method: 'get',
    path: '/v1/policies/{policy}/receipts/{entry}',
    summary: 'Receipt of a ledger entry: its cost and its promise; analysts see their own.',
    roles: everybody,
    answer: receipt,
    handle: async (asked) => recordedReceipt(asked.served.session(asked.caller.name), await seenEntry(asked)),
  }),
  defineRoute({
    name: 'answer',
    method: 'get',
    path: '/v1/policies/{policy}/answers/{entry}',
    summary: 'Recorded answer of a ledger entry, free; analysts see their own.',
    roles: owners,
    query,
    answer: release,
    handle: async (asked) =>
      recordedAnswer(asked.served.session(asked.caller.name), await seenEntry(asked), asked.query.tidy === 'true'),
  }),
  defineRoute({
    name: 'report',
    method: 'get',
    path: '/v1/policies/{policy}/reports/{entry}',
    summary: 'The same as a standalone page, to be kept or mailed.',
    roles: owners,
    query,
    tells: 'text/html',
    answer: z.string(),
    handle: async (asked) => {
      const { policy } = asked.served;
      const told = await recordedAnswer(
        asked.served.session(asked.caller.name),
        await seenEntry(asked),
        asked.query.tidy === 'true',
      );
      asked.more.headers['content-security-policy'] =
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";
      return new Told(
        htmlReport(
          told.tables
            ? reportOf({ tables: told.tables, receipt: told.receipt }, policy)
            : analysisReport(told.receipt, policy, [plainSection(told.result)]),
        ),
      );
    },
  }),
];

/** A result that has no picture here: its figures as they are. */
function plainSection(result: unknown) {
  const rows = Object.entries(result as object).map(([name, value]) => [
    name,
    typeof value === 'object' ? `${JSON.stringify(value).slice(0, 400)}` : String(value),
  ]);
  return {
    title: 'Result',
    measure: 'value',
    panels: [],
    columns: ['field', 'value'],
    rows,
    figures: 0,
    error: 'As it was recorded.',
  };
}
