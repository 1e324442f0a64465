import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mainFile } from '../fugu.js';
import { browserScene } from './scene.js';
import { openPage, settled, signInAs, visitor } from './visit.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

browserScene('asking', (scene) => {
  it('the console leads from the first visit to a released chart, its table, its receipt and its report', async () => {
    const { world, browser } = scene();
    const { page, context, wrongs } = await visitor(browser);
    await page.goto(world.link);
    await settled(page);
    const before = page.getByRole('region', { name: 'Before you spend' });
    await before.getByText('Imagined data, real error bars.').waitFor();
    expect(await before.locator('svg[role=img]').getAttribute('aria-label')).toMatch(/error bar of the real width, ± \d+/);
    await expect.poll(() => page.getByRole('banner').innerText()).toContain('0 of 2 spent');
    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByRole('dialog').getByText('What is spent cannot be had back.').waitFor();
    await page.getByRole('button', { name: /^Spend epsilon 0.2/ }).click();
    const answer = page.getByRole('region', { name: 'Answer', exact: true });
    await answer.getByText('epsilon 0.2 spent').waitFor();
    await answer.locator('svg[role=img]').waitFor();
    const rows = await answer.getByRole('table').locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split('\t')[0])).toEqual(['Left', 'Centre', 'Right', '(missing)']);
    for (const row of rows) expect(row).toMatch(/\t-?[\d,]+\t-?[\d.,]+ … -?[\d.,]+$/);
    await page.getByRole('banner').getByText('0.2 of 2 spent').waitFor();

    await answer.getByRole('link', { name: 'Receipt and report' }).click();
    await page.getByRole('heading', { name: 'Receipts', exact: true }).waitFor();
    await settled(page);
    await page.getByText('certified').waitFor();
    const [report] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: 'Open the report' }).click(),
    ]);
    await report.waitForLoadState();
    expect(await report.locator('body').innerText()).toContain('vote');
    await openPage(page, world.url, 'town/ledger');
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/^whole: \d+ entries$/).waitFor();
    expect(wrongs).toEqual([]);
    await context.close();
  });

  it('the console shows the same request as code that runs', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('analyst', 'coder');
    const { page, context } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'town/ask');
    const code = page.getByRole('region', { name: 'The same as code' });
    const shown = async (language: string): Promise<string> => {
      await code.getByRole('button', { name: language, exact: true }).click();
      return code.locator('pre').innerText();
    };
    const bash = (text: string) =>
      execFileSync('bash', ['-c', `fugu() { "${process.execPath}" "${mainFile}" "$@"; }\n${text}`], {
        cwd: world.folder,
        env: { ...process.env, FUGU_TOKEN: token },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    expect(bash((await shown('Command line')).split('\n')[0]!)).toContain('vote');
    const sent = JSON.parse(bash((await shown('curl')).replace('/release', '/plan')));
    // An earlier test has released it: the plan reports a recorded answer, free of charge.
    const free = { epsilon: 0, fits: true, recorded: { entry: expect.any(Number) } };
    expect(sent).toMatchObject(free);
    // Lines that only plan: the last line of each releases.
    const planning = (text: string) => text.split('\n').slice(0, -1).join('\n');
    const script = join(world.folder, 'asking.mjs');
    const typed = planning(await shown('TypeScript')).replace(
      "'fugu/client'",
      JSON.stringify(join(root, 'dist/app/client/client.js')),
    );
    writeFileSync(script, `${typed}\nconsole.log(JSON.stringify(plan));\n`);
    expect(JSON.parse(bash(`"${process.execPath}" "${script}"`))).toMatchObject(free);
    const python = planning(await shown('Python'));
    expect(python).toContain('policy.plan({"kind": "histogram", "column": "vote"}, epsilon="0.2")');
    if (bash('command -v python3 || true') !== '') {
      writeFileSync(join(world.folder, 'asking.py'), python);
      expect(bash(`PYTHONPATH="${join(root, 'python/src')}" python3 asking.py`)).toContain('halfWidth');
    }
    expect(await shown('R')).toContain('query = list(kind = "histogram", column = "vote")');
    await context.close();
  });

  it('the console plans every question, built or written, and explains a mistake in a sentence', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'planner');
    const { page, context, wrongs } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'town/ask');
    for (const kind of ['crosstab', 'count', 'mean', 'sum', 'quantile', 'cdf', 'share', 'survey', 'histogram']) {
      await page.getByLabel('What to ask').selectOption(kind);
      await settled(page);
      const cost = page.getByRole('region', { name: 'Before you spend' }).getByText('Cost', { exact: true });
      await expect.poll(() => cost.count(), { message: kind }).toBe(1);
      await expect.poll(() => page.getByRole('alert').count(), { message: kind }).toBe(0);
    }
    await page.getByRole('button', { name: 'SQL' }).click();
    await page.getByLabel('Query').fill('SELECT AVG(age) FROM data WHERE vote = 1');
    await settled(page);
    await page.getByText('Error of one number').waitFor();
    await page.getByLabel('Query').fill('SELECT secret FROM elsewhere');
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Release …' }).isDisabled()).toBe(true);
    expect(wrongs).toEqual([]);
    await context.close();
  });

  it('the console reports that the budget is used up, and spends nothing beyond it', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'spender');
    const { page, context } = await visitor(browser);
    await signInAs(page, world.url, token);
    await openPage(page, world.url, 'small/ask');
    await page.getByLabel('How much of the budget to use').fill('14');
    await settled(page);
    await page.getByText(/This takes all that is left/).waitFor();
    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByRole('button', { name: /^Spend epsilon 0.5/ }).click();
    await page.getByText('epsilon 0.5 spent').waitFor();
    await page.getByLabel('About').selectOption('trust');
    await settled(page);
    await page.getByText('The budget does not hold this.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Release …' }).isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole('banner').innerText()).toContain('0.5 of 0.5 spent');
    // The service refuses requests that the page would not send.
    const csrf = await page.evaluate("fetch('/v1/session').then((r) => r.json()).then((s) => s.csrf)");
    const body = JSON.stringify({ question: { kind: 'histogram', column: 'trust' }, epsilon: '0.5' });
    const status = await page.evaluate(
      `fetch('/v1/policies/small/release', { method: 'POST', headers: { 'content-type': 'application/json', 'x-fugu-csrf': '${csrf}' }, body: ${JSON.stringify(body)} }).then((r) => r.status)`,
    );
    expect(status).toBe(409);
    await context.close();
  });

  it('the console works with the keyboard alone', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('steward', 'keys');
    const { page, context } = await visitor(browser);
    await page.goto(world.url);
    await page.getByLabel('Token').waitFor();
    const focused = () =>
      page.evaluate("document.activeElement?.textContent?.trim().slice(0, 60) || document.activeElement?.id || ''");
    const tabTo = async (wanted: RegExp, back = false): Promise<void> => {
      for (let k = 0; k < 60; k++) {
        if (wanted.test(String(await focused()))) return;
        await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
      }
      throw new Error(`${wanted} cannot be reached`);
    };
    await page.keyboard.press('Tab');
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ask' }).waitFor();
    await settled(page);
    // The first thing to reach leads past the rail.
    await page.evaluate('document.activeElement.blur(), getSelection().removeAllRanges()');
    await tabTo(/^To the content$/);
    await page.keyboard.press('Enter');
    // The first question is on record by now: its answer is offered for nothing.
    await tabTo(/^Show the recorded answer$/);
    await page.getByLabel('How much of the budget to use').focus();
    await page.keyboard.press('ArrowRight');
    await settled(page);
    await page.getByRole('button', { name: 'Release …' }).waitFor();
    await tabTo(/^Release …$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await tabTo(/^Release …$/);
    await page.keyboard.press('Enter');
    await tabTo(/^Spend epsilon/);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Answer', exact: true }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Answer');
    await tabTo(/^Budget$/, true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Budget' }).waitFor();
    await settled(page);
    const epsilon = () => page.getByRole('region', { name: 'Belief against error' }).locator('dd').first().innerText();
    const was = await epsilon();
    await page.getByLabel('Budget', { exact: true }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => Number(await epsilon())).toBeLessThan(Number(was));
    await context.close();
  });
});
