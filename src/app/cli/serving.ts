import { writeWhole } from '../../base/files/write-file.js';
import { rmSync } from '../../base/platform/files.js';
import { join } from '../../base/platform/paths.js';
import { bold, dim } from '../report/terminal-text.js';
import type { Service } from '../service/service.js';
import { onwardPage, openInBrowser } from './browser.js';
import { printJson, printNote, printOut, warnCaution } from './output.js';
import { asTyped } from './typed.js';

export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly tokens?: string;
  readonly log?: string;
  readonly name?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly behindProxy?: boolean;
  readonly bucket?: number;
  readonly newBudget?: string;
  readonly link: boolean;
  /** Opens the link in a browser. */
  readonly browser?: boolean;
  readonly json?: boolean;
}

/** Serves over HTTP until stopped. */
export async function serveUntilStopped(files: readonly string[], words: ServeSettings): Promise<void> {
  const { serviceFolders } = await import('../service/service-folders.js');
  const { serve } = await import('../service/serve.js');
  const places = serviceFolders(files[0]!, words);
  const serving = await serve({
    policies: files,
    ...places,
    host: words.host,
    port: words.port,
    ...(words.tls && { tls: words.tls }),
    ...(words.behindProxy && { behindProxy: true, hsts: true }),
    ...(words.bucket !== undefined && { limits: { bucketMilliseconds: words.bucket } }),
    ...(words.newBudget !== undefined && { newBudget: words.newBudget }),
    opening: (source) => printNote(dim(`Opening ${source} …`)),
    unserved: (file, error) => {
      printNote(`${file} was made in the console and is not served:`);
      warnCaution(error);
    },
  });
  const stopped = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void serving.stop().then(done));
  });
  const link = words.link ? await linkOf(serving.service, serving.url) : undefined;
  if (words.json) printJson({ url: serving.url, tokens: places.tokens, log: places.log, ...(link !== undefined && { link }) });
  else
    printOut(
      [
        `Fugu listens on ${bold(serving.url)}`,
        ...(link === undefined ? [] : [`Open ${bold(link)}`, dim('It signs the steward in, once, within ten minutes.')]),
        dim(asTyped(`For others: fugu token make ${files[0]} --role analyst --for NAME`)),
        dim('Stop it with Ctrl-C: what was begun is finished first.'),
      ].join('\n'),
    );
  const page = words.browser && link !== undefined ? await shownTo(link, places.tokens) : undefined;
  await stopped;
  if (page !== undefined) rmSync(page, { force: true });
}

async function linkOf(service: Service, url: string): Promise<string> {
  const { stewardCode } = await import('../service/steward-code.js');
  return `${url}/login#${stewardCode(service)}`;
}

async function shownTo(link: string, folder: string): Promise<string> {
  const page = join(folder, `open-${process.pid}.html`);
  writeWhole(page, onwardPage(link), { hint: 'The folder of tokens must be writable.', mode: 0o600 });
  if (!(await openInBrowser(page))) printNote('No browser could be opened from here: open the link above in one.');
  return page;
}
