import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clubText } from './club.js';
import { browserScene } from './scene.js';
import { openPage, settled, signInAs, visitor } from './visit.js';

browserScene('starting', (scene) => {
  it('the interview leads from a file to a policy that is served', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'stella');
    const file = join(world.folder, 'club members.csv');
    writeFileSync(file, clubText());
    const { page, context, wrongs } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'start');
    await page.getByLabel('Choose a data file').setInputFiles(file);
    const confirm = page.getByRole('button', { name: 'Confirm and serve' });
    await confirm.waitFor();
    // The draft cannot be confirmed until it is declared whether records depend on each other.
    expect(await confirm.isDisabled()).toBe(true);
    await page
      .getByRole('group', { name: 'Ties' })
      .getByRole('radio', { name: /^household/ })
      .check();
    await page.getByRole('group', { name: 'How strong the tie is' }).getByRole('radio', { name: /^9 / }).check();
    const limit = page.getByRole('group', { name: 'How much may be learned' });
    await limit.getByRole('radio', { name: /^epsilon 2 .*at most/ }).check();
    await limit.getByLabel('Or another').fill('belief 0.1 0.3');
    await page.getByText('reading', { exact: true }).waitFor({ state: 'hidden' });
    await page.getByText('The policy, as it will be written').click();
    await page.getByText('oddsRatio: 9').waitFor();
    await page.getByText('belief: {prior: 0.1, posterior: 0.3}').first().waitFor();
    await page.getByLabel('Name of the policy').fill('club');
    await confirm.click();
    await page.getByRole('heading', { name: 'Ask' }).waitFor();
    await settled(page);
    expect(page.url()).toContain('#/club/ask');
    expect(existsSync(join(world.folder, 'club.yaml'))).toBe(true);
    await page.getByLabel('About').selectOption('sport');
    await settled(page);
    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByRole('button', { name: /^Spend epsilon/ }).click();
    await page.getByRole('region', { name: 'Answer', exact: true }).locator('svg[role=img]').waitFor();
    expect(wrongs).toEqual([]);
    await context.close();
  });

  it('the page explains why a file cannot be read, and continues', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'careless');
    const file = join(world.folder, 'numbers.csv');
    writeFileSync(file, '1,2,3\n4,5,6\n');
    const { page, context } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'start');
    await page.getByLabel('Choose a data file').setInputFiles(file);
    await page.getByRole('alert').getByText('does not look like names of columns').waitFor();
    expect(await page.getByRole('button', { name: 'Choose a file' }).isEnabled()).toBe(true);
    await context.close();
  });
});
