import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answersTo,
  everyRecord,
  extendMark,
  isDataPart,
  isOfRecords,
  isOneTime,
  isReserved,
  levelsMark,
  oneTimeClass,
  paired,
  pairsClass,
  type RecordClassKind,
  recordClassKind,
  slice,
  sliced,
  slicingOf,
  storedClass,
  sumsMark,
  tuplesIn,
  usedMark,
} from './record-class.js';

const made: readonly (readonly [ReturnType<typeof storedClass>, RecordClassKind, string])[] = [
  [everyRecord, 'every', '*'],
  [answersTo('age'), 'part', 'age'],
  [tuplesIn('friend'), 'part', 'friend'],
  [usedMark('ab12'), 'mark', 'used:ab12'],
  [levelsMark('cd34'), 'mark', 'levels:cd34'],
  [sumsMark, 'mark', 'sums:all'],
  [extendMark(sumsMark, ['person', 'id', 5]), 'mark', 'sums:all:person:id:5'],
  [oneTimeClass('adversarial privacy'), 'once', 'once:adversarial privacy'],
  [slice(slicingOf('a:b', 'ef56'), 3, 5), 'slice', 'slice:a%3Ab#ef56:3..5'],
  [sliced(slicingOf('week', 'ef56')), 'sliced', 'sliced:week#ef56'],
  [pairsClass('ab12'), 'pairs', 'pairs:ab12'],
  [paired('ab12'), 'paired', 'paired:ab12'],
];

describe('a record class', () => {
  it.each(made)('the class %s is of kind %s and stored as it always was', (record, kind, text) => {
    expect(record).toBe(text);
    expect(recordClassKind(storedClass(text))).toBe(kind);
    expect([isDataPart(record), isOneTime(record), isOfRecords(record)]).toEqual([
      kind === 'part',
      kind === 'once',
      kind === 'part' || kind === 'every',
    ]);
  });

  it('a class of a data part accepts every name except those that would be parsed as another kind', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.constantFrom(...made.map(([, , text]) => text)),
          fc.string().map((s) => `used:${s}`),
        ),
        (name) => {
          if (!isReserved(name)) return isDataPart(answersTo(name)) && isDataPart(tuplesIn(name));
          expect(() => answersTo(name)).toThrow(RangeError);
          expect(() => tuplesIn(name)).toThrow(RangeError);
          return recordClassKind(storedClass(name)) !== 'part';
        },
      ),
    );
  });

  it('the text of record classes is parsed in one file only', () => {
    const root = join(import.meta.dirname, '..', '..');
    const classText = /(['"`]|\^\(?)(used|levels|sums|once|sliced?)[:|]/;
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (f) => f.endsWith('.ts') && !f.endsWith('.test.ts'),
    );
    expect(files.filter((f) => classText.test(readFileSync(join(root, f), 'utf8')))).toEqual([
      join('privacy', 'mechanism', 'record-class.ts'),
    ]);
  });
});
