import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { releaseBy } from './release-by.js';
import { browserScene } from './scene.js';
import { expectNoSidewaysScroll, openPage, seriousFindings, settled, signInAs, type VisitorSettings, visitor } from './visit.js';

const places = [
  'town/ask',
  'town/budget',
  'town/ties',
  'days/time',
  'town/ledger',
  'town/receipts/ENTRY',
  'town/attack',
  'start',
  'town/help',
  'town/help/how-to%2Ftables',
] as const;
const looks: readonly Required<VisitorSettings>[] = [
  { width: 1280, colours: 'light' },
  { width: 1280, colours: 'dark' },
  { width: 390, colours: 'light' },
  { width: 390, colours: 'dark' },
];
/** Layout shift of a page as browsers measure it; values below 0.1 count as good. */
const watchShifts =
  "window.__moved = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.__moved += e.value; }).observe({ type: 'layout-shift', buffered: true })";
const moved = (page: Page): Promise<number> => page.evaluate('window.__moved') as Promise<number>;

browserScene('every page', (scene) => {
  it.each(looks)(
    'every page is accessible at $width in $colours: no serious finding, no sideways scrolling, no layout shift',
    async (look) => {
      const { world, browser } = scene();
      const { token } = await world.token('steward', 'stella');
      const { page, context, wrongs } = await visitor(browser, look);
      await context.addInitScript(watchShifts);
      await page.goto(world.url);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await seriousFindings(page), 'sign in').toEqual([]);
      await expectNoSidewaysScroll(page);
      await signInAs(page, world.url, token);
      await settled(page);
      const entry = await releaseBy(page, 'town', { kind: 'histogram', column: 'vote' });
      await releaseBy(page, 'days', { kind: 'histogram', column: 'place', where: [{ column: 'day', op: '=', value: 3 }] });
      for (const place of places) {
        await openPage(page, world.url, place.replace('ENTRY', String(entry)));
        if (place === 'town/attack') {
          await page.getByRole('button', { name: 'Play the attacker' }).click();
          await page.getByText('The promise holds for every record that was attacked.').waitFor();
        }
        await page.reload();
        await settled(page);
        expect(await moved(page), place).toBeLessThan(0.1);
        if (place === 'town/attack') {
          await page.getByRole('button', { name: 'Play the attacker' }).click();
          await page.getByText('The promise holds for every record that was attacked.').waitFor();
        }
        expect(await seriousFindings(page), place).toEqual([]);
        await expectNoSidewaysScroll(page);
        for (const svg of await page.locator('svg[role=img]').all())
          expect(await svg.getAttribute('aria-label'), place).toBeTruthy();
      }
      expect(wrongs).toEqual([]);
      await context.close();
    },
  );

  it('the console follows the colours of the system until somebody chooses', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('analyst', 'night');
    const { page, context } = await visitor(browser, { colours: 'light' });
    await signInAs(page, world.url, token);
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor') as Promise<string>;
    const light = await paper();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await paper();
    expect(dark).not.toBe(light);
    await page.getByRole('button', { name: 'Light' }).click();
    expect(await paper()).toBe(light);
    await page.reload();
    await page.getByRole('banner').waitFor();
    expect(await paper()).toBe(light);
    await context.close();
  });

  it('the console reports that the service does not answer, and continues once it does', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('analyst', 'cut off');
    const { page, context } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'town/ledger');
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Budget' }).click();
    await page.getByRole('alert').getByText('The service does not answer.').waitFor();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Belief against error' }).locator('svg[role=img]').waitFor();
    await context.close();
  });

  it('dragging shows the belief that a budget allows, and the noise that stronger ties need', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'drags');
    const { page, context } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'town/budget');
    const figures = page.getByRole('region', { name: 'Belief against error' }).locator('dd');
    await expect.poll(() => figures.count()).toBe(4);
    const before = await figures.allInnerTexts();
    const box = (await page.locator('.chart-place').first().boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.85, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => figures.allInnerTexts()).not.toEqual(before);
    const after = await figures.allInnerTexts();
    // To the right: a smaller epsilon, less belief, a larger error.
    const number = (text: string) => Number(text.replace(/[^\d.]/g, ''));
    expect(number(after[0]!)).toBeLessThan(number(before[0]!));
    expect(number(after[1]!)).toBeLessThan(number(before[1]!));
    expect(number(after[2]!)).toBeGreaterThan(number(before[2]!));

    await openPage(page, world.url, 'town/ties');
    const error = page.getByRole('table', { name: 'As declared, and as it would be' }).locator('tbody tr').last().locator('td');
    await expect.poll(async () => number(await error.first().innerText())).toBeGreaterThan(0);
    const declared = number(await error.first().innerText());
    await page.getByLabel(/^Odds ratio of/).fill('13');
    await expect.poll(async () => number(await error.last().innerText())).toBeGreaterThan(declared);
    await context.close();
  });
});
