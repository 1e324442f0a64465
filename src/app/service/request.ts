import type { Context } from 'hono';
import type * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { inputProblem, pathText } from '../../base/input/input-problem.js';
import { parseJson } from '../../base/input/json.js';
import { sha256 } from '../../base/platform/hash.js';
import type { SentFile } from './route.js';

/** Parameters in the path, including the policy. */
export const pathParameters = (c: Context): Record<string, string> => c.req.param() as Record<string, string>;

export function idempotencyKey(c: Context): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined || /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new Fault('USAGE', 'An Idempotency-Key is 1 to 200 letters, digits and signs.', 'Send for example a UUID.');
}

export async function readBody(c: Context, digested: (digest: string) => void): Promise<unknown> {
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? ''))
    throw new Fault('USAGE', 'The request is not JSON.', 'Send it with "content-type: application/json".');
  const text = await c.req.text();
  digested(sha256(text));
  try {
    return parseJson(text, { file: 'request' });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('USAGE', 'The request is not valid JSON.', 'Send for example {"question": {"kind": "count"}}.');
  }
}

/** File as the request body; its name is in a header, and only its letters are used. */
export async function sentFile(c: Context): Promise<SentFile> {
  if (/^(multipart|application\/x-www-form)/i.test(c.req.header('content-type') ?? ''))
    throw new Fault('USAGE', 'A file is sent as it is.', 'Send its bytes as the body, and its name in x-file-name.');
  const name = c.req.header('x-file-name') ?? '';
  if (!fileName.test(name) || name.includes('..'))
    throw new Fault('USAGE', 'A file has a name.', 'Send x-file-name: survey.csv, letters, digits, . - and _ only.');
  return { name, bytes: c.req.raw.body };
}
const fileName = /^[A-Za-z0-9][\w.-]{0,99}$/;

export function parseRequest(schema: z.ZodType, input: unknown, what: string): unknown {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { path, text } = inputProblem(parsed.error);
  throw new Fault('USAGE', `${pathText([what, ...path])}: ${text}`, '/openapi.json says what it takes.');
}
