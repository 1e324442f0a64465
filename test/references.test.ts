import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const folders = ['src', 'docs', 'test', 'bench', 'experiments', 'examples', 'scripts'];
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const list = 'docs/reference/references.md';
const own = 'test/references.test.ts';

/** Every text of the project by its path, comments and line ends read as one line. */
const texts = new Map(
  [
    ...pages,
    ...folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((f) => `${folder}/${f.replaceAll('\\', '/')}`),
    ),
  ]
    .filter((f) => /\.(ts|mjs|md)$/.test(f) && f !== own)
    .map((f) => [f, readFileSync(join(root, f), 'utf8').replace(/\n\s*(\*(?!\*)|\/\/)?\s*/g, ' ')]),
);

/** Citations: "Who et al. 1999", "Who and Whom 1999", "Who 1999", without the year if it is unknown. */
const form = /(?:(\p{Lu}[\p{L}-]+) et al\.?(?: (\d{4})\b)?)|(?:(\p{Lu}\p{Ll}+) and )?(\p{Lu}\p{Ll}+) ((?:19|20)\d\d)\b/gu;
const cited = (text: string): string[] =>
  [...text.matchAll(form)].map(([, group, year, who, whom, when]) =>
    group ? `${group} et al.${year ? ` ${year}` : ''}` : `${who ? `${who} and ` : ''}${whom} ${when}`,
  );
const keysOf = (text: string): string[] => [...text.matchAll(/- \*\*([^*]+)\*\*/g)].map((m) => m[1]!.replace(/([^l])\.$/, '$1'));

const strangers = (keys: readonly string[], among: ReadonlyMap<string, string>): string[] =>
  [...among].flatMap(([file, text]) =>
    file === list ? [] : [...new Set(cited(text))].filter((key) => !keys.includes(key)).map((key) => `${file} cites ${key}`),
  );
const idle = (keys: readonly string[], among: ReadonlyMap<string, string>): string[] => {
  const elsewhere = [...among].filter(([file]) => file !== list).map(([, text]) => text);
  const found = new Set(elsewhere.flatMap(cited));
  return keys.filter((key) => !found.has(key) && (key.includes(' et al.') || !elsewhere.some((text) => text.includes(key))));
};

const proofs = [...texts.keys()].filter((f) => f.endsWith('.proof.md'));
const mentioned = (text: string): string[] => [...text.matchAll(/[\w./-]*\w\.proof\.md/g)].map((m) => m[0]);
/** A note is named by its path from src, from the file or from the root, or by its name alone where only one note has it. */
function proofNamed(file: string, name: string): string | undefined {
  const places = [join(dirname(file), name), join('src', name), name].map((p) => normalize(p).replaceAll('\\', '/'));
  const alike = name.includes('/') ? [] : proofs.filter((p) => basename(p) === name);
  return places.find((p) => proofs.includes(p)) ?? (alike.length === 1 ? alike[0] : undefined);
}
const lost = (among: ReadonlyMap<string, string>): string[] =>
  [...among].flatMap(([file, text]) =>
    mentioned(text)
      .filter((name) => name !== 'x.proof.md' && !proofNamed(file, name))
      .map((name) => `${file} names ${name}`),
  );
const alone = (among: ReadonlyMap<string, string>): string[] => {
  const isSource = (file: string) => /^(src|test)\/.*\.ts$/.test(file) && !file.endsWith('.test.ts');
  const named = new Set(
    [...among].flatMap(([file, text]) => (isSource(file) ? mentioned(text).map((n) => proofNamed(file, n)) : [])),
  );
  return proofs.filter((proof) => !named.has(proof));
};

describe('the page of references', () => {
  const keys = keysOf(texts.get(list)!);

  it('the page defines every cited work, and no other', () => {
    expect(keys.length).toBeGreaterThan(25);
    expect(new Set(keys).size).toBe(keys.length);
    expect(strangers(keys, texts)).toEqual([]);
    expect(idle(keys, texts)).toEqual([]);
  });

  it('the test detects an undefined work, and one that nobody cites', () => {
    const planted = new Map([['a.ts', 'by Nobody et al. 1999, Nobody et al., and One and Other 2001; Liu et al. 2016']]);
    expect(strangers(keys, planted)).toEqual([
      'a.ts cites Nobody et al. 1999',
      'a.ts cites Nobody et al.',
      'a.ts cites One and Other 2001',
    ]);
    expect(idle(['Liu et al. 2016', 'Liu et al.', 'Cody 1969'], planted)).toEqual(['Liu et al.', 'Cody 1969']);
  });

  it('works are cited by name, never by a number', () => {
    expect([...texts].filter(([, text]) => /\bpapers? 00\d/i.test(text)).map(([file]) => file)).toEqual([]);
  });

  it('references lead to existing files', () => {
    const links = [...readFileSync(join(root, list), 'utf8').matchAll(/\]\(([^)]+)\)/g)].map((m) => m[1]!);
    const all = new Set([...texts.keys()].flatMap((f) => [f, ...f.split('/').map((_, k, parts) => parts.slice(0, k).join('/'))]));
    expect(links.length).toBeGreaterThan(25);
    expect(links.filter((link) => !all.has(normalize(join(dirname(list), link)).replaceAll('\\', '/')))).toEqual([]);
  });
});

describe('proof notes', () => {
  it('every proof note that is named exists, and a source names each', () => {
    expect(proofs.length).toBeGreaterThan(40);
    expect(lost(texts)).toEqual([]);
    expect(alone(texts)).toEqual([]);
  });

  it('the test detects a missing proof note, and one that no source names', () => {
    expect(lost(new Map([['src/privacy/noise/a.ts', 'See ladder.proof.md, quartic.proof.md and gone.proof.md.']]))).toEqual([
      'src/privacy/noise/a.ts names gone.proof.md',
    ]);
    expect(alone(new Map([['src/privacy/noise/a.test.ts', 'ladder.proof.md']]))).toEqual(proofs);
    expect(alone(new Map([['src/privacy/noise/a.ts', 'ladder.proof.md']]))).toHaveLength(proofs.length - 1);
  });
});
