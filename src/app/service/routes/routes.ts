import type { Route } from '../route.js';
import { routes as ask } from './ask.js';
import { routes as drafts } from './drafts.js';
import { routes as figures } from './figures.js';
import { routes as jobs } from './jobs.js';
import { routes as ledger } from './ledger.js';
import { routes as log } from './log.js';
import { routes as policies } from './policies.js';
import { routes as recorded } from './recorded.js';
import { routes as session } from './session.js';

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
