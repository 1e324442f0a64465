import type * as z from 'zod';
import type { Served } from './policies.js';
import type { Role } from './role.js';
import type { Service } from './service.js';
import type { Token } from './token.js';

/** Who asks. */
export type Caller = Pick<Token, 'id' | 'name' | 'role' | 'policies'>;

export interface Asked<B, Q> {
  readonly service: Service;
  readonly caller: Caller;
  /** The policy named in the path; of a path without one nothing may be read. */
  readonly served: Served;
  readonly body: B;
  readonly query: Q;
  /** What the caller calls this asking, so that sending it twice is asking once. */
  readonly once?: string;
}

/** What can be asked of the service: declared once; the door, the API document and the client follow from it. */
export interface Route<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, A extends z.ZodType = z.ZodType> {
  /** What it is called in the audit log, the metrics and the client. */
  readonly name: string;
  readonly method: 'get' | 'post';
  /** Parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly summary: string;
  readonly roles: readonly Role[];
  /** Takes one of the turns of those that read data. */
  readonly works?: true;
  readonly body?: B;
  readonly query?: Q;
  readonly answer: A;
  readonly handle: (asked: Asked<z.output<B>, z.output<Q>>) => Promise<unknown>;
}

export const defineRoute = <B extends z.ZodType, Q extends z.ZodType, A extends z.ZodType>(route: Route<B, Q, A>): Route =>
  route as unknown as Route;
