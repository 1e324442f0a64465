import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { hasScript, openDesktop, terminal } from '../service/desktop.js';
import { openBrowser, settled, visitor } from './visit.js';

const chromium = inject('chromium');

describe.skipIf(chromium === null || !hasScript)('the console from the demo', () => {
  it('one key opens the console in a browser, signed in, with all three policies', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fugu-demo-'));
    const desktop = openDesktop();
    const demo = terminal(folder, 'demo --out demo', desktop.env);
    const browser = await openBrowser(chromium!);
    try {
      await demo.until(/Open the console in your browser\? \[Y\/n\]/);
      demo.say('\n');
      const { page: file, link } = await desktop.opened();
      const { page, context, wrongs } = await visitor(browser);
      await page.goto(pathToFileURL(file).href);
      await page.getByRole('heading', { name: 'Ask' }).waitFor();
      await settled(page);
      expect(page.url()).not.toContain(link.split('#')[1]!);
      expect(await page.locator('header select option').allInnerTexts()).toEqual(['yours', 'households', 'strangers']);
      expect(wrongs).toEqual([]);
      await context.close();
    } finally {
      await browser.close();
      demo.say('\u0003');
      expect(await demo.ended).toBe(0);
      desktop.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
