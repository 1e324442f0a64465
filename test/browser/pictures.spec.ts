import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { clubText } from './club.js';
import { releaseBy } from './release-by.js';
import { browserScene } from './scene.js';
import { openPage, settled, signInAs, type VisitorSettings, visitor } from './visit.js';

/** Folder for screenshots of the console; `FUGU_PICTURES=docs/images npm run test:browser -- pictures` makes docs/images. */
const folder = process.env.FUGU_PICTURES;

interface Picture {
  readonly name: string;
  readonly place: string;
  readonly look?: VisitorSettings;
  /** Actions on the page before the screenshot is taken. */
  readonly done?: (page: Page) => Promise<void>;
}

const play = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Play the attacker' }).click();
  await page.getByText('The promise holds for every record that was attacked.').waitFor();
};
const release = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Release …' }).click();
  await page.getByRole('button', { name: /^Spend epsilon/ }).click();
  await page.getByRole('region', { name: 'Answer', exact: true }).locator('svg[role=img]').waitFor();
};

const pictures: readonly Picture[] = [
  { name: 'ask', place: 'town/ask', done: release },
  { name: 'budget', place: 'town/budget' },
  { name: 'ties', place: 'town/ties' },
  { name: 'time', place: 'days/time' },
  { name: 'attack', place: 'town/attack', done: play },
  { name: 'ledger', place: 'town/ledger' },
  { name: 'help', place: 'town/help/tutorials%2Fsurvey' },
  { name: 'phone', place: 'town/ask', look: { width: 390, colours: 'dark' } },
];

browserScene('pictures of the console', (scene) => {
  it.skipIf(folder === undefined)('screenshots are taken of every page', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'stella');
    mkdirSync(folder!, { recursive: true });
    const first = await visitor(browser);
    await signInAs(first.page, world.url, token);
    await releaseBy(first.page, 'days', {
      kind: 'histogram',
      column: 'place',
      where: [{ column: 'day', op: '=', value: 3 }],
    });
    await openPage(first.page, world.url, 'start');
    const file = join(world.folder, 'club members.csv');
    writeFileSync(file, clubText());
    await first.page.getByLabel('Choose a data file').setInputFiles(file);
    await first.page.getByRole('button', { name: 'Confirm and serve' }).waitFor();
    await taken(first.page, 'start');
    await first.context.close();
    for (const { name, place, look, done } of pictures) {
      const { page, context, wrongs } = await visitor(browser, look);
      await signInAs(page, world.url, token);
      await openPage(page, world.url, place);
      await done?.(page);
      await settled(page);
      await taken(page, name);
      expect(wrongs, name).toEqual([]);
      await context.close();
    }
  });
});

/** From the top, whatever the last step scrolled to. */
async function taken(page: Page, name: string): Promise<void> {
  await page.evaluate('window.scrollTo(0, 0)');
  await page.screenshot({ path: join(folder!, `console-${name}.png`), fullPage: true, animations: 'disabled' });
}
