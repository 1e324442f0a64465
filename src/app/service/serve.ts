import { createServer as createPlain, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Context } from 'hono';
import { Fault } from '../../base/errors.js';
import { setTimeout as after } from '../../base/platform/timers.js';
import { appOf } from './app.js';
import { Service, type ServiceOptions } from './service.js';

export interface ServeOptions extends ServiceOptions {
  readonly host: string;
  /** Port; 0 selects any free one. */
  readonly port: number;
  /** Texts of a certificate and its key. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Longest time to send a request, in milliseconds. */
  readonly patience?: { readonly headersTimeout: number; readonly requestTimeout: number };
}

export interface Serving {
  readonly url: string;
  readonly service: Service;
  /** Accepts no more requests, finishes running work, closes. Reserved costs stay reserved in any case. */
  stop(): Promise<void>;
}

/** A client that sends a request byte by byte holds a connection for this long at most. */
const usualPatience = { headersTimeout: 10_000, requestTimeout: 60_000 };
/** Longer than proxies keep a connection, so that the client's side closes it first. */
const keepAliveTimeout = 75_000;
/** Longest time until the log is safe from a power cut. */
const syncEvery = 1000;
/** Longest time for running work when the service stops. */
const finishWithin = 20_000;

const incomingOf = (c: Context) =>
  (c.env as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } }).incoming;

/** Behind a trusted proxy the last address is the one that the proxy itself saw. */
function addressOf({ behindProxy }: Service, c: Context): string {
  const forwardedFor = behindProxy ? c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  return forwardedFor || (incomingOf(c)?.socket?.remoteAddress ?? '');
}

export async function serve(options: ServeOptions): Promise<Serving> {
  const service = await Service.begin({ hsts: options.tls !== undefined, ...options });
  const app = appOf(service, (c) => addressOf(service, c));
  const listener = getRequestListener(app.fetch);
  const patience = { ...usualPatience, ...options.patience };
  const form = { ...patience, keepAliveTimeout, maxHeaderSize: 16_384, connectionsCheckingInterval: patience.headersTimeout / 4 };
  const server: Server = options.tls ? createSecure({ ...form, ...options.tls }, listener) : createPlain(form, listener);
  server.maxHeadersCount = 100;
  server.maxConnections = 2000;
  try {
    await listening(server, options);
  } catch (error) {
    await service.close();
    throw error;
  }
  const syncing = setInterval(() => service.log.sync(), syncEvery);
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    service.stop();
    const closed = new Promise<void>((done) => server.close(() => done()));
    server.closeIdleConnections();
    const late = setTimeout(() => server.closeAllConnections(), finishWithin);
    await closed;
    clearTimeout(late);
    await Promise.race([service.jobs.ended(), after(finishWithin, undefined, { ref: false })]);
    clearInterval(syncing);
    await service.close();
  };
  return {
    url: `${options.tls ? 'https' : 'http'}://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    service,
    stop: () => (stopped ??= stop()),
  };
}

function listening(server: Server, { host, port }: ServeOptions): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      failed(
        new Fault(
          'USAGE',
          error.code === 'EADDRINUSE' ? `Port ${port} is taken.` : `The service cannot listen on ${host}:${port}.`,
          'Choose another with --port; 0 takes any that is free.',
        ),
      ),
    );
    server.listen(port, host, () => done());
  });
}
