import * as z from 'zod';
import { recordedAnswer, recordedReceipt } from '../../api/recorded.js';
import { htmlReport } from '../../report/html.js';
import { analysisReport, reportOf } from '../../report/report.js';
import { everybody, type Role } from '../role.js';
import { defineRoute, RawBody } from '../route.js';
import { visibleEntry } from './entry.js';
import { receiptShape, releaseShape } from './shapes.js';

const query = z.strictObject({
  tidy: z.enum(['true', 'false']).optional().describe('No negative counts, totals that agree.'),
});
const owners: readonly Role[] = ['steward', 'analyst'];

export const recordedRoutes = [
  defineRoute({
    name: 'receipt',
    method: 'get',
    path: '/v1/policies/{policy}/receipts/{entry}',
    summary: 'Receipt of a ledger entry: its cost and its promise; analysts see their own.',
    roles: everybody,
    answer: receiptShape,
    handle: async (request) => recordedReceipt(request.served.session(request.caller.name), await visibleEntry(request)),
  }),
  defineRoute({
    name: 'answer',
    method: 'get',
    path: '/v1/policies/{policy}/answers/{entry}',
    summary: 'Recorded answer of a ledger entry, free; analysts see their own.',
    roles: owners,
    query,
    answer: releaseShape,
    handle: async (request) =>
      recordedAnswer(request.served.session(request.caller.name), await visibleEntry(request), request.query.tidy === 'true'),
  }),
  defineRoute({
    name: 'report',
    method: 'get',
    path: '/v1/policies/{policy}/reports/{entry}',
    summary: 'The same as a standalone page, to be kept or mailed.',
    roles: owners,
    query,
    mediaType: 'text/html',
    answer: z.string(),
    handle: async (request) => {
      const { policy } = request.served;
      const recorded = await recordedAnswer(
        request.served.session(request.caller.name),
        await visibleEntry(request),
        request.query.tidy === 'true',
      );
      request.more.headers['content-security-policy'] =
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";
      return new RawBody(
        htmlReport(
          recorded.tables
            ? reportOf({ tables: recorded.tables, receipt: recorded.receipt }, policy)
            : analysisReport(recorded.receipt, policy, [plainSection(recorded.result)]),
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
