import { headings, pages, parts } from 'virtual:docs';
import { useEffect, useState } from 'preact/hooks';
import { EmptyNotice, Placeholder } from '../parts/notices.tsx';
import { Page, Panel } from '../parts/page.tsx';
import { linkTo } from '../router.ts';

/** The documentation, page by page, as it is in docs/. `more` is a page and perhaps a heading: `how-to/tables#joins`. */
export function HelpPage({ policy, more }: { readonly policy: string; readonly more: string }) {
  const [path = '', anchor] = more.split('#');
  if (path === '' || path === 'index') return <HelpIndex policy={policy} />;
  return <HelpText key={path} policy={policy} path={path} anchor={anchor} />;
}

function HelpIndex({ policy }: { readonly policy: string }) {
  const [words, setWords] = useState('');
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (...texts: readonly string[]) => wanted.every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  const found = parts
    .map((part) => ({
      ...part,
      pages: part.pages.filter((page) => holds(page.title, page.summary, ...(headings[page.path] ?? []))),
    }))
    .filter((part) => part.pages.length > 0);
  return (
    <Page title="Help" lead="Guides, reference and explanations: the same pages that come with Fugu.">
      <label class="field">
        Search titles and headings
        <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
      </label>
      {found.length === 0 && (
        <EmptyNotice title="Nothing found">
          <p>Try another word; the glossary lists ours beside those of other tools.</p>
        </EmptyNotice>
      )}
      {found.map((part) => (
        <Panel key={part.title} title={part.title}>
          <ul class="help-list">
            {part.pages.map((page) => (
              <li key={page.path}>
                <a href={linkTo(policy, 'help', page.path)}>{page.title}</a>
                <span class="soft">{page.summary}</span>
              </li>
            ))}
          </ul>
        </Panel>
      ))}
    </Page>
  );
}

interface HelpTextProps {
  readonly policy: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

function HelpText({ policy, path, anchor }: HelpTextProps) {
  const [html, setHtml] = useState<string>();
  const load = pages[path];
  useEffect(() => {
    void load?.().then((page) => setHtml(page.default));
  }, [load]);
  useEffect(() => {
    if (html === undefined) return;
    const head = document.querySelector<HTMLElement>('article.help h1');
    document.title = `${head?.textContent ?? 'Help'} · Fugu`;
    head?.focus({ preventScroll: true });
    const heading = anchor === undefined ? null : document.getElementById(anchor);
    if (heading) heading.scrollIntoView();
    else scrollTo(0, 0);
  }, [html, anchor]);
  if (!load)
    return (
      <Page title="Nothing here" lead="There is no such page of help.">
        <a href={linkTo(policy, 'help')}>All pages</a>
      </Page>
    );
  return (
    <div class="page">
      <nav class="small" aria-label="Help">
        <a href={linkTo(policy, 'help')}>All pages of help</a>
      </nav>
      {html === undefined ? (
        <Placeholder height={520} />
      ) : (
        // Made of this package's own pages at build.
        <article class="help panel" dangerouslySetInnerHTML={{ __html: withLinks(html, policy) }} />
      )}
    </div>
  );
}

/** Links to other pages become places of the console. */
const withLinks = (html: string, policy: string): string =>
  html.replaceAll(/href="help:([^"]+)"/g, (_, target: string) => `href="${linkTo(policy, 'help', target)}"`);
