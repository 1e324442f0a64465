import * as z from 'zod';
import { type EstimatedTables, estimateTables } from '../../analysis/workload/estimate-tables.js';
import { workloadSchema } from '../../analysis/workload/form.js';
import { Fault } from '../../base/errors.js';
import type { PrivacySession } from '../../release/session/session.js';
import { parseOptions } from './input.js';
import { defineRequest, field } from './request.js';

export type { EstimatedTables };

const estimateRequest = defineRequest('EstimateRequest', {
  workload: field(workloadSchema.optional(), 'Tables to estimate, as for a release; every recorded table when absent.'),
  tidy: field(z.boolean().optional(), 'No negative counts: the tables of one distribution, or the nearest.'),
  since: field(z.string().optional(), 'Uses entries since that day (2026-11-17) or moment only, because the data changed then.'),
  entries: field(z.array(z.number().int().min(0)).min(1).optional(), 'Uses only these entries of the ledger.'),
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
