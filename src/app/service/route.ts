import type * as z from 'zod';
import type { Served } from './policies.js';
import type { Role } from './role.js';
import type { Service } from './service.js';
import type { Token } from './token.js';

/** Who asks. */
export type Caller = Pick<Token, 'id' | 'name' | 'role' | 'policies'>;

export interface Asked<B = unknown, Q = unknown> {
  readonly service: Service;
  readonly caller: Caller;
  /** The policy named in the path; of a path without one nothing may be read. */
  readonly served: Served;
  /** What else the path names, by the names in its braces. */
  readonly named: Readonly<Record<string, string>>;
  readonly body: B;
  readonly query: Q;
  /** What the caller calls this asking, so that sending it twice is asking once. */
  readonly once?: string;
  /** The secret of the session it came by, where it came by one. */
  readonly session?: string;
  /** Whether the caller reached the service by TLS. */
  readonly secure: boolean;
  readonly address: string;
  /** Whether it came from a page of this host, where it says where from. */
  readonly ownOrigin: boolean;
  /** What was sent, where a route takes a file. */
  readonly sent: () => Promise<Sent>;
  /** Works on it in a turn: a file comes as slowly as whoever sends it likes, so its route takes none before. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** What goes with the answer, and what the audit log is told beside it. */
  readonly more: More;
}

export interface Sent {
  /** What it is called, as somebody wrote it: never a path. */
  readonly name: string;
  readonly bytes: ReadableStream<Uint8Array> | null;
}

export interface More {
  readonly headers: Record<string, string>;
  /** Whoever turned out to ask, where nobody had to say it before. */
  caller?: Caller;
  /** The entry of the ledger it is about. */
  entry?: number;
}

/** What is told as it is, in the media type of its route. */
export class Told {
  readonly body: string | ReadableStream<Uint8Array>;
  constructor(body: string | ReadableStream<Uint8Array>) {
    this.body = body;
  }
}

/** What can be asked of the service: declared once; the door, the API document and the client follow from it. */
export interface Route<B extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, A extends z.ZodType = z.ZodType> {
  /** What it is called in the audit log, the metrics and the client. */
  readonly name: string;
  readonly method: 'get' | 'post' | 'delete';
  /** Parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly summary: string;
  /** Who may ask; `nobody` has to say who they are. */
  readonly roles: readonly Role[] | 'nobody';
  /** Takes one of the turns of those that read data. */
  readonly works?: true;
  /** It works on a thread of its own, and takes one of the turns of those instead. */
  readonly aside?: true;
  /** Of what it answers with; 200 when absent. */
  readonly status?: 202;
  /** What it answers in; JSON when absent. */
  readonly tells?: 'text/html' | 'text/event-stream' | 'text/plain';
  /** It takes a file, not JSON, and its turn when the file is there. */
  readonly takesFile?: true;
  readonly body?: B;
  readonly query?: Q;
  readonly answer: A;
  readonly handle: (asked: Asked<z.output<B>, z.output<Q>>) => Promise<unknown>;
}

export const defineRoute = <B extends z.ZodType, Q extends z.ZodType, A extends z.ZodType>(route: Route<B, Q, A>): Route =>
  route as unknown as Route;
