import { codesOf, missingLabel } from '../code.js';
import { isCoded } from '../domain.js';
import type { Policy } from '../policy.js';
import type { KnownTotal } from './known.js';

/** Known totals in plain words: an example of what can be learned, and of what stays protected. */
export interface KnownWords {
  readonly learned: readonly string[];
  readonly notTold: readonly string[];
}

export function knownWords({ known, columns }: Pick<Policy, 'known' | 'columns'>): KnownWords {
  if (!known) return { learned: [], notTold: [] };
  const { together, descriptions, totals, singles } = known;
  const first = columnOf(totals[0]!);
  const column = columns.get(first);
  const values = column && isCoded(column) ? [...codesOf(column), missingLabel].slice(0, 2) : [];
  const example = values.length === 2 ? `, ${values[0]} and another's ${values[1]} from the other way round` : '';
  return {
    learned: descriptions.map((text) => `${text} (known, and released without noise)`),
    notTold: [
      `whose: somebody's ${first}${example}`,
      ...(singles ? [] : ['nor anything else of rows that can only be exchanged together']),
      `what else one of those rows says: noise is for up to ${together} row${together === 1 ? '' : 's'} that change at once and keep the totals`,
    ],
  };
}

function columnOf(total: KnownTotal): string {
  if (total.kind === 'sum') return total.column;
  return (total.kind === 'count' ? total.where : total.by)[0]!.column;
}
