import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { PostgresConnection } from './connection.js';
import { postgresFault } from './fault.js';

afterEach(() => void vi.useRealTimers());

it('the client does not wait for a server that falls silent after login', async () => {
  const letIn = Buffer.from([...Buffer.from('R'), 0, 0, 0, 8, 0, 0, 0, 0, ...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);
  const sockets: Socket[] = [];
  let onRequest = () => {};
  const received = new Promise<void>((resolve) => {
    onRequest = resolve;
  });
  const silent = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(letIn);
      socket.once('data', onRequest);
    });
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const opened = PostgresConnection.connect(
    { host: '127.0.0.1', port, database: 'town', user: 'reader', tls: 'disable' },
    60_000,
  ).catch((error: unknown) => error);
  await received;
  vi.advanceTimersByTime(15_000);
  expect(await opened).toMatchObject({ name: 'Fault', message: expect.stringMatching(/cannot be reached/) });
  for (const socket of sockets) socket.destroy();
  silent.close();
});

it('a connection that ends within a statement is reported as lost, also if the driver has no code for it', () => {
  for (const words of ['Connection terminated unexpectedly', 'Connection terminated'])
    expect(postgresFault(new Error(words)).message).toMatch(/connection to the database was lost/);
});
