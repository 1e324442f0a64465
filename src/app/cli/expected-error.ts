import type { Plan } from '../../release/session/plan.js';
import { numberText } from '../report/terminal-text.js';

/**
 * 95 % error of one answer before its release. That of a mean depends on the rows in its cell, which are unknown: shown for two
 * sizes.
 */
export const expectedErrorText = ({ halfWidth, perRow }: Pick<Plan['errors'][number], 'halfWidth' | 'perRow'>): string =>
  perRow
    ? `${numberText(halfWidth / 1000)} with 1,000 rows in a cell, ${numberText(halfWidth / 100)} with 100`
    : numberText(halfWidth);
