import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { open } from '../src/index.js';
import { builtOnce, mainFile } from './fugu.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** A terminal of its own, where the system has a program that makes one. */
const hasScript = (() => {
  try {
    return execFileSync('script', ['-qec', 'echo here', '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] }).includes('here');
  } catch {
    return false;
  }
})();

let shop: Workshop;
beforeAll(() => {
  builtOnce();
  shop = openWorkshop(policyYaml(), 300);
});
afterAll(() => shop.remove());

/** Types each answer once its question stands there. */
function atTerminal(
  words: string,
  ...answers: readonly (readonly [RegExp, string])[]
): Promise<{ code: number | null; out: string }> {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${mainFile}" ${words}`, '/dev/null'], { cwd: shop.folder });
  const left = [...answers];
  let out = '';
  let from = 0;
  child.stdout.on('data', (text: Buffer) => {
    out += String(text);
    const next = left[0];
    if (!next?.[0].test(out.slice(from))) return;
    from = out.length;
    left.shift();
    child.stdin.write(`${next[1]}\n`);
  });
  return new Promise((done) => child.on('close', (code) => done({ code, out })));
}
const entries = async () => {
  await using fugu = await open(shop.policyFile);
  return (await fugu.entries()).length;
};

describe.skipIf(!hasScript)('questions on a terminal', () => {
  const release = `release policy.yaml --query '{"kind":"histogram","column":"party"}' --epsilon 0.25`;
  it('a release shows the error and asks once; a recorded answer is returned without a question', async () => {
    const no = await atTerminal(release, [/Spend epsilon 0.25\?/, 'n']);
    expect(no.out).toMatch(/95 % error:\s+±\d+ {2}party/);
    expect(no.out).toMatch(/Nothing was released, as you decided[\s\S]*Nothing was spent/);
    expect([no.code, await entries()]).toEqual([2, 0]);
    const yes = await atTerminal(release, [/Spend epsilon 0.25\?/, 'y']);
    expect([yes.code, await entries()]).toEqual([0, 1]);
    const again = await atTerminal(release);
    expect([again.code, again.out.includes('Spend epsilon')]).toEqual([0, false]);
    const sure = await atTerminal(`${release.replace('party', 'age')} --yes`);
    expect([sure.code, sure.out.includes('Spend epsilon'), await entries()]).toEqual([0, false, 2]);
  });

  it('init asks, and writes the replies into the policy', async () => {
    const { code, out } = await atTerminal(
      'init people.csv --out asked.yaml',
      [/Which columns/, 'party,age'],
      [/of home .*know each other\? \[Y\/n\]/, 'y'],
      [/How alike/, '4'],
      [/weights.*\[Y\/n\]/, ''],
    );
    expect([code, out.includes('declares 2 columns')]).toEqual([0, true]);
    expect(readFileSync(join(shop.folder, 'asked.yaml'), 'utf8')).toContain('- {kind: groups, by: home, oddsRatio: 4}');
  });

  it('a terminal that closes counts as no', async () => {
    const done = await atTerminal(release.replace('party', 'media'), [/Spend epsilon/, '\u0004']);
    expect([done.code, await entries()]).toEqual([2, 2]);
    expect(existsSync(join(shop.folder, 'report'))).toBe(false);
  });
});
