import { Fault } from '../../../base/errors.js';

/** A named pattern, written out. Shortcuts count occurrences, not assignments. */
export interface Shortcut {
  readonly text: string;
  readonly title: string;
}

const cap = 8;
const size = (text: string, least: number, what: string): number => {
  const k = Number(text);
  if (!(k >= least && k <= cap))
    throw new Fault('PATTERN_SYNTAX', `${what} are offered from ${least} to ${cap}.`, `Write for example ${least}-${what}.`);
  return k;
};
const names = (k: number): string[] => Array.from({ length: k }, (_, i) => `x${i + 1}`);
const rule = (vars: readonly string[], goals: readonly string[], distinct = vars): string =>
  `q(${vars.join(', ')}) :- ${goals.join(', ')}${distinct.length > 1 ? `, all_distinct(${distinct.join(', ')})` : ''}`;

const star = (r: string, k: number) =>
  rule(
    ['c', ...names(k)],
    names(k).map((x) => `${r}(c, ${x})`),
  );
const cycle = (r: string, k: number) =>
  rule(
    names(k),
    names(k).map((x, i, all) => `${r}(${x}, ${all[(i + 1) % k]})`),
  );
const clique = (r: string, k: number) =>
  rule(
    names(k),
    names(k).flatMap((x, i, all) => all.slice(i + 1).map((y) => `${r}(${x}, ${y})`)),
  );
const path = (r: string, k: number) =>
  rule(
    names(k + 1),
    names(k).map((x, i) => `${r}(${x}, x${i + 2})`),
  );
/** One edge in k triangles: the shared edge a, b and k further corners. */
const fan = (r: string, k: number) =>
  rule(['a', 'b', ...names(k)], [`${r}(a, b)`, ...names(k).flatMap((x) => [`${r}(a, ${x})`, `${r}(b, ${x})`])]);
const reach = (r: string, k: number, from: string) =>
  `q(x${k}) :- ${r}(${from}, x1)${names(k - 1)
    .map((x, i) => `, ${r}(${x}, x${i + 2})`)
    .join('')}`;

const forms: readonly (readonly [RegExp, (m: RegExpExecArray, relation: string) => string])[] = [
  [/^edges$/, (_, r) => rule(['x', 'y'], [`${r}(x, y)`])],
  [/^triangles$/, (_, r) => cycle(r, 3)],
  [/^(\d+)-triangles$/, (m, r) => fan(r, size(m[1]!, 1, 'triangles'))],
  [/^(\d+)-stars$/, (m, r) => star(r, size(m[1]!, 1, 'stars'))],
  [/^(\d+)-cycles$/, (m, r) => cycle(r, size(m[1]!, 3, 'cycles'))],
  [/^(\d+)-cliques$/, (m, r) => clique(r, size(m[1]!, 2, 'cliques'))],
  [/^(\d+)-paths$/, (m, r) => path(r, size(m[1]!, 1, 'paths'))],
  [/^(\d+)-paths from ('(?:[^']|'')*'|-?\d+|\$\w+)$/, (m, r) => reach(r, size(m[1]!, 1, 'paths'), m[2]!)],
  [/^paths from ('(?:[^']|'')*'|-?\d+|\$\w+)$/, (m, r) => reach(r, 2, m[1]!)],
];

/** `triangles`, `4-cliques of friend`, `2-paths from 'ann'`; undefined when the text is a written pattern. */
export function shortcut(text: string, defaultRelation: string): Shortcut | undefined {
  const [, title, of] = /^\s*(.*?)(?:\s+of\s+([A-Za-z_]\w*))?\s*$/s.exec(text.trim().replace(/\s+/g, ' ')) ?? [];
  for (const [form, write] of forms) {
    const m = form.exec(title!);
    if (m) return { text: write(m, of ?? defaultRelation), title: title! };
  }
  return undefined;
}

/** The share of open triads that are closed: 3 triangles / 2-paths, from two counts that share one budget. */
export const isClusteringCoefficient = (text: string): boolean => /^\s*clustering coefficient\b/.test(text);
export const clusteringParts = ['triangles', '2-paths'] as const;
