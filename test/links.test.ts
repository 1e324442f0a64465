import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file && existsSync(join(root, file)));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Text without code: a link in code is no link. */
const prose = (text: string) => text.replace(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '').replace(/`[^`\n]*`/g, '``');
const linksOf = (text: string): string[] =>
  [...prose(text).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)|<(?:img|a)\b[^>]*?(?:src|href)="([^"]+)"/g)]
    .map(([, target, attribute]) => (target ?? attribute)!)
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));
/** Anchors of headings as GitHub writes them. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ +(.*)$/gm)].map(([, heading]) =>
      heading!
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
const brokenIn = (file: string, text: string): string[] =>
  linksOf(text)
    .filter((target) => {
      const [path, anchor] = target.split('#') as [string, string | undefined];
      const found = path ? posix.normalize(posix.join(dirname(file), decodeURI(path))) : file;
      if (!existsSync(join(root, found))) return true;
      return anchor !== undefined && found.endsWith('.md') && !anchorsOf(path ? read(found) : text).has(anchor);
    })
    .map((target) => `${file} links to ${target}`);

/** Pages of the documentation that the index leaves out: folders with an index of their own list theirs. */
const unlisted = (files: readonly string[], pageOf: (file: string) => string): string[] => {
  const indexes = files.filter((file) => posix.basename(file) === 'README.md');
  const listed = new Set(
    indexes.flatMap((i) => linksOf(pageOf(i)).map((target) => posix.normalize(posix.join(dirname(i), target)))),
  );
  return files.filter((file) => file !== 'docs/README.md' && !listed.has(file));
};
const pages = tracked.filter((file) => file.startsWith('docs/'));

describe('the links of every Markdown file', () => {
  it('lead to files and headings that exist', () => {
    expect(tracked.length).toBeGreaterThan(250);
    expect(tracked.flatMap((file) => brokenIn(file, read(file)))).toEqual([]);
  });

  it('are reported where a file or a heading is missing', () => {
    const text = '# Here\n[a](gone.md) [b](README.md#nowhere) [c](#here) ![d](images/report.png) `[e](code.md)`\n';
    expect(brokenIn('docs/README.md', text)).toEqual([
      'docs/README.md links to gone.md',
      'docs/README.md links to README.md#nowhere',
    ]);
  });
});

describe('the index of the documentation', () => {
  it('lists every page, itself or through the index of a folder', () => {
    expect(pages.length).toBeGreaterThan(150);
    expect(unlisted(pages, read)).toEqual([]);
  });

  it('misses a page that nobody listed', () => {
    expect(unlisted([...pages, 'docs/how-to/new.md'], read)).toEqual(['docs/how-to/new.md']);
  });
});

describe('the page about the architecture', () => {
  it('names files of src that exist', () => {
    const named = [...read('docs/explanation/architecture.md').matchAll(/`([\w-]+(?:\/[\w-]+)+\.ts)`/g)].map(([, file]) => file!);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((file) => !existsSync(join(root, 'src', file)) && !existsSync(join(root, file)))).toEqual([]);
  });
});
