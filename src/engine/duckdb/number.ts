import { numberPattern } from '../../policy/number-text.js';

/** The number in a text by the one grammar of policy/number-text.ts, NULL when there is none. A cast alone reads more: "1_000", "nan", "inf". */
export const numberInText = (text: string): string =>
  `CASE WHEN regexp_full_match(${text}, '${numberPattern}') THEN TRY_CAST(${text} AS DOUBLE) END`;
