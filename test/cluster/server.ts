import type { TestProject } from 'vitest/node';
import { type Cluster, startCluster } from './start-cluster.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Absent where it cannot be had. */
    trino: Cluster | null;
  }
}

export default async function setup(project: TestProject): Promise<(() => void) | undefined> {
  const started = await startCluster();
  if (typeof started === 'string') {
    console.log(`\n  A cluster cannot be had here (${started}): its tests are NOT RUN. They need python3 with pip, and mvn.\n`);
    project.provide('trino', null);
    return undefined;
  }
  const { stop, seconds, ...cluster } = started;
  console.log(`\n  A coordinator and a worker of Trino were started in ${seconds} s.\n`);
  project.provide('trino', cluster);
  return stop;
}
