import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeText } from '../../policy/code.js';
import { didYouMean, suggest } from '../../policy/suggest.js';
import { delimiters, detectDelimiter, parseCsv } from './csv.js';

describe('the CSV reader', () => {
  it('the CSV reader restores text that was written with quotes', () => {
    const cell = fc.string({ maxLength: 8 }).map((s) => s.replaceAll('\r', ''));
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...delimiters),
        (rows, d) => {
          const text = rows.map((row) => row.map((c) => `"${c.replaceAll('"', '""')}"`).join(d)).join('\n');
          expect(parseCsv(text, d)?.map((r) => r.cells)).toEqual(rows);
        },
      ),
    );
  });

  it('the CSV reader counts lines, line breaks inside quotes included', () => {
    expect(parseCsv('a,b\r\n"x\ny",1\r\nz,2', ',')?.map((r) => r.line)).toEqual([1, 2, 4]);
  });

  it('the CSV reader detects the delimiter outside quotes', () => {
    expect(detectDelimiter('"a,b,c";d')).toBe(';');
    expect(detectDelimiter('single')).toBe(',');
  });
});

describe('names and codes', () => {
  it('a suggestion names a similar word, and none if no word is similar', () => {
    expect(suggest('oddsratio', ['column', 'oddsRatio'])).toBe('oddsRatio');
    expect(suggest('suorce', ['source', 'table'])).toBe('source');
    expect(suggest('xyz', ['household'])).toBeUndefined();
    expect(didYouMean('xyz', ['a', 'b'])).toBe('Known names: a, b.');
    expect(didYouMean('xyz', [])).toBe('Known names: none.');
  });

  it('a code has a single spelling', () => {
    expect(['1', '1.0', ' 1 ', '1.00', '10', '-9.0', '1.5', 'v1.0', '100'].map(codeText)).toEqual([
      '1',
      '1',
      '1',
      '1',
      '10',
      '-9',
      '1.5',
      'v1.0',
      '100',
    ]);
  });
});
