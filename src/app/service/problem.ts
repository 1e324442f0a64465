import type { Fault, FaultCode } from '../../base/errors.js';
import { basename } from '../../base/platform/paths.js';

/** HTTP status of each fault code; a wrong or excessive request never gives 500. */
const statuses: Partial<Record<FaultCode, number>> = {
  ACCESS_DENIED: 403,
  BUDGET_EXCEEDED: 409,
  LEDGER_MISMATCH: 409,
  LIMIT_EXCEEDED: 413,
  LEDGER_BUSY: 503,
  ENGINE_DEADLINE: 504,
  ENGINE_MEMORY: 507,
  DISK_FULL: 507,
  LEDGER_CORRUPT: 500,
  ENGINE_FAILED: 500,
  DISK_FAILED: 500,
  READ_ONLY: 500,
  INTERNAL: 500,
};
const unprocessable = 422;

const statusOf = (fault: Fault): number => statuses[fault.code] ?? unprocessable;

/** RFC 9457 problem. Places are files of this machine: only line and column are included. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly request: string;
  readonly [more: string]: unknown;
}

/** Fault messages are written for a user at this machine: only the names of files are kept, their folders are removed. */
function withoutFolders(text: string, file: string | undefined): string {
  const known = file === undefined ? text : text.replaceAll(file, basename(file));
  return known.replaceAll(/(?<![\w.:/])(?!\/v1\/)\/(?:[^\s"'`()/]+\/)+([^\s"'`()/]*)/g, '$1');
}

export function problemOf(fault: Fault, request: string): Problem {
  const { code, message, hint, details, outcome, place } = fault;
  const more = Object.entries(details ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? withoutFolders(value, place?.file) : value,
  ]);
  return {
    ...Object.fromEntries(more),
    type: `urn:fugu:fault:${code.toLowerCase().replaceAll('_', '-')}`,
    title: withoutFolders(message, place?.file),
    status: statusOf(fault),
    code,
    hint: withoutFolders(hint, place?.file),
    request,
    ...(outcome && { outcome }),
    ...(place?.line !== undefined && { line: place.line, ...(place.column !== undefined && { column: place.column }) }),
  };
}

type ProblemParts = Pick<Problem, 'status' | 'code' | 'title' | 'hint'>;

/** Fault codes that only a service has. */
export const problem = ({ status, code, title, hint, request }: ProblemParts & Pick<Problem, 'request'>): Problem => ({
  type: `urn:fugu:fault:${code.toLowerCase().replaceAll('_', '-')}`,
  title,
  status,
  code,
  hint,
  request,
});

/** Refusal that is no fault of the library: thrown by a handler, sent as a problem. */
export class Refusal extends Error {
  readonly #parts: ProblemParts;
  /** Seconds. */
  readonly wait: number | undefined;
  constructor({ wait, ...parts }: ProblemParts & { readonly wait?: number | undefined }) {
    super(parts.title);
    this.#parts = parts;
    this.wait = wait;
  }
  toProblem(request: string): Problem {
    return problem({ ...this.#parts, request });
  }
}
export const notFound = (title: string, hint: string): Refusal => new Refusal({ status: 404, code: 'NOT_FOUND', title, hint });
