import type * as z from 'zod';
import { Fault } from '../errors.js';

/** The request of an analysis, checked; a fault names the field and shows how one looks. */
export function readRequest<T extends z.ZodType>(schema: T, input: unknown, example: string): z.infer<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new Fault(
    'QUERY_INVALID',
    `${issue.path.join('.') || 'the request'}: ${issue.message}.`.replace(/\.\.$/, '.'),
    `Write ${example}.`,
  );
}
