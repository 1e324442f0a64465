import { expect, it } from 'vitest';
import { browserScene } from './scene.js';
import { openPage, settled, signInAs, visitor } from './visit.js';

browserScene('asking about several columns', (scene) => {
  it('the console makes tables that agree, synthetic rows, and any question that is written', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('analyst', 'sevi');
    const { page, context, wrongs } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'town/ask');
    const release = async () => {
      await settled(page);
      await page.getByRole('button', { name: 'Release …' }).click();
      await page.getByRole('button', { name: /^Spend epsilon/ }).click();
      await page.getByRole('region', { name: 'Answer', exact: true }).waitFor();
      await settled(page);
    };
    await page.getByLabel('What to ask').selectOption('synth');
    await page.getByLabel('Rows', { exact: true }).fill('40');
    await release();
    await page.getByText('40 rows of nobody; the first 12 are shown.').waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as CSV' }).click()]);
    expect(saved.suggestedFilename()).toMatch(/^synthetic-\d+\.csv$/);
    await page.getByLabel('What to ask').selectOption('workload');
    await page.getByLabel('Columns of each table').fill('9');
    await page.getByText('Columns of each table: a whole number from 1 to 5.').waitFor();
    await page.getByLabel('Columns of each table').fill('2');
    await settled(page);
    await page.getByRole('button', { name: 'JSON' }).click();
    expect(JSON.parse(await page.getByRole('textbox', { name: 'Question' }).inputValue())).toMatchObject({
      workload: { tables: [{ all: 2 }] },
    });
    await page.getByRole('textbox', { name: 'Question' }).fill('{"kind": "count", "by": ["nothing"]}');
    await page.getByRole('alert').getByText('nothing').first().waitFor();
    await page.getByRole('textbox', { name: 'Question' }).fill('{"kind": "count"');
    await page.getByText('This is no JSON yet.').waitFor();
    await page.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('table', { name: 'Entries of the ledger' }).getByRole('columnheader', { name: 'epsilon' }).waitFor();
    await page.getByRole('cell', { name: '0.2', exact: true }).first().waitFor();
    expect(wrongs).toEqual([]);
    await context.close();
  });
});
