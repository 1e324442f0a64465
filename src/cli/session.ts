import { basename } from 'node:path';
import { type Fugu, withFugu } from '../ask/fugu.js';
import type { Policy } from '../policy/policy.js';
import { caution, clock, progress } from './output.js';
import { outcomes } from './paid.js';

/** Opens policy, data and ledger, runs the work, and closes them whatever happens. */
export async function withSession<T>(file: string, work: (fugu: Fugu, policy: Policy) => Promise<T>): Promise<T> {
  let stop: () => void = () => undefined;
  const as = labelOf(process.env.FUGU_ANALYST);
  const opening = (source: string) => {
    stop = clock(`working on ${basename(source)}`);
  };
  try {
    return await withFugu(file, { outcomes, caution, opening, progress: progress('reading ties'), ...(as && { as }) }, work);
  } finally {
    stop();
  }
}

/** It is listed beside the user's name and nothing else hangs on it. */
const labelOf = (text = ''): string => text.replaceAll(/\p{C}/gu, '').trim().slice(0, 120);
