import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Fault } from '../../../base/errors.js';
import type { ClusterAddress } from '../../../policy/address.js';
import { databaseClosed } from '../engine.js';
import { tlsOptions, userName } from '../server-access.js';
import type { TimeLeft } from '../time-left.js';
import { broken, statusFault, TrinoRefused, trinoFault, trinoTimeout } from './fault.js';
import { readPage, type TrinoField, type TrinoPage } from './page.js';

/** Longest time, in milliseconds, to retry the next part of an answer while a coordinator refuses connections or is not ready. */
const patience = 20_000;
/** A page is about a megabyte; a response larger than this is not a page. */
const mostBytes = 256 * 1024 ** 2;

/** Runs statements on a cluster, with a deadline. `onQuery` receives the id by which the cluster logs a statement. */
export interface StatementRunner {
  /** The whole of a small answer. */
  all(sql: string, onQuery?: (query: string) => void): Promise<ResultPart>;
  parts(sql: string, onQuery?: (query: string) => void): AsyncGenerator<ResultPart>;
}
export interface ResultPart {
  readonly fields: readonly TrinoField[];
  readonly rows: TrinoPage['rows'];
}

/** A request to the coordinator; with `statement`, the one that begins it, and how long it may take. */
interface CoordinatorRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly signal: AbortSignal;
  readonly statement?: { readonly sql: string; readonly deadline: number };
}

/**
 * Client of a cluster's coordinator, page by page: the next page is fetched on demand, so a slow reader
 * slows the cluster and not this process. Only fetching a page is retried: repeating it gives the same page.
 */
export class Client implements StatementRunner {
  readonly #address: ClusterAddress;
  readonly #deadline: number;
  readonly #agent: HttpAgent;
  /** How to stop each statement under way. */
  readonly #running = new Set<AbortController>();
  readonly #headers: Record<string, string>;
  #closed = false;

