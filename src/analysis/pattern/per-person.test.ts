import { describe, expect, it } from 'vitest';
import type { Relation } from '../../policy/policy.js';
import { maxPerPerson } from './per-person.js';
import { analysePatternText } from './query/analyse.js';

const relation = (name: string, more: Partial<Relation> = {}): [string, Relation] => [
  name,
  { name, table: name, columns: ['a', 'b'], domain: 6, symmetric: true, private: true, ...more },
];
const relations = new Map([relation('friend'), relation('likes', { symmetric: false, private: false, domain: 50 })]);
const each = (text: string, degree: number) => maxPerPerson(analysePatternText(text, { relations }), degree);

describe("the bound on one person's part of a count at maximum degree d", () => {
  it('the bound holds in all graphs of that degree on six nodes, with constants and shapes', () => {
    const n = 6;
    const slots: [number, number][] = [];
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) slots.push([i, j]);
    const degree = 3;
    const patterns = [
      {
        text: 'triangles',
        count: (near: boolean[][]) =>
          tuples(3, n).filter(([x, y, z]) => near[x!]![y!] && near[y!]![z!] && near[x!]![z!]).length / 6,
      },
      {
        text: '4-cycles',
        count: (near: boolean[][]) =>
          tuples(4, n).filter(([x, y, z, w]) => near[x!]![y!] && near[y!]![z!] && near[z!]![w!] && near[w!]![x!]).length / 8,
      },
      {
        text: '3-paths',
        count: (near: boolean[][]) =>
          tuples(4, n).filter(([x, y, z, w]) => near[x!]![y!] && near[y!]![z!] && near[z!]![w!]).length / 2,
      },
      {
        text: "q(y) :- friend('0', x), friend(x, y), all_distinct(x, y)",
        count: (near: boolean[][]) =>
          new Set(
            tuples(2, n)
              .filter(([x, y]) => near[0]![x!] && near[x!]![y!])
              .map(([, y]) => y),
          ).size,
      },
    ];
    const bounds = patterns.map(({ text }) => Number(each(text, degree)));
    // Every 97th of the 32,768 graphs, cut to the degree.
    for (let g = 0; g < 1 << slots.length; g += 97) {
      const near = Array.from({ length: n }, () => new Array<boolean>(n).fill(false));
      slots.forEach(([i, j], s) => {
        if (g & (1 << s) && near[i]!.filter(Boolean).length < degree && near[j]!.filter(Boolean).length < degree)
          near[i]![j] = near[j]![i] = true;
      });
      for (const [p, { count, text }] of patterns.entries())
        for (let v = 0; v < n; v++) {
          const without = near.map((row, i) => row.map((x, j) => x && i !== v && j !== v));
          expect(count(near) - count(without), text).toBeLessThanOrEqual(bounds[p]!);
        }
    }
  });

  it('the bound does not limit how often a value occurs in a public relation', () => {
    expect(each('q() :- friend(x, y), likes(y, p)', 2)).toBe(2n * 2n * 50n);
  });
});

function tuples(k: number, n: number): number[][] {
  if (k === 0) return [[]];
  return tuples(k - 1, n).flatMap((t) =>
    Array.from({ length: n }, (_, v) => v)
      .filter((v) => !t.includes(v))
      .map((v) => [...t, v]),
  );
}
