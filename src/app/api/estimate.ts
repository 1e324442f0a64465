import * as z from 'zod';
import { type EstimatedTables, estimateTables } from '../../analysis/workload/estimate-tables.js';
import { workloadSchema } from '../../analysis/workload/form.js';
import { Fault } from '../../base/errors.js';
import type { PrivacySession } from '../../release/session/session.js';
import { parseOptions } from './input.js';
import { workloadFile } from './named-text.js';
import { defineRequest, field } from './request.js';

export type { EstimatedTables };

export const estimateRequest = defineRequest('EstimateRequest', {
  workload: field(workloadSchema.optional(), 'Tables to estimate, as for a release; every recorded table when absent.', {
    value: 'file',
    help: 'the tables wanted, as for release; every table on record when absent',
    reads: workloadFile,
  }),
  tidy: field(z.boolean().optional(), 'No negative counts: the tables of one distribution, or the nearest.', {
    help: 'no negative counts: the tables of one distribution',
  }),
  since: field(z.string().optional(), 'Uses entries since that day (2026-11-17) or moment only, because the data changed then.', {
    value: 'day',
    help: 'only what was paid for since then, such as 2026-11-17: the data has changed before',
  }),
  entries: field(z.array(z.number().int().min(0)).min(1).optional(), 'Uses only these entries of the ledger.', {
    value: 'list',
    help: 'only these entries of the ledger, such as 3,5,8',
    reads: 'names',
    refusal: ['--entries takes numbers of the ledger.', 'Write for example --entries 3,5,8 ("fugu ledger POLICY" lists them).'],
  }),
});
export type EstimateRequest = z.input<typeof estimateRequest>;

/** Tables from all recorded answers. */
export function estimated(session: PrivacySession, given: unknown): Promise<EstimatedTables> {
  const { workload, tidy = false, since, entries } = parseOptions(estimateRequest, given);
  return estimateTables(session, workload, {
    tidy,
    ...(since !== undefined && { since: moment(since) }),
    ...(entries && { entries }),
  });
}

function moment(text: string): Date {
  const at = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(at.getTime())) return at;
  throw new Fault(
    'USAGE',
    'The day since which answers are used is written as 2026-11-17.',
    'Leave it out to use all answers on record.',
  );
}
