import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the browser; null if none is installed. */
    chromium: string | null;
  }
}

const names = ['chromium', 'chromium-browser', 'google-chrome'];

function installed(): string | null {
  for (const name of names)
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {}
  return null;
}

export default function setup(project: TestProject): void {
  const found = installed();
  if (found === null)
    console.log('\n  Chromium is not installed here: the tests of the console are NOT RUN (Debian: apt-get install chromium).\n');
  project.provide('chromium', found);
}
