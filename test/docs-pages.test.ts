import { describe, expect, it } from 'vitest';

interface Heading {
  readonly id: string;
}
interface DocsPages {
  pages(): { readonly file: string; readonly path: string }[];
  parts(
    text?: string,
  ): { readonly title: string; readonly pages: { readonly title: string; readonly path: string; readonly summary: string }[] }[];
  htmlOf(file: string, text?: string): { readonly html: string; readonly headings: Heading[]; readonly images: string[] };
}
const script = '../scripts/docs-pages.mjs';
const index = '../scripts/docs-index.mjs';
const { pages, parts, htmlOf } = { ...(await import(index)), ...(await import(script)) } as DocsPages;

describe('the pages of the documentation, for the console and the site', () => {
  const made = new Map(pages().map(({ file, path }) => [path, htmlOf(file)]));

  it('the index of docs/README.md lists pages that exist, each with its purpose', () => {
    const listed = parts().flatMap((part) => part.pages);
    expect(listed.length).toBeGreaterThan(30);
    expect(listed.filter(({ path, title, summary }) => !made.has(path) || title === '' || summary === '')).toEqual([]);
  });

  it('every link of a page leads to a page and a heading that exist', () => {
    const broken = [...made].flatMap(([path, { html }]) =>
      [...html.matchAll(/href="help:([^"]+)"/g)].flatMap(([, target]) => {
        const [page = '', anchor] = target!.split('#');
        const found = made.get(page);
        return found && (anchor === undefined || found.headings.some(({ id }) => id === anchor)) ? [] : [`${path} -> ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('a page keeps its links inside docs/, shows other links as text, and names its pictures', () => {
    const { html, images } = htmlOf(
      'how-to/x.md',
      '# A `b` & c\n[in](tables.md#several) [out](../../src/a.ts) [web](https://example.org) ![p](../images/report.png)\n\n| a |\n|---|\n| <i> |\n',
    );
    expect(html).toContain('<h1 id="a-b--c"');
    expect(html).toContain('<a href="help:how-to/tables#several">in</a> out <a href="https://example.org"');
    expect(html).toContain('src="image:images/report.png"');
    expect(images).toEqual(['images/report.png']);
  });
});
