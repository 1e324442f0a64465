import { basename } from '../../base/platform/paths.js';
import type { Policy } from '../../policy/policy.js';
import type { Plan } from '../../release/session/plan.js';
import type { Fugu } from '../api/fugu.js';
import { progressBar, waitingClock, warnCaution } from './output.js';
import { outcomes } from './process-ending.js';

/** Opens policy, data and ledger, runs the work, and always closes them. */
export async function withSession<T>(
  file: string,
  settings: {
    readonly decide?: ((plan: Plan) => Promise<void>) | undefined;
    readonly acceptNoProtection?: boolean;
    readonly newBudget?: string;
    readonly policy?: Policy;
  },
  work: (fugu: Fugu, policy: Policy) => Promise<T>,
): Promise<T> {
  let stop: () => void = () => undefined;
  const as = labelOf(process.env.FUGU_ANALYST);
  const opening = (source: string) => {
    stop = waitingClock(`working on ${basename(source)}`);
  };
  const { decide, acceptNoProtection = false, newBudget, policy } = settings;
  // A running clock would overwrite the question.
  const confirmed =
    decide &&
    ((plan: Plan) => {
      stop();
      return decide(plan);
    });
  const { withFugu } = await import('../api/fugu.js');
  try {
    const context = { outcomes, caution: warnCaution, opening, progress: progressBar('reading ties') };
    return await withFugu(
      file,
      {
        ...context,
        acceptNoProtection,
        ...(newBudget !== undefined && { newBudget }),
        ...(as && { as }),
        ...(confirmed && { decide: confirmed }),
        ...(policy && { policy }),
      },
      work,
    );
  } finally {
    stop();
  }
}

/** Label listed next to the user's name; nothing else depends on it. */
const labelOf = (text = ''): string => text.replaceAll(/\p{C}/gu, '').trim().slice(0, 120);
