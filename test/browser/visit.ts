import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser with a folder of its own. */
export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: flags, timeout: 600_000 });

export interface VisitorSettings {
  readonly width?: 1280 | 390;
  readonly colours?: 'light' | 'dark';
}

/** A visitor without cookies. Any error of the page, or of its content policy, fails the test that checks `wrongs`. */
export async function visitor(
  browser: Browser,
  look: VisitorSettings = {},
): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly wrongs: string[] }> {
  const { width = 1280, colours = 'light' } = look;
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 860 },
    colorScheme: colours,
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(600_000);
  const page = await context.newPage();
  const wrongs: string[] = [];
  page.on('pageerror', (error) => wrongs.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (401|403|404|409|422)/.test(message.text())) wrongs.push(message.text());
  });
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (hostname !== '127.0.0.1' && !['data:', 'blob:', 'file:'].includes(protocol)) wrongs.push(`asked ${hostname}`);
  });
  return { context, page, wrongs };
}

export async function signInAs(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').waitFor();
}

/** Opens a page of the console and waits until nothing on it is on its way. */
export async function openPage(page: Page, url: string, place: string): Promise<void> {
  await page.goto(`${url}/#/${place}`);
  await settled(page);
}

export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('.ghost, .waiting').first().waitFor({ state: 'detached' });
}

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Serious findings of axe-core, WCAG A and AA, in words. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // Through the debugger: the page itself allows no script but its own.
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then((r) => r.violations)",
  )) as readonly Finding[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((n) => `${id}: ${n.html.slice(0, 160)} ${n.failureSummary?.slice(0, 200) ?? ''}`));
}

/** Nothing may stand out to the right. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(wide).toBeLessThanOrEqual(0);
}
