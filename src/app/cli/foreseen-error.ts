import type { Plan } from '../../release/session/plan.js';
import { figure } from '../report/terminal-text.js';

/**
 * 95 % error of one answer before its release. That of a mean depends on the rows in its cell, which are unknown: shown for two
 * sizes.
 */
export const foreseenError = ({ halfWidth, perRow }: Pick<Plan['errors'][number], 'halfWidth' | 'perRow'>): string =>
  perRow ? `${figure(halfWidth / 1000)} with 1,000 rows in a cell, ${figure(halfWidth / 100)} with 100` : figure(halfWidth);
