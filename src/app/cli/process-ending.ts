import type { Fault, Outcome } from '../../base/errors.js';
import { OutcomeLog, outcomeSentence } from '../api/outcome-words.js';

/** Payments of this process, read by whatever ends it. */
export const outcomes = new OutcomeLog();

/** Exit codes of budget outcomes; otherwise a fault's own code, which means that nothing was spent. */
const exitSpent = 6;
const exitRecorded = 7;

export interface ProcessEnding {
  /** Absent where no budget was involved, or where the outcome cannot be known. */
  readonly outcome?: Outcome;
  /** All outcomes, if several entries were reserved. */
  readonly entries?: readonly Outcome[];
  readonly lines: readonly string[];
}

/** Budget outcome at the end of the process, by the entries it reserved, whatever the final fault knows. */
export function processEnding(fault?: Fault): ProcessEnding {
  const { entries } = outcomes;
  const outcome = entries.length > 0 ? outcomes.whole : (fault?.outcome ?? outcomes.whole);
  const one = outcome ? [outcome] : [];
  return {
    ...(outcome && { outcome }),
    ...(entries.length > 1 && { entries }),
    lines: [
      ...(entries.length > 1 ? entries : one).map(outcomeSentence),
      ...(outcomes.isOpen
        ? ['Whether a booking that was under way is in the ledger is not known: "fugu ledger POLICY" lists it.']
        : []),
    ],
  };
}

export function exitOf({ outcome }: ProcessEnding, otherwise: number): number {
  if (outcome?.state === 'spent' || outcomes.isOpen) return exitSpent;
  return outcome?.state === 'recorded' ? exitRecorded : otherwise;
}

export const exitHelp = `
Exit codes:
  0  done
  1  a fault inside Fugu          3  the budget or a quota does not allow it
  2  wrong usage, policy or query 4  access denied
  5  ledger, database or disk
  6  spent without an answer      7  spent and recorded, but not delivered
  Below 6 nothing was spent. 129, 130, 143: stopped by a signal. See docs/reference/outcomes.md.`;
