import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNow } from '../../../../test/now.js';
import { readPolicy } from '../../../data/terms/read.js';
import { declaredAmplifiers } from '../../../data/ties/declared.js';
import { type FactorGraph, fromPairs } from './factor-graph.js';
import { fromGroups } from './group-graph.js';
import { graphBytes, memoryLimit, storedBytes } from './memory-limit.js';
import { type GraphWalk, walkGraph } from './walk.js';

const rows = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'fugu-room-'));
const policy = (dependence: string, protect = '{secret: row, unit: id}') => {
  const file = join(folder, 'policy.yaml');
  writeFileSync(
    file,
    `data: {source: people.csv}\nprotect: ${protect}\nbudget: {epsilon: 1}\nrelations:\n  friend: {table: friends.csv, columns: [a, b], domain: ${rows}, symmetric: true}\ndependence: [${dependence}]\ncolumns:\n  answer: {type: category, values: [a, b]}\n`,
  );
  return readPolicy(file);
};
beforeAll(() => {
  const people = Array.from({ length: rows }, (_, k) => `p${k},h${k >> 1},a`);
  writeFileSync(join(folder, 'people.csv'), `id,home,answer\n${people.join('\n')}\n`);
  const friends = Array.from({ length: rows / 2 }, (_, k) => `p${k},p${k + 1}`);
  writeFileSync(join(folder, 'friends.csv'), `a,b\n${friends.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const opened = async (dependence: string, memory: number, protect?: string) => {
  const read = await policy(dependence, protect);
  const engine = await openNow(read, { memory });
  try {
    return (await declaredAmplifiers(read, engine)).amplifiers.length;
  } finally {
    await engine.close();
  }
};
const mib = 2 ** 20;

describe('ties that need more memory than is allowed', () => {
  for (const [kind, dependence, protect] of [
    ['groups', '{kind: groups, by: home, oddsRatio: 2}', '{secret: row}'],
    ['groups of persons', '{kind: groups, by: home, oddsRatio: 2}', '{secret: person, unit: id, maxRows: 2}'],
    ['ties', '{kind: ties, relation: friend, oddsRatio: 2}', undefined],
  ] as const)
    it(`data with too many ties is refused in one sentence, and read where memory suffices: ${kind}`, async () => {
      await expect(opened(dependence, 32 * mib, protect)).rejects.toMatchObject({
        code: 'ENGINE_MEMORY',
        exit: 5,
        message: expect.stringMatching(/^The declared ties need about \d+ MB of memory, and 25 MB are allowed for them\.$/),
        hint: expect.stringMatching(/FUGU_MEMORY=1GB/),
      });
      expect(await opened(dependence, 512 * mib, protect)).toBe(1);
    });
});

const bytesOf = (parts: FactorGraph | GraphWalk): number =>
  Object.values(parts).reduce((sum, part) => sum + (ArrayBuffer.isView(part) ? part.byteLength : 0), 0);

describe('the stated memory of a graph', () => {
  const ends = (shift: number) => Uint32Array.from({ length: 30_000 }, (_, k) => (k * 7919 + shift * (k % 13)) % 10_000);
  for (const [shape, graph] of [
    ['pairs', fromPairs(10_000, ends(1), ends(2), 0.5)],
    [
      'groups of three',
      fromGroups(
        Uint32Array.from({ length: 9_999 }, (_, k) => Math.floor(k / 3)),
        0.5,
        'pairs',
      ),
    ],
    [
      'groups with hidden types',
      fromGroups(
        Uint32Array.from({ length: 9_999 }, (_, k) => k >> 2),
        0.5,
        'hidden',
      ),
    ],
    [
      'large groups',
      fromGroups(
        Uint32Array.from({ length: 9_999 }, (_, k) => k >> 7),
        0.5,
        'together',
      ),
    ],
  ] as const)
    it(`the memory estimate is at least the memory that the graph and its walk use: ${shape}`, () => {
      const held = bytesOf(graph) + bytesOf(walkGraph(graph));
      expect(storedBytes(graph.nodes, graph.member.length)).toBeGreaterThanOrEqual(held);
      expect(graphBytes(graph.nodes, graph.member.length)).toBeGreaterThan(3 * held);
    });

  it('a graph one byte beyond the memory limit is refused', () => {
    const limited = memoryLimit(1000);
    expect(() => limited.require(1000)).not.toThrow();
    expect(() => limited.require(1001)).toThrow(/declared ties need/);
  });
});
