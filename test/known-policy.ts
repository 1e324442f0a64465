import { parseRational } from '../src/base/exact/rational.js';
import { declareKnown } from '../src/policy/known/declare.js';
import type { KnownTotals } from '../src/policy/known/known.js';
import { type KnownEntry, knownShape } from '../src/policy/known/shape.js';
import type { Column, Policy, Protect } from '../src/policy/policy.js';
import type { YamlFile } from '../src/policy/yaml-file.js';
import { samplePolicy } from './sample-policy.js';

const yaml = { place: () => ({ file: '/nowhere/policy.yaml' }) } as unknown as YamlFile;
const row: Protect = { secret: 'row', maxRows: 1, adversary: 'informed' };

/** Known totals as a policy would write them, of made-up columns. */
export const knownAmong = (columns: readonly Column[], entry: unknown): KnownTotals =>
  declareKnown(
    knownShape.parse(entry) as KnownEntry,
    { protect: row, dependence: [] },
    { directory: '/nowhere', columns: new Map(columns.map((c) => [c.name, c])), yaml },
  );

export const knownPolicy = (columns: readonly Column[], entry: unknown, epsilon = '1'): Policy => ({
  ...samplePolicy(columns),
  budget: { epsilon: parseRational(epsilon), delta: parseRational('0') },
  known: knownAmong(columns, entry),
});
