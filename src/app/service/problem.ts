import { basename } from 'node:path';
import type { Fault, FaultCode } from '../../base/errors.js';

/** What a fault is called on the wire; whoever asked for too much, or in the wrong way, is never told 500. */
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
const asked = 422;

const statusOf = (fault: Fault): number => statuses[fault.code] ?? asked;

/** RFC 9457. A place is a file of this machine: only its line and column are told. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly request: string;
  readonly [more: string]: unknown;
}

/** Sentences of faults are written for whoever sits at the machine: of a file only its name is told here, and of its folders nothing. */
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

/** Faults that only a service knows. */
export const problem = (status: number, code: string, title: string, hint: string, request: string): Problem => ({
  type: `urn:fugu:fault:${code.toLowerCase().replaceAll('_', '-')}`,
  title,
  status,
  code,
  hint,
  request,
});

/** A refusal that is no fault of the program's: thrown by whoever answers, told by the door. */
export class Refused extends Error {
  readonly #parts: readonly [status: number, code: string, title: string, hint: string];
  /** Seconds. */
  readonly wait: number | undefined;
  constructor(status: number, code: string, title: string, hint: string, wait?: number) {
    super(title);
    this.#parts = [status, code, title, hint];
    this.wait = wait;
  }
  told(request: string): Problem {
    return problem(...this.#parts, request);
  }
}
export const notFound = (title: string, hint: string): Refused => new Refused(404, 'NOT_FOUND', title, hint);
