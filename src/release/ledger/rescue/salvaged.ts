import { remove } from '../../../base/files/file-draft.js';
import { existsSync, rmSync } from '../../../base/platform/files.js';
import { inChild } from './child.js';
import { type Copy, readCopy } from './copy.js';
import type { Salvaged } from './salvage.js';

/** Content of the index as far as a child process could read it; nothing where it died. */
export function salvaged(place: string, keep?: string): Salvaged & { readonly copy: Copy } {
  const out = keep ?? `${place}.${process.pid}.salvage.tmp`;
  rmSync(out, { force: true });
  try {
    const { output } = inChild('salvage', place, out);
    const copy = existsSync(out) ? readCopy(out) : { links: [], answers: new Map<number, string>(), whole: false };
    if (output === undefined)
      return { format: 'unknown', sound: false, highest: 0, unmatchedAnswers: 0, why: 'reading it ends the process', copy };
    return { ...(JSON.parse(output) as Salvaged), copy };
  } finally {
    if (!keep) remove(out);
  }
}
