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
type Edge = readonly [string, string];
/** All edges of the relation, between different nodes, in the order in which they first occur. */
const rule = (r: string, edges: readonly Edge[]): string => {
  const nodes = [...new Set(edges.flat())].join(', ');
  const goals = edges.map(([x, y]) => `${r}(${x}, ${y})`).join(', ');
  return `q(${nodes}) :- ${goals}, all_distinct(${nodes})`;
};

const star = (k: number) => names(k).map((x): Edge => ['c', x]);
const cycle = (k: number) => names(k).map((x, i, all): Edge => [x, all[(i + 1) % k]!]);
const clique = (k: number) => names(k).flatMap((x, i, all) => all.slice(i + 1).map((y): Edge => [x, y]));
const path = (k: number) => names(k).map((x, i): Edge => [x, `x${i + 2}`]);
/** One edge in k triangles: the shared edge a, b and k further corners. */
const fan = (k: number): Edge[] => [
  ['a', 'b'],
  ...names(k).flatMap((x): Edge[] => [
    ['a', x],
    ['b', x],
  ]),
];
const reach = (r: string, k: number, from: string) =>
  `q(x${k}) :- ${r}(${from}, x1)${names(k - 1)
    .map((x, i) => `, ${r}(${x}, x${i + 2})`)
    .join('')}`;

const forms: readonly (readonly [RegExp, (m: RegExpExecArray, relation: string) => string])[] = [
  [/^edges$/, (_, r) => rule(r, [['x', 'y']])],
  [/^triangles$/, (_, r) => rule(r, cycle(3))],
  [/^(\d+)-triangles$/, (m, r) => rule(r, fan(size(m[1]!, 1, 'triangles')))],
  [/^(\d+)-stars$/, (m, r) => rule(r, star(size(m[1]!, 1, 'stars')))],
  [/^(\d+)-cycles$/, (m, r) => rule(r, cycle(size(m[1]!, 3, 'cycles')))],
  [/^(\d+)-cliques$/, (m, r) => rule(r, clique(size(m[1]!, 2, 'cliques')))],
  [/^(\d+)-paths$/, (m, r) => rule(r, path(size(m[1]!, 1, 'paths')))],
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
