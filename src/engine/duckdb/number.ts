import { type DecimalMark, numberPatterns } from '../../policy/number-text.js';

/** The number in a text by the one grammar of policy/number-text.ts, NULL when there is none. A cast alone reads more: "1_000", "nan", "inf". */
export const numberInText = (text: string, mark: DecimalMark = '.'): string => {
  const pointed = mark === ',' ? `replace(${text}, ',', '.')` : text;
  return `CASE WHEN regexp_full_match(${text}, '${numberPatterns[mark]}') THEN TRY_CAST(${pointed} AS DOUBLE) END`;
};
