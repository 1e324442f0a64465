import { describe, expect, it } from 'vitest';
import { type PolicyDraftOptions, policyDraft } from './draft.js';
import { PanelTally } from './panel.js';
import { ColumnTally } from './tally.js';

type Cells = Readonly<Record<string, readonly (string | number | null)[]>>;
function found(cells: Cells, options: Partial<PolicyDraftOptions> = {}) {
  const columns = Object.entries(cells).map(([name, list]) => {
    const tally = new ColumnTally();
    for (const cell of list) tally.see(cell);
    return tally.summary(name, 'text', list.length);
  });
  const tally = new PanelTally(columns);
  const rows = Object.values(cells)[0]!.length;
  for (let i = 0; i < rows; i++) tally.see((name) => cells[name]![i]!);
  return { panels: tally.found, ...policyDraft(columns, { source: 'a.csv', panels: tally.found, ...options }) };
}
const list = <T>(n: number, cell: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => cell(i));
const random = (i: number) => {
  let h = Math.imul(i + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
};

describe('rows of one person', () => {
  const people = 120;
  const waves = 5;
  const rows = people * waves;
  const answers = {
    age: list(rows, (i) => 20 + Math.floor(60 * random(i))),
    q: list(rows, (i) => 'abc'[Math.floor(3 * random(i + 7))]!),
  };

  it.each<[string, Cells]>([
    ['sorted by person', { pid: list(rows, (i) => 1000 + 7 * Math.floor(i / waves)), wave: list(rows, (i) => 1 + (i % waves)), ...answers }],
    ['sorted by wave', { pid: list(rows, (i) => 1000 + 7 * (i % people)), year: list(rows, (i) => 2010 + Math.floor(i / people)), ...answers }],
    ['under a name that says nothing', { x1: list(rows, (i) => `k${(i * 7) % people}`), x2: list(rows, (i) => Math.floor(i / people) + 1), ...answers }],
    ['by dates', { who: list(rows, (i) => `k${(i * 7) % people}`), day: list(rows, (i) => `2024-01-${10 + Math.floor(i / people)}`), ...answers }],
    ['of twelve children on many days', { child: list(600, (i) => `c${i % 12}`), day: list(600, (i) => 1 + Math.floor(i / 12)), q: list(600, (i) => 'ab'[i % 2]!) }],
    ['of whom some missed a wave', { respondent: list(rows, (i) => (i * 7) % people), wave: list(rows, (i) => (i % 9 === 0 ? null : 1 + Math.floor(i / people))), ...answers }],
  ])('rows of one person are found and protected together: %s', (_, cells) => {
    const [unit, order] = Object.keys(cells) as [string, string];
    const { protect, text, leftOut, groups } = found(cells);
    expect(protect).toMatchObject({ secret: 'person', unit, order, said: false });
    expect(protect.maxRows).toBe(new Set(cells[order]!.filter((x) => x !== null)).size);
    expect(text).toMatch(new RegExp(`^protect: \\{secret: person, unit: ${unit}, maxRows: ${protect.maxRows}\\}$`, 'm'));
    expect(text).toContain(`# ${order} says when`);
    expect(text).not.toMatch(/^protect: \{secret: row/m);
    expect(leftOut).toContainEqual({ name: unit, why: 'names a person' });
    expect(groups.map(({ name }) => name)).not.toContain(unit);
  }); // biome-ignore format: one line each

  it("rows of one person are found by the column's name if there is no time column", () => {
    const log = { user_id: list(400, (i) => Math.floor(5 * random(i))), q: list(400, (i) => 'ab'[i % 2]!) };
    expect(found(log).protect).toMatchObject({ secret: 'person', unit: 'user_id', maxRows: 100 });
    const few = { respondent_id: list(400, (i) => i % 300), q: list(400, (i) => 'ab'[i % 2]!) };
    expect(found(few).protect).toMatchObject({ unit: 'respondent_id', maxRows: 2 });
  });

  it.each<[string, Cells]>([
    ['households', { hid: list(600, (i) => Math.floor(i / 3)), year: list(600, (i) => 2010 + (Math.floor(i / 3) % 4)), ...answers }],
    ['classes', { class_id: list(600, (i) => i % 25), month: list(600, (i) => 1 + (i % 7)), ...answers }],
    ['ages and years', { age: answers.age, year: list(600, (i) => 2000 + Math.floor(10 * random(i + 3))), q: answers.q }],
    ['an id of each row', { id: list(600, (i) => i), year: list(600, (i) => 2000 + (i % 5)), ...answers }],
    ['ids of fathers', { id: list(600, (i) => i), fatherid: list(600, (i) => Math.floor(i / 3)), ...answers }],
    ['answers', answers],
  ])('%s are not taken for persons with several rows', (_, cells) => {
    const { protect, panels, text } = found(cells);
    expect([panels, protect]).toEqual([[], { secret: 'row', said: false }]);
    expect(text).toMatch(/^protect: \{secret: row\}$/m);
  }); // biome-ignore format: one line each

  it('rows are secrets of their own only if the steward declares it', () => {
    const cells = { pid: list(rows, (i) => 1000 + 7 * (i % people)), wave: list(rows, (i) => 1 + Math.floor(i / people)), ...answers };
    const { text, protect } = found(cells, { secret: 'row' });
    expect(protect).toEqual({ secret: 'row', said: true });
    expect(text).toMatch(/# Several rows share one pid; said when this was drafted: each row is a secret of its own[\s\S]*\nprotect: \{secret: row\}/);
    expect(found(cells, { person: { unit: 'pid', maxRows: 2 } }).text).toMatch(/unit: pid, maxRows: 2\}/);
    expect(found(cells, { person: { unit: 'pid' } }).text).toMatch(/unit: pid, maxRows: 5\}/);
  }); // biome-ignore format: one line each

  it('a household panel yields both the person and the household', () => {
    const cells = {
      pid: list(rows, (i) => 1000 + 7 * (i % people)),
      hid: list(rows, (i) => 5000 + ((i % people) >> 1)),
      wave: list(rows, (i) => 1 + Math.floor(i / people)),
      ...answers,
    };
    const { protect, groups } = found(cells);
    expect([protect.unit, groups.map(({ name }) => name)]).toEqual(['pid', ['hid']]);
  });
});
