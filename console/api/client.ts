import type { Problem } from './shapes.ts';

/** A request that failed, with a problem text for people. */
export class RequestFailed extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.title);
    this.problem = problem;
  }
}

let csrf = '';
/** CSRF token that the service issues at sign-in, as proof that a request comes from this page. */
export const setCsrfToken = (proof: string): void => {
  csrf = proof;
};

let unauthorized: (() => void) | undefined;
/** Registers a listener for the end of a session, whatever the request; returns a function that removes it. */
export function onUnauthorized(listener: () => void): () => void {
  unauthorized = listener;
  return () => {
    if (unauthorized === listener) unauthorized = undefined;
  };
}

const unreachable: Problem = {
  title: 'The service does not answer.',
  status: 0,
  code: 'UNREACHABLE',
  hint: 'Look whether "fugu serve" still runs, then try again. What was begun is finished or on record.',
};

interface Sending {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Calls the service; throws only `RequestFailed`, with the service's problem. */
export async function call<T>(path: string, sending: Sending = {}): Promise<T> {
  const text = await textOf(path, sending);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

async function textOf(path: string, { method = 'GET', body, headers = {}, signal }: Sending): Promise<string> {
  const raw = body instanceof Blob;
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && csrf !== '' && { 'x-fugu-csrf': csrf }),
      ...headers,
    },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new RequestFailed(unreachable);
  });
  const text = await response.text();
  if (response.ok) return text;
  if (response.status === 401) unauthorized?.();
  throw new RequestFailed(problemIn(text, response.status));
}

function problemIn(text: string, status: number): Problem {
  try {
    const found = JSON.parse(text) as Problem;
    if (typeof found.title === 'string') return { ...found, status };
  } catch {}
  return { ...unreachable, title: `The service answered ${status} and gave no reason.`, status };
}

export const problemFrom = (error: unknown): Problem =>
  error instanceof RequestFailed
    ? error.problem
    : { ...unreachable, title: 'The page failed.', code: 'INTERNAL', hint: 'Load it again; nothing was spent by that.' };
