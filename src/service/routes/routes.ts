import type { Route } from '../route.js';
import { routes as ask } from './ask.js';
import { routes as ledger } from './ledger.js';
import { routes as policies } from './policies.js';

/** Everything that can be asked, in the order the API document lists it. */
export const routes: readonly Route[] = [...policies, ...ask, ...ledger];