  constructor(address: ClusterAddress, deadline: number) {
    this.#address = address;
    this.#deadline = deadline;
    const tls = tlsOptions(address);
    this.#agent = tls ? new HttpsAgent({ keepAlive: true, ...tls }) : new HttpAgent({ keepAlive: true });
    const user = userName(address.user, 'TRINO_USER');
    const password = process.env.TRINO_PASSWORD;
    this.#headers = {
      'user-agent': 'fugu',
      'x-trino-user': user,
      'x-trino-source': 'fugu',
      'x-trino-catalog': encodeURIComponent(address.catalog),
      'x-trino-schema': encodeURIComponent(address.schema),
      'x-trino-time-zone': 'UTC',
      ...(tls &&
        password !== undefined &&
        password !== '' && { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }),
    };
  }

  refuseClosed(): void {
    if (this.#closed) throw databaseClosed();
  }

  within(left: TimeLeft): StatementRunner {
    return { all: (sql, onQuery) => this.all(sql, onQuery, left()), parts: (sql, onQuery) => this.parts(sql, onQuery, left()) };
  }

  async all(sql: string, onQuery?: (query: string) => void, deadline = this.#deadline): Promise<ResultPart> {
    let fields: readonly TrinoField[] = [];
    const rows: (readonly unknown[])[] = [];
    for await (const part of this.parts(sql, onQuery, deadline)) {
      fields = part.fields;
      for (const row of part.rows) rows.push(row);
    }
    return { fields, rows };
  }

  /**
   * Parts of an answer, at least one, perhaps empty. It is complete only when the cluster reports that it has
   * finished. Ends by the deadline; the statement is then cancelled without waiting.
   */
  async *parts(sql: string, onQuery?: (query: string) => void, deadline = this.#deadline): AsyncGenerator<ResultPart> {
    this.refuseClosed();
    if (deadline <= 0) throw trinoTimeout();
    const stop = new AbortController();
    this.#running.add(stop);
    let passed = false;
    const timer = setTimeout(() => {
      passed = true;
      stop.abort();
    }, deadline);
    let page: TrinoPage | undefined;
    let fields: readonly TrinoField[] | undefined;
    const fetched = new Set<string>();
    try {
      page = await this.#begin(sql, deadline, stop.signal);
      onQuery?.(page.id);
      for (;;) {
        if (page.error !== undefined) throw new TrinoRefused(page.error, page.id);
        if (fields && page.columns && !sameFields(fields, page.columns)) throw broken();
        fields ??= page.columns;
        if (page.rows.length > 0) {
          if (!fields) throw broken();
          yield { fields, rows: page.rows };
          // The deadline runs while the caller reads.
          if (stop.signal.aborted) throw trinoTimeout();
        }
        if (page.next === undefined) break;
        // A page that leads back, or to another statement, would have rows counted twice, or those of others.
        if (fetched.has(page.next)) throw broken();
        fetched.add(page.next);
        const following: TrinoPage = await this.#page(page.next, stop.signal);
        if (following.id !== page.id) throw broken();
        page = following;
      }
      if (page.state !== 'FINISHED' || !fields) throw broken();
      yield { fields, rows: [] };
    } catch (error) {
      if (this.#closed) throw databaseClosed();
      throw passed ? trinoTimeout() : error;
    } finally {
      clearTimeout(timer);
      this.#running.delete(stop);
      stop.abort();
      if (page?.next !== undefined) this.#cancel(page.next);
    }
  }

  /** The first page. A statement is never sent twice. */
  async #begin(sql: string, deadline: number, signal: AbortSignal): Promise<TrinoPage> {
    const reply = await this.#exchange({ method: 'POST', path: '/v1/statement', signal, statement: { sql, deadline } });
    if ('busy' in reply) throw reply.busy;
    return reply.page;
  }

  /** A page can be fetched again until the next one was requested. */
  async #page(path: string, signal: AbortSignal): Promise<TrinoPage> {
    const until = performance.now() + patience;
    for (let wait = 50; ; wait = Math.min(1000, wait * 2)) {
      const reply = await this.#exchange({ method: 'GET', path, signal });
      if ('page' in reply) return reply.page;
      if (signal.aborted || performance.now() > until) throw reply.busy;
      await new Promise((waited) => setTimeout(waited, wait));
    }
  }

  /** `busy`: the coordinator cannot answer at the moment. */
  async #exchange(request: CoordinatorRequest): Promise<{ readonly page: TrinoPage } | { readonly busy: Fault }> {
    let status: number;
    let text: string;
    try {
      ({ status, text } = await this.#send(request));
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return { busy: trinoFault(error) };
      throw error;
    }
    if (status === 502 || status === 503 || status === 504) return { busy: statusFault(status) };
    if (status !== 200) throw statusFault(status);
    return { page: readPage(text) };
  }

  /** Always to the configured address, whatever host a page names: credentials are never sent elsewhere. */
  #send({ method, path, signal, statement }: CoordinatorRequest): Promise<{ status: number; text: string }> {
    const { host, port, tls } = this.#address;
    const { pathname, search } = new URL(path, 'http://coordinator');
    return new Promise((resolve, reject) => {
      const options = {
        host,
        port,
        method,
        path: `${pathname}${search}`,
        signal,
        // A request that must not be repeated never uses a connection that may just be closing.
        agent: method === 'GET' ? this.#agent : fresh(this.#agent),
        headers: {
          ...this.#headers,
          ...(statement && {
            'content-type': 'text/plain; charset=utf-8',
            'content-length': Buffer.byteLength(statement.sql),
            'x-trino-session': `query_max_run_time=${Math.ceil(statement.deadline / 1000) + 1}s`,
          }),
        },
      };
      const sent = (tls === 'disable' ? httpRequest : httpsRequest)(options, (response) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      });
      sent.on('error', reject);
      sent.end(statement?.sql);
    });
  }

  #cancel(path: string): void {
    this.#send({ method: 'DELETE', path, signal: AbortSignal.timeout(5000) }).catch(() => undefined);
  }

  /** Ends what is under way. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#running) stop.abort();
    setTimeout(() => this.#agent.destroy(), 5000).unref();
  }
}

const sameFields = (one: readonly TrinoField[], other: readonly TrinoField[]): boolean =>
  one.length === other.length && one.every(({ name, type }, i) => name === other[i]!.name && type === other[i]!.type);

const fresh = (agent: HttpAgent): HttpAgent =>
  agent instanceof HttpsAgent ? new HttpsAgent({ ...agent.options, keepAlive: false }) : new HttpAgent({ keepAlive: false });

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) {
      response.destroy();
      throw broken();
    }
    parts.push(part);
  }
  if (!response.complete) throw broken();
  return Buffer.concat(parts).toString('utf8');
}
