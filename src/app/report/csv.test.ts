import { describe, expect, it } from 'vitest';
import { csvOf, exactCsv } from './csv.js';

describe('text in a CSV', () => {
  it('text in a CSV is never a formula, even where a spreadsheet splits lines at semicolons or bars', () => {
    expect(csvOf([['a;=1', '=1', 'x| @cmd', "a;'=1"]])).toBe(`"a;'=1",'=1,"x| '@cmd","a;''=1"\n`);
    for (const separator of [',', ';', '|'])
      for (const cell of csvOf([['a;=1', 'b', 'c|+x', 'd; -x', 'e;=2;=3']])
        .trimEnd()
        .split(separator))
        expect(cell.replace(/^["\s]+/, '')).not.toMatch(/^[=+\-@]/);
  });

  it('a CSV keeps numbers as they are, and different texts different', () => {
    expect(csvOf([['-5', -5, '1; -5', 'yes; no']])).toBe('-5,-5,"1; -5","yes; no"\n');
    expect(csvOf([['a;=1']])).not.toBe(csvOf([["a;'=1"]]));
  });

  it('an exact CSV returns the same text to a program that reads it', () => {
    expect(exactCsv([['=1+1', '-none', 'a\nb', 'c\td', 'e "f", g', null, -5]])).toBe('=1+1,-none,"a\nb",c\td,"e ""f"", g",,-5\n');
  });
});
