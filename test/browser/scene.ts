import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { openBrowser } from './visit.js';
import { openWorld, type World } from './world.js';

export interface Scene {
  readonly world: World;
  readonly browser: Browser;
}

/** Tests that share a service and a browser; not run where no browser is installed. */
export function scene(name: string, tests: (scene: () => Scene) => void): void {
  const chromium = inject('chromium');
  describe.skipIf(chromium === null)(name, () => {
    let made: Scene | undefined;
    beforeAll(async () => {
      const world = await openWorld();
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
