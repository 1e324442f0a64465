import { connect, createServer, type Server, type Socket } from 'node:net';

/** Proxy between a program and its server that cuts the connection at a given word. */
export interface CuttingProxy {
  readonly port: number;
  /**
   * At the next message that holds the word: before it reaches the server, or before its answer reaches the client.
   * `forGood`: all later connections fail.
   */
  cutAt(word: string, when: 'unheard' | 'unanswered', forGood?: boolean): void;
  close(): void;
}

export async function cuttingProxy(to: number): Promise<CuttingProxy> {
  let cut: { readonly word: string; readonly when: string; readonly forGood: boolean } | undefined;
  let shut = false;
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    if (shut) {
      near.destroy();
      return;
    }
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    let deaf = false;
    near.on('data', (bytes) => {
      const due = cut && bytes.includes(cut.word) ? cut : undefined;
      if (due) {
        cut = undefined;
        shut = due.forGood;
        if (due.when === 'unheard') {
          far.destroy();
          near.destroy();
          return;
        }
        deaf = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => (deaf ? near.destroy() : near.write(bytes)));
    near.on('close', () => far.end());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    cutAt: (word, when, forGood = false) => {
      cut = { word, when, forGood };
    },
    close: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
