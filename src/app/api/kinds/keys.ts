import * as z from 'zod';
import { type LearnedKeys, planKeys, releaseKeys } from '../../../analysis/learn/keys/learn-keys.js';
import { type Answer, defineKind } from '../kind.js';
import { field } from '../request.js';

const request = z.strictObject({
  column: field(z.string().min(1), 'A column that the policy does not declare.'),
  table: field(z.string().min(1).optional(), 'Table of the policy; the data when absent.'),
  most: field(z.int().min(1).max(500).default(50), 'Largest number of values.'),
  longest: field(
    z.int().min(1).max(64).default(16),
    'Longest value in bytes; longer ones are left out, and a smaller limit means less noise.',
  ),
});

/** Frequent values of an undeclared column. */
export const keys = defineKind({
  name: 'keys',
  question: z.strictObject({ keys: request }),
  hint: 'Write {"keys": {"column": "city", "most": 50, "longest": 12}}.',
  // Columns that rows are linked by are in the data and need not be declared.
  example({ columns, data, protect }) {
    const open = protect.secret === 'row' || protect.secret === 'person';
    const column = data.links?.find((name) => !columns.has(name));
    return open && column !== undefined ? { keys: { column, most: 5, longest: 3 } } : undefined;
  },
  plan: (session, { keys }, options) => planKeys(session, keysRequest(keys), options),
  async release(session, { keys }, options): Promise<Answer<LearnedKeys>> {
    const { learned, receipt } = await releaseKeys(session, keysRequest(keys), options);
    return { result: learned, receipt };
  },
});

const keysRequest = (input: z.input<typeof request>) => {
  const { table, ...rest } = request.parse(input);
  return { ...rest, ...(table !== undefined && { table }) };
};
