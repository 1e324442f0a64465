import type { Policy } from '../policy.js';
import { type PairExamples, pairExamples } from './examples.js';
import type { ColumnPairs } from './pairs.js';

/** Pairs in plain words: examples of what stays protected, and of what can be learned. */
export interface PairWords {
  readonly notTold: readonly string[];
  readonly learned: readonly string[];
}

export function pairWords(policy: Pick<Policy, 'protect' | 'columns'>): PairWords {
  const { pairs } = policy.protect;
  if (!pairs) return { notTold: [], learned: [] };
  const examples = pairExamples(policy);
  const form = (name: string): ColumnPairs => pairs.columns.get(name)!;
  const same = examples.filter(({ column }) => form(column).form === 'same').map(({ column }) => column);
  const missingKnown = examples
    .filter(({ column, missing }) => missing === 'apart' && form(column).form !== 'same')
    .map((e) => e.column);
  const found = examples.filter((e) => e.told !== undefined && form(e.column).form !== 'same');
  const rest = [...policy.columns.keys()].filter((name) => !pairs.columns.has(name));
  return {
    notTold: [
      ...examples.filter((e) => e.notTold !== undefined).map((e) => protectedText(e, textOf(policy, e.column))),
      ...(rest.length > 0 ? [`any value of ${listed(rest)} from any other`] : []),
    ],
    learned: [
      ...(same.length > 0 ? [`${same.join(', ')} (rows that are compared agree there)`] : []),
      ...found.map(({ column, told: values }) => `${column} as far as no pairs join values: ${values!.join(' from ')}`),
      ...(policy.protect.secret === 'person' ? ['how many rows a person has (pairs change what they say, not how many)'] : []),
      ...(missingKnown.length > 0 ? [`whether there is an answer to ${missingKnown.join(', ')}`] : []),
    ],
  };
}

const textOf = ({ protect }: Pick<Policy, 'protect'>, column: string): string => {
  const found = protect.pairs!.declarations.find(({ columns }) => columns.includes(column))!;
  return found.text.replace(/, missing apart$/, '');
};

function protectedText({ column, notTold: pair, over, missing }: PairExamples, declared: string): string {
  const further = over ? `; ${over.values.join(' from ')} over ${over.steps} pairs, by ${over.steps} times epsilon` : '';
  const none = missing === 'any' ? '; no answer from any answer' : '';
  return `${column} ${pair!.join(' from ')} (${declared})${further}${none}`;
}

const few = 4;
const listed = (names: readonly string[]): string =>
  names.length <= few ? names.join(', ') : `${names.slice(0, few).join(', ')} and ${names.length - few} more columns`;
