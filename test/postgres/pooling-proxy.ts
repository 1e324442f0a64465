import { connect, createServer } from 'node:net';

/**
 * Stands between a program and its server as a pooler by transaction does: behind each transaction the next one finds a session that knows nothing of what was set in
 * the one before (DISCARD ALL). One statement at a time, and no encryption.
 */
export async function poolingProxy(
  to: number,
): Promise<{ readonly port: number; readonly discarded: () => number; close(): void }> {
  let discarded = 0;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
    let rest = Buffer.alloc(0);
    let within = false;
    let hidden = false;
    const waiting: Buffer[] = [];
    near.on('data', (bytes: Buffer) => void (hidden ? waiting.push(bytes) : far.write(bytes)));
    far.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const message = rest.subarray(0, rest.readUInt32BE(1) + 1);
        rest = rest.subarray(message.length);
        const ready = message[0] === 'Z'.charCodeAt(0);
        if (hidden) {
          hidden = !ready;
          if (ready) for (const held of waiting.splice(0)) far.write(held);
          continue;
        }
        near.write(message);
        const ended = ready && within && message[5] === 'I'.charCodeAt(0);
        if (ready) within = message[5] !== 'I'.charCodeAt(0);
        if (!ended) continue;
        hidden = true;
        discarded++;
        far.write(Buffer.from('Q\0\0\0\x10DISCARD ALL\0', 'latin1'));
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { port: (server.address() as { port: number }).port, discarded: () => discarded, close: () => void server.close() };
}
