import * as z from 'zod';
import { workloadSchema } from '../../../analysis/workload/form.js';
import { planWorkload, releaseWorkload } from '../../../analysis/workload/release.js';
import { defineKind } from '../kind.js';
import { workloadFile } from '../named-text.js';
import { field } from '../request.js';
import { askable } from './askable.js';

/** Many tables at once that agree with one another, with noise chosen for all of them together. */
export const workload = defineKind({
  name: 'workload',
  tidies: true,
  question: z.strictObject({
    workload: field(workloadSchema, 'Tables, their levels and ranges.', {
      value: 'file',
      help: 'many tables that agree with one another: a YAML file of tables:, as docs/how-to/workloads.md shows',
      reads: workloadFile,
    }),
  }),
  hint: 'Write {"tables": [{"all": 2, "of": ["age", "region"]}, {"by": ["age", "region", "party"]}]}.',
  example(policy) {
    const columns = askable(policy)
      .filter((c) => c.type === 'category')
      .slice(0, 3)
      .map((c) => c.name);
    return columns.length > 0 ? { workload: { tables: [{ all: Math.min(2, columns.length), of: columns }] } } : undefined;
  },
  plan: (session, { workload }, options) => planWorkload(session, workload, options),
  release: (session, { workload }, options) => releaseWorkload(session, workload, options),
});
