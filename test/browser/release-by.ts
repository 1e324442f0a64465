import type { Page } from 'playwright-core';

/** Releases something as the page would; the entry it has in the ledger. */
export async function releaseBy(page: Page, policy: string, question: object): Promise<number> {
  const csrf = await page.evaluate("fetch('/v1/session').then((r) => r.json()).then((s) => s.csrf)");
  const body = JSON.stringify({ question, epsilon: '0.1' });
  return (await page.evaluate(
    `fetch('/v1/policies/${policy}/release', { method: 'POST', headers: { 'content-type': 'application/json', 'x-fugu-csrf': '${csrf}' }, body: ${JSON.stringify(body)} }).then((r) => r.json()).then((a) => a.receipt.ledger.entry)`,
  )) as number;
}
