import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { openBrowser } from './visit.js';
import { type BrowserWorld, openBrowserWorld } from './world.js';

export interface BrowserScene {
  readonly world: BrowserWorld;
  readonly browser: Browser;
}

/** Tests that share a service and a browser; not run where no browser is installed. */
export function browserScene(name: string, tests: (scene: () => BrowserScene) => void): void {
  const chromium = inject('chromium');
  describe.skipIf(chromium === null)(name, () => {
    let made: BrowserScene | undefined;
    beforeAll(async () => {
      const world = await openBrowserWorld();
      try {
        made = { world, browser: await openBrowser(chromium!) };
      } catch (error) {
        await world.close();
        throw error;
      }
    });
    afterAll(async () => {
      await made?.browser.close();
      await made?.world.close();
    });
    tests(() => made!);
  });
}
