import { expect, it } from 'vitest';
import { browserScene } from './scene.js';
import { openPage, signInAs, visitor } from './visit.js';

browserScene('help in the console', (scene) => {
  it('a page is found by a word, opened, and its links stay in the console', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('analyst', 'ada');
    const { page, context, wrongs } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'town/help');
    await page.getByRole('heading', { name: 'Help', exact: true }).waitFor();
    await page.getByLabel('Search titles and headings').fill('glossary');
    await page.getByRole('link', { name: 'Glossary' }).click();
    await page.getByRole('heading', { name: 'Glossary', level: 1 }).waitFor();
    expect(page.url()).toContain('#/town/help/explanation%2Fglossary');
    await page.getByRole('link', { name: 'All pages of help' }).click();
    await page.getByRole('link', { name: 'A survey', exact: true }).click();
    await page.locator('article.help img').first().waitFor();
    expect(await page.locator('article.help img').first().getAttribute('src')).toContain('/assets/');
    await page.locator('article.help a[href^="#/town/help/"]').first().click();
    await page.locator('article.help h1').waitFor();
    expect(wrongs).toEqual([]);
    await context.close();
  });
});
