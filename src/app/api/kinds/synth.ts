import * as z from 'zod';
import { synthSchema } from '../../../analysis/synth/form.js';
import { planSynth, releaseSynth } from '../../../analysis/synth/release.js';
import { progressShape } from '../input.js';
import { defineKind } from '../kind.js';
import { askable } from './askable.js';

/** Synthetic rows, made from noisy tables that were selected for the data. */
export const synth = defineKind({
  name: 'synth',
  question: z.strictObject({ synth: synthSchema, progress: progressShape.optional() }),
  hint: 'Write {"mode": "aim", "rows": 10000}.',
  example(policy) {
    const columns = askable(policy)
      .slice(0, 3)
      .map((c) => c.name);
    return columns.length > 0 ? { synth: { columns } } : undefined;
  },
  plan: (session, { synth }, options) => planSynth(session, synth, options),
  release: (session, { synth, progress }, options) => releaseSynth(session, synth, options, progress),
});
