import type * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { inputProblem, pathText } from '../../base/input/input-problem.js';

/** A validated analysis request; a fault names the field and shows an example. */
export function readRequest<T extends z.ZodType>(schema: T, input: unknown, example: string): z.infer<T> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { path, text } = inputProblem(parsed.error);
  throw new Fault('QUERY_INVALID', `${pathText(path) || 'the request'}: ${text}`, `Write ${example}.`);
}
