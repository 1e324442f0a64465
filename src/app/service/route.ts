import type * as z from 'zod';
import type { ServedPolicy } from './policies.js';
import type { Role } from './role.js';
import type { Service } from './service.js';
import type { AccessToken } from './token.js';

/** Authenticated caller. */
export type Caller = Pick<AccessToken, 'id' | 'name' | 'role' | 'policies'>;

export interface RouteRequest<B = unknown, Q = unknown> {
  readonly service: Service;
  readonly caller: Caller;
  /** Policy named in the path; nothing may be read of it on a path without one. */
  readonly served: ServedPolicy;
  /** Other parameters of the path, by the names in its braces. */
  readonly named: Readonly<Record<string, string>>;
  readonly body: B;
  readonly query: Q;
  /** Caller's idempotency key, so that a repeated request counts as one. */
  readonly once?: string;
  /** Secret of the browser session, if the request used one. */
  readonly session?: string;
  /** True if the caller reached the service by TLS. */
  readonly secure: boolean;
  readonly address: string;
  /** True if the request came from a page of this host, or names no origin. */
  readonly ownOrigin: boolean;
  /** File of the request, where a route takes one. */
  readonly sent: () => Promise<SentFile>;
  /** Runs work when capacity is free: a file arrives as slowly as its sender likes, so its route takes a turn only afterwards. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Headers of the answer, and further fields of its log record. */
  readonly more: ResponseExtras;
}

export interface SentFile {
  /** File name as given by the sender: never a path. */
  readonly name: string;
  readonly bytes: ReadableStream<Uint8Array> | null;
}

export interface ResponseExtras {
  readonly headers: Record<string, string>;
  /** Caller, where the route established the identity itself. */
  caller?: Caller;
  /** Ledger entry of the request. */
  entry?: number;
}

/** Body sent as it is, in the media type of its route. */
export class RawBody {
  readonly body: string | ReadableStream<Uint8Array>;
  constructor(body: string | ReadableStream<Uint8Array>) {
    this.body = body;
  }
}

/** One route of the service, declared once: requests, the API document and the client follow from it. */
export interface Route<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, A extends z.ZodType = z.ZodType> {
  /** Name in the audit log, the metrics and the client. */
  readonly name: string;
  readonly method: 'get' | 'post' | 'delete';
  /** Path with parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly summary: string;
  /** Permitted roles; `nobody` needs no identity. */
  readonly roles: readonly Role[] | 'nobody';
  /** Takes one of the turns for requests that read data. */
  readonly works?: true;
  /** Runs on a worker thread, and takes one of the turns for those instead. */
  readonly inWorker?: true;
  /** Status of its answer; 200 when absent. */
  readonly status?: 202;
  /** Media type of its answer; JSON when absent. */
  readonly mediaType?: 'text/html' | 'text/event-stream' | 'text/plain';
  /** Takes a file instead of JSON, and its turn once the file has arrived. */
  readonly takesFile?: true;
  readonly body?: B;
  readonly query?: Q;
  readonly answer: A;
  readonly handle: (request: RouteRequest<z.output<B>, z.output<Q>>) => Promise<unknown>;
}

export const defineRoute = <B extends z.ZodType, Q extends z.ZodType, A extends z.ZodType>(route: Route<B, Q, A>): Route =>
  route as unknown as Route;
