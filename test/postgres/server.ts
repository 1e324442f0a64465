import type { TestProject } from 'vitest/node';
import { isInstalled, startServer } from './start-server.js';

/** Address of a server for these tests, with the passwords of its owner and reader; absent if none is installed. */
export interface Server {
  readonly port: number;
  readonly owner: string;
  readonly reader: string;
  /** Its certificate, where it could be made. */
  readonly certificate?: string;
}
declare module 'vitest' {
  export interface ProvidedContext {
    postgres: Server | null;
  }
}

export default async function setup(project: TestProject): Promise<(() => void) | undefined> {
  if (!isInstalled()) {
    console.log('\n  PostgreSQL is not installed here: its tests are NOT RUN (Debian: apt-get install postgresql).\n');
    project.provide('postgres', null);
    return undefined;
  }
  const quick = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=60'];
  const { port, owner, certificate, remove } = await startServer(quick);
  project.provide('postgres', { port, owner, reader: 'reader-s3cret', ...(certificate !== undefined && { certificate }) });
  return remove;
}
