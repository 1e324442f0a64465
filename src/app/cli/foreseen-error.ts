import type { Plan } from '../../release/session/plan.js';
import { figure } from '../report/terminal-text.js';

/** The 95 % error of one number, before it is released. That of a mean hangs on the rows of its cell, which nobody knows yet: told for two sizes. */
export const foreseenError = ({ halfWidth, perRow }: Pick<Plan['errors'][number], 'halfWidth' | 'perRow'>): string =>
  perRow ? `${figure(halfWidth / 1000)} with 1,000 rows in a cell, ${figure(halfWidth / 100)} with 100` : figure(halfWidth);
