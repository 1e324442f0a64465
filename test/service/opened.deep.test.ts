import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { browserCommand, openInBrowser } from '../../src/app/cli/browser.js';
import { builtOnce, fugu, mainFile } from '../fugu.js';
import { type Desktop, hasScript, openDesktop, terminal } from './desktop.js';
import { townFolder } from './served.js';

let folder: string;
let desktop: Desktop;
beforeAll(() => builtOnce());
beforeEach(() => {
  desktop = openDesktop();
  folder = mkdtempSync(join(tmpdir(), 'fugu-demo-'));
});
afterEach(() => {
  desktop.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function signedIn(link: string): Promise<{ readonly role: string }> {
  const [url, code] = link.split('/login#');
  const answer = await fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return (await answer.json()) as { role: string };
}

describe.skipIf(process.platform === 'win32')('the command fugu serve --open', () => {
  it('the command passes the link to the browser in a file that nobody else can read, and deletes it in the end', async () => {
    rmSync(folder, { recursive: true });
    folder = townFolder();
    const child = spawn(process.execPath, [mainFile, 'serve', 'town.yaml', '--port', '0', '--open'], {
      cwd: folder,
      env: desktop.env,
      stdio: 'ignore',
    });
    const ended = new Promise((done) => child.on('exit', done));
    const { page, link } = await desktop.opened();
    expect(statSync(page).mode & 0o077).toBe(0);
    expect(page).not.toContain(link.split('#')[1]);
    expect((await signedIn(link)).role).toBe('steward');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(existsSync(page)).toBe(false);
  });

  it('the command needs a link', async () => {
    rmSync(folder, { recursive: true });
    folder = townFolder();
    expect((await fugu({ cwd: folder }, 'serve', 'town.yaml', '--open', '--no-link')).code).toBe(2);
  });

  it('the command knows the opener of each system, and reports where there is none', async () => {
    expect(browserCommand('darwin', {})).toEqual(['open']);
    expect(browserCommand('win32', {})?.slice(0, 3)).toEqual(['cmd', '/c', 'start']);
    expect(browserCommand('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toEqual(['xdg-open']);
    expect(browserCommand('linux', {})).toBeUndefined();
    expect(await openInBrowser('page.html', undefined)).toBe(false);
    expect(await openInBrowser('page.html', [join(desktop.bin, 'nothing')])).toBe(false);
    expect(await openInBrowser('page.html', ['false'])).toBe(false);
    expect(await openInBrowser('page.html', [join(desktop.bin, 'xdg-open')])).toBe(true);
  });
});

describe.skipIf(!hasScript)('the command fugu demo', () => {
  it('the demo on a terminal offers the console, opens it, and stops on request', async () => {
    const { seen, ended, say, until } = terminal(folder, 'demo --out demo', desktop.env);
    await until(/Open the console in your browser\? \[Y\/n\]/);
    say('\n');
    const { link } = await desktop.opened();
    expect(seen.out).toContain(link);
    expect((await signedIn(link)).role).toBe('steward');
    say('\u0003');
    expect(await ended).toBe(0);
    expect((await fugu({ cwd: folder }, 'ledger', 'demo/run-1/yours.yaml', '--json')).out).toContain('"entries": []');
  });

  it('the demo prints the link if no browser can be opened', async () => {
    const { DISPLAY: _x, WAYLAND_DISPLAY: _w, BROWSER: _b, ...bare } = desktop.env;
    const { seen, ended, say, until } = terminal(folder, 'demo --out demo', bare);
    await until(/Open the console/);
    say('y\n');
    await until(/No browser could be opened/);
    expect((await signedIn(/http:\/\/\S+\/login#[\w-]+/.exec(seen.out)![0])).role).toBe('steward');
    say('\u0003');
    expect(await ended).toBe(0);
  });

  it('the demo serves nothing after a no or a closed terminal, and nothing at all without a terminal', async () => {
    const no = terminal(folder, 'demo --out demo', desktop.env);
    await no.until(/Open the console/);
    no.say('n\n');
    expect(await no.ended).toBe(0);
    const gone = terminal(folder, 'demo --out demo', desktop.env);
    await gone.until(/Open the console/);
    gone.say('\u0004');
    expect(await gone.ended).toBe(0);
    const piped = await fugu({ cwd: folder, env: { DISPLAY: ':99' } }, 'demo', '--out', 'demo');
    expect(piped.code).toBe(0);
    expect(`${piped.out}${piped.err}`).not.toContain('Open the console in');
    expect(piped.out.trimEnd().split('\n').at(-1)).toMatch(
      /fugu serve \S+run-3\/yours.yaml \S+run-3\/households.yaml \S+run-3\/strangers.yaml$/,
    );
    expect(desktop.hasOpened).toBe(false);
  });
});
