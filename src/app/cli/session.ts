import { basename } from 'node:path';
import type { Policy } from '../../policy/policy.js';
import type { Plan } from '../../release/session/plan.js';
import type { Fugu } from '../api/fugu.js';
import { caution, clock, progress } from './output.js';
import { outcomes } from './paid.js';

/** Opens policy, data and ledger, runs the work, and always closes them. */
export async function withSession<T>(
  file: string,
  how: {
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
    stop = clock(`working on ${basename(source)}`);
  };
  const { decide, acceptNoProtection = false, newBudget, policy } = how;
  // A running clock would overwrite the question.
  const asked =
    decide &&
    ((plan: Plan) => {
      stop();
      return decide(plan);
    });
  const { withFugu } = await import('../api/fugu.js');
  try {
    const told = { outcomes, caution, opening, progress: progress('reading ties') };
    return await withFugu(
      file,
      {
        ...told,
        acceptNoProtection,
        ...(newBudget !== undefined && { newBudget }),
        ...(as && { as }),
        ...(asked && { decide: asked }),
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
