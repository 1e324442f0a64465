import type { Route } from '../route.js';
import { askRoutes as ask } from './ask.js';
import { draftRoutes as drafts } from './drafts.js';
import { figureRoutes as figures } from './figures.js';
import { jobRoutes as jobs } from './jobs.js';
import { ledgerRoutes as ledger } from './ledger.js';
import { logRoutes as log } from './log.js';
import { policyRoutes as policies } from './policies.js';
import { recordedRoutes as recorded } from './recorded.js';
import { sessionRoutes as session } from './session.js';

/** All routes, in the order of the API document. */
export const routes: readonly Route[] = [
  ...session,
  ...policies,
  ...ask,
  ...jobs,
  ...ledger,
  ...recorded,
  ...figures,
  ...drafts,
  ...log,
];
