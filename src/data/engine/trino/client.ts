import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Fault } from '../../../base/errors.js';
import { readFileSync } from '../../../base/platform/files.js';
import type { ClusterAddress } from '../../../policy/address.js';
import type { TimeLeft } from '../time-left.js';
import { userName } from '../user-name.js';
import { broken, statusFault, trinoClosed, trinoFault, trinoTimeout } from './fault.js';
import { readPage, type TrinoField, type TrinoPage } from './page.js';
import { TrinoRefused } from './refused.js';

/** Longest time, in milliseconds, to retry the next part of an answer while a coordinator refuses connections or is not ready. */
const patience = 20_000;
/** A page is about a megabyte; a response larger than this is not a page. */
const mostBytes = 256 * 1024 ** 2;

/** Runs statements on a cluster, with a deadline. */
export interface StatementRunner {
  /** The whole of a small answer. */
  all(sql: string, named?: (query: string) => void): Promise<ResultPart>;
  parts(sql: string, named?: (query: string) => void): AsyncGenerator<ResultPart>;
}
export interface ResultPart {
  readonly fields: readonly TrinoField[];
  readonly rows: TrinoPage['rows'];
}

/**
 * Client of a cluster's coordinator, page by page: the next page is fetched on demand, so a slow reader
 * slows the cluster and not this process. Only fetching a page is retried: repeating it gives the same page.
 */
export class Client implements StatementRunner {
  readonly #address: ClusterAddress;
  readonly #deadline: number;
  readonly #agent: HttpAgent;
  readonly #under = new Set<AbortController>();
  readonly #headers: Record<string, string>;
  #closed = false;

  constructor(address: ClusterAddress, deadline: number) {
    this.#address = address;
    this.#deadline = deadline;
    const tls = tlsOf(address);
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
    if (this.#closed) throw trinoClosed();
  }

  /** Runs statements within the deadline of a release. */
  within(left: TimeLeft): StatementRunner {
    return { all: (sql, named) => this.all(sql, named, left()), parts: (sql, named) => this.parts(sql, named, left()) };
  }

  async all(sql: string, named?: (query: string) => void, deadline = this.#deadline): Promise<ResultPart> {
    let fields: readonly TrinoField[] = [];
    const rows: (readonly unknown[])[] = [];
    for await (const part of this.parts(sql, named, deadline)) {
      fields = part.fields;
      for (const row of part.rows) rows.push(row);
    }
    return { fields, rows };
  }

  /**
   * Parts of an answer, at least one, perhaps empty. It is complete only when the cluster reports that it has
   * finished. `named` receives the query id. Ends by the deadline; the statement is then cancelled without waiting.
   */
  async *parts(sql: string, named?: (query: string) => void, deadline = this.#deadline): AsyncGenerator<ResultPart> {
    this.refuseClosed();
    if (deadline <= 0) throw trinoTimeout();
    const stop = new AbortController();
    this.#under.add(stop);
    let passed = false;
    const timer = setTimeout(() => {
      passed = true;
      stop.abort();
    }, deadline);
    let at: TrinoPage | undefined;
    let fields: readonly TrinoField[] | undefined;
    const fetched = new Set<string>();
    try {
      at = await this.#exchange('POST', '/v1/statement', stop.signal, { sql, deadline });
      named?.(at.id);
      for (;;) {
        if (at.error !== undefined) throw new TrinoRefused(at.error, at.id);
        if (fields && at.columns && !sameFields(fields, at.columns)) throw broken();
        fields ??= at.columns;
        if (at.rows.length > 0) {
          if (!fields) throw broken();
          yield { fields, rows: at.rows };
          // The deadline runs while the caller reads.
          if (stop.signal.aborted) throw trinoTimeout();
        }
        if (at.next === undefined) break;
        // A page that leads back, or to another statement, would have rows counted twice, or those of others.
        if (fetched.has(at.next)) throw broken();
        fetched.add(at.next);
        const page: TrinoPage = await this.#page(at.next, stop.signal);
        if (page.id !== at.id) throw broken();
        at = page;
      }
      if (at.state !== 'FINISHED' || !fields) throw broken();
      yield { fields, rows: [] };
    } catch (error) {
      if (this.#closed) throw trinoClosed();
      throw passed ? trinoTimeout() : error instanceof Again ? error.fault : error;
    } finally {
      clearTimeout(timer);
      this.#under.delete(stop);
      stop.abort();
      if (at?.next !== undefined) this.#cancel(at.next);
    }
  }

  /** A page can be fetched again until the next one was requested. */
  async #page(next: string, signal: AbortSignal): Promise<TrinoPage> {
    const until = performance.now() + patience;
    for (let wait = 50; ; wait = Math.min(1000, wait * 2)) {
      try {
        return await this.#exchange('GET', next, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof Again) || performance.now() > until)
          throw error instanceof Again ? error.fault : error;
        await new Promise((waited) => setTimeout(waited, wait));
      }
    }
  }

  async #exchange(method: 'GET' | 'POST', path: string, signal: AbortSignal, begun?: Begun): Promise<TrinoPage> {
    let status: number;
    let text: string;
    try {
      ({ status, text } = await this.#send(method, path, signal, begun));
    } catch (error) {
      const { code } = error as { code?: string };
      throw code === 'ECONNREFUSED' || code === 'ECONNRESET' ? new Again(trinoFault(error)) : error;
    }
    if (status === 502 || status === 503 || status === 504) throw new Again(statusFault(status));
    if (status !== 200) throw statusFault(status);
    return readPage(text);
  }

  /** Always the configured address, whatever host a page names: credentials are never sent elsewhere. */
  #send(method: string, path: string, signal: AbortSignal, begun?: Begun): Promise<{ status: number; text: string }> {
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
          ...(begun && {
            'content-type': 'text/plain; charset=utf-8',
            'content-length': Buffer.byteLength(begun.sql),
            'x-trino-session': `query_max_run_time=${Math.ceil(begun.deadline / 1000) + 1}s`,
          }),
        },
      };
      const sent = (tls === 'disable' ? httpRequest : httpsRequest)(options, (response) => {
        textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      });
      sent.on('error', reject);
      sent.end(begun?.sql);
    });
  }

  #cancel(next: string): void {
    const stop = AbortSignal.timeout(5000);
    this.#send('DELETE', next, stop).catch(() => undefined);
  }

  /** Ends what is under way. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#under) stop.abort();
    setTimeout(() => this.#agent.destroy(), 5000).unref();
  }
}

const sameFields = (one: readonly TrinoField[], other: readonly TrinoField[]): boolean =>
  one.length === other.length && one.every(({ name, type }, i) => name === other[i]!.name && type === other[i]!.type);

/** A statement that is sent, and how long it may take. */
interface Begun {
  readonly sql: string;
  readonly deadline: number;
}

/** The same once more may do. */
class Again extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super('again');
    this.fault = fault;
  }
}

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

function tlsOf({ tls, rootCertificate }: ClusterAddress): object | undefined {
  if (tls === 'disable') return undefined;
  const ca = rootCertificate === undefined ? {} : { ca: certificate(rootCertificate) };
  if (tls === 'verify-full') return ca;
  if (tls === 'verify-ca') return { ...ca, checkServerIdentity: () => undefined };
  return { ...ca, rejectUnauthorized: rootCertificate !== undefined, checkServerIdentity: () => undefined };
}

function certificate(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Fault('DATA_NOT_FOUND', 'The certificate that data.source names cannot be read.', 'Check sslrootcert.', {
      place: { file },
    });
  }
}
