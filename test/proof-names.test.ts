import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((f) => `${folder}/${f.replaceAll('\\', '/')}`);
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const sources = filesIn('src').filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'));
const notes = filesIn('src').filter((f) => f.endsWith('.proof.md'));
const files = [...['src', 'test', 'scripts', 'bench', 'experiments'].flatMap(filesIn)].filter((f) => /\.(ts|mjs)$/.test(f));

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, ' ').replace(/(^|\s)\/\/.*$/gm, ' ');
/**
 * Identifiers, and the one-word strings that stand for kinds and keys; words of messages are none. A plain word may be anybody's
 * local variable, so it counts where it is declared for others: at the top of a file, as a member, or as such a string.
 */
function wordsOf(text: string): ReadonlySet<string> {
  const code = withoutComments(text).replace(/'[^'\n]*'/g, (s) => (/^'[\w-]+'$/.test(s) ? s : ' '));
  const all = [...(code.match(/[A-Za-z_$][\w$]*/g) ?? [])].filter((word) => !isPlain(word));
  const declared = /^(?:export )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/gm;
  const members = /^ +(?:(?:readonly|async|static|get) )*(\w+)\??[:(<]|readonly (\w+)\??:|'(\w+)'/gm;
  return new Set([...all, ...[declared, members].flatMap((form) => [...code.matchAll(form)].map((m) => m[1] ?? m[2] ?? m[3]!))]);
}
const isPlain = (word: string): boolean => /^[a-z]+\d*$/.test(word);
const texts = new Map(sources.map((f) => [f, read(f)]));
const words = new Map([...texts].map(([f, text]) => [f, wordsOf(text)]));

/** Keys and words that every policy and account may hold. */
const common = [
  'policy/policy.ts',
  'policy/schema.ts',
  'policy/neighbours.ts',
  'policy/known/known.ts',
  'privacy/mechanism/record-class.ts',
];
const isCommon = (file: string): boolean => common.some((name) => file === `src/${name}`);
const fileNames = (text: string): string[] =>
  [...text.matchAll(/[\w./-]*\w\.(?:ts|mjs)\b/g)].map((m) => m[0].replace(/^(\.\.?\/)+/, ''));
const standsFor = (name: string, file: string): boolean => file === name || file.endsWith(`/${name}`);

/** Sources that a note is about: of its folder, those that name the note, and those that the note names. */
function near(note: string, text: string): readonly ReadonlySet<string>[] {
  const named = fileNames(text);
  const isNear = (file: string) =>
    file.startsWith(`${dirname(note)}/`) ||
    texts.get(file)!.includes(basename(note)) ||
    named.some((name) => standsFor(name, file)) ||
    isCommon(file);
  return sources.filter(isNear).map((file) => words.get(file)!);
}

/** Mathematical symbols, local variables of a sampler, and names of other systems, that notes write as code. */
const symbols: Readonly<Record<string, readonly string[]>> = {
  'src/base/exact/outward.proof.md': ['sqrt', 'exp'],
  'src/data/engine/name.proof.md': ['normalize', 'btrim', 'trim'],
  'src/privacy/dependence/gaussian/sums.proof.md': ['gone', 'parts'],
  'src/privacy/dependence/informed/informed.proof.md': ['gone'],
  'src/privacy/dependence/uninformed/uninformed.proof.md': ['rest'],
  'src/privacy/noise/discrete-laplace.proof.md': ['ratio', 'product'],
  'src/query/count/read-column.proof.md': ['least', 'greatest', 'lc_monetary'],
  'src/release/ledger/ledger.proof.md': ['data_version'],
};

/** Names in one stretch of code: all words of a name, a path of names or a call; of other texts what looks like code. */
function namesIn(code: string): string[] {
  const rest = code.replace(/[\w./-]*\w\.(?:ts|mjs|md)\b/g, ' ');
  const isName = /^[\w$]+(\.[\w$]+)*$/.test(rest);
  if (/\w\/\w/.test(rest)) return [];
  return [...rest.matchAll(/[A-Za-z_$][\w$]*/g)]
    .filter(({ 0: word, index }) => isName || /[a-z][A-Z]/.test(word) || /^(\(|\.\w)/.test(rest.slice(index + word.length)))
    .map(([word]) => word)
    .filter((word) => word.length > 1);
}

function lost(note: string, text: string): string[] {
  const known = near(note, text);
  const spans = [...text.matchAll(/`([^`]+)`/g)].flatMap((m) => namesIn(m[1]!));
  const strangers = spans.filter((name) => !symbols[note]?.includes(name) && !known.some((set) => set.has(name)));
  const gone = fileNames(text).filter((name) => !files.some((file) => standsFor(name, file)));
  return [...new Set([...strangers, ...gone])].map((name) => `${note} names ${name}`);
}

describe('names in proof notes', () => {
  it('every name and file that a proof note mentions stands in the code beside it', () => {
    expect(notes.length).toBeGreaterThan(90);
    expect(notes.flatMap((note) => lost(note, read(note)))).toEqual([]);
  });

  it.each([
    ['a function that does not exist', '`goneByNow` bounds it', 'goneByNow'],
    ['a call', 'at most `2 rowsMoved(m)`', 'rowsMoved'],
    ['a member', '`Paid.expression` refuses', 'Paid'],
    ['a plain word of another room', 'pieces are alike (`told`)', 'told'],
    ['a plain word that is a local variable at most', 'values that pass (`passing`)', 'passing'],
    ['a word of a message or a comment', '`smallest`', 'smallest'],
    ['a file', '(`keeping.ts`)', 'keeping.ts'],
    ['a file outside of code', 'see known-effects.test.ts.', 'known-effects.test.ts'],
    ['a file in another folder', 'release/session/sensitivity.ts', 'release/session/sensitivity.ts'],
  ])('the test detects %s', (_, text, name) => {
    const note = 'src/query/count/sensitivity.proof.md';
    expect(lost(note, text)).toEqual([`${note} names ${name}`]);
  });

  it('names that stand, formulas, single letters, commands and folders are no finding', () => {
    const text =
      '`recordSensitivity` (`sensitivity.ts`), `2 k + m`, `A`, `fugu check --private`, `experiments/coverage`, `maxRows`';
    expect(lost('src/query/count/sensitivity.proof.md', text)).toEqual([]);
  });
});
