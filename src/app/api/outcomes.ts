import * as z from 'zod';
import type { Outcome } from '../../base/errors.js';
import { outcomeSentence as wordsOf } from '../../release/session/outcome.js';
import { parseInput } from './input.js';

const entry = z.number();
const outcome = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('not spent') }),
  z.strictObject({ state: z.literal('spent'), entry, resumable: z.boolean() }),
  z.strictObject({ state: z.literal('recorded'), entry }),
]);

/**
 * Budget outcome as text; every Fault of a release carries it as `outcome`.
 *
 * @example
 * console.log(outcomeText({ state: 'recorded', entry: 3 }));
 */
export function outcomeText(given: Outcome): string {
  return wordsOf(parseInput(outcome, given, 'The outcome'));
}
