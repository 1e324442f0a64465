import { expect, it } from 'vitest';
import { browserScene } from './scene.js';
import { openPage, signInAs, visitor } from './visit.js';

browserScene('signing in', (scene) => {
  it('a link opens the console once, and leaves no code in the address', async () => {
    const { world, browser } = scene();
    const first = await visitor(browser);
    await first.page.goto(world.link);
    await first.page.getByRole('heading', { name: 'Ask' }).waitFor();
    expect(first.page.url()).not.toContain(world.link.split('#')[1]!);
    await first.page.reload();
    await first.page.getByRole('heading', { name: 'Ask' }).waitFor();
    const second = await visitor(browser);
    await second.page.goto(world.link);
    await second.page.getByRole('alert').getByText('opens nothing').waitFor();
    expect(await second.page.getByRole('navigation').count()).toBe(0);
    await first.page.getByRole('button', { name: 'Sign out' }).click();
    await first.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await first.page.reload();
    await first.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect([...first.wrongs, ...second.wrongs]).toEqual([]);
    await first.context.close();
    await second.context.close();
  });

  it('a wrong, an expired and a revoked token open nothing, with the same message', async () => {
    const { world, browser } = scene();
    const revoked = await world.token('analyst', 'gone');
    await world.revoke(revoked.id);
    const { page, context, wrongs } = await visitor(browser);
    const messages: string[] = [];
    for (const token of ['fugu_0123456789abcdef_wrong', world.expired(), revoked.token]) {
      await page.goto(world.url);
      await page.getByLabel('Token').fill(token);
      await page.keyboard.press('Enter');
      messages.push(await page.getByRole('alert').innerText());
      expect(await page.getByRole('navigation').count()).toBe(0);
    }
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).toContain('opens nothing');
    expect(wrongs).toEqual([]);
    await context.close();
  });

  it('a session ends with its token, and the page reports it', async () => {
    const { world, browser } = scene();
    const made = await world.token('analyst', 'short');
    const { page, context } = await visitor(browser);
    await signInAs(page, world.url, made.token);
    await openPage(page, world.url, 'town/ledger');
    await world.revoke(made.id);
    await page.getByRole('link', { name: 'Receipts' }).click();
    await page.getByText('Your session has ended').waitFor();
    await context.close();
  });

  it('an analyst is barred from the pages and requests of stewards, by the page and by the service', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('analyst', 'ann');
    const { page, context, wrongs } = await visitor(browser);
    await signInAs(page, world.url, token);
    const shown = () => page.getByRole('navigation').getByRole('link').allInnerTexts();
    await expect.poll(shown).toEqual(['Ask', 'Budget', 'Ledger', 'Receipts', 'Help']);
    for (const place of ['town/ties', 'town/attack', 'start']) {
      await page.goto(`${world.url}/#/${place}`);
      await page.getByRole('heading', { name: 'Not for you' }).waitFor();
      await page.goto(`${world.url}/#/town/ledger`);
      await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    }
    for (const path of ['ties', 'leakage', 'ledger/verify'])
      expect(await page.evaluate(`fetch('/v1/policies/town/${path}').then((r) => r.status)`), path).toBe(403);
    expect(await page.evaluate("fetch('/v1/drafts').then((r) => r.status)")).toBe(403);
    const csrf = await page.evaluate("fetch('/v1/session').then((r) => r.json()).then((s) => s.csrf)");
    for (const path of ['attack', 'what-if'])
      expect(
        await page.evaluate(
          `fetch('/v1/policies/town/${path}', { method: 'POST', headers: { 'content-type': 'application/json', 'x-fugu-csrf': '${csrf}' }, body: '{}' }).then((r) => r.status)`,
        ),
        path,
      ).toBe(403);
    // A cookie without the token of the page cannot make requests.
    const forged =
      "fetch('/v1/policies/town/release', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{\"question\": {\"kind\": \"count\"}}' }).then((r) => r.status)";
    expect(await page.evaluate(forged)).toBe(403);
    expect(wrongs).toEqual([]);
    await context.close();
  });

  it('an auditor can read and never spend', async () => {
    const { world, browser } = scene();
    const { token } = await world.token('auditor', 'otto');
    const { page, context, wrongs } = await visitor(browser);
    await signInAs(page, world.url, token);
    await page.getByRole('heading', { name: 'Budget', exact: true }).waitFor();
    await expect
      .poll(() => page.getByRole('navigation').getByRole('link').allInnerTexts())
      .toEqual(['Budget', 'Ties', 'Ledger', 'Receipts', 'Help']);
    await openPage(page, world.url, 'town/ask');
    await page.getByRole('heading', { name: 'Not for you' }).waitFor();
    await openPage(page, world.url, 'town/ties');
    await page.getByRole('region', { name: 'Leakage by kind of record' }).first().locator('svg[role=img]').waitFor();
    await openPage(page, world.url, 'town/ledger');
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/^whole: \d+ entries$/).waitFor();
    await openPage(page, world.url, 'town/nonsense');
    await page.getByRole('heading', { name: 'Nothing here' }).waitFor();
    expect(wrongs).toEqual([]);
    await context.close();
  });
});
