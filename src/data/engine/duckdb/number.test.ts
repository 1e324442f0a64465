import { describe, expect, it } from 'vitest';
import { ownDuckDb } from '../../../../test/own-duckdb.js';
import { nearestDouble, parseNumberText, seededPick, uglyWords } from '../../../../test/ugly-cells.js';
import { numberFromText } from '../../../policy/number-text.js';
import { duckdb } from './dialect.js';

const database = ownDuckDb();

/** The numbers the database finds in texts; NULL as NaN, as JavaScript has it. */
async function inDatabase(texts: readonly string[], expression = duckdb.numberInText('t')): Promise<number[]> {
  await database.connection.run('CREATE OR REPLACE TABLE texts (i INTEGER, t VARCHAR)');
  const appender = await database.connection.createAppender('texts');
  texts.forEach((text, i) => {
    appender.appendInteger(i);
    appender.appendVarchar(text);
    appender.endRow();
  });
  appender.closeSync();
  const rows = (await database.connection.runAndReadAll(`SELECT ${expression} FROM texts ORDER BY i`)).getRows();
  return rows.map(([x]) => (x === null ? Number.NaN : (x as number)));
}
const same = (a: number, b: number): boolean => Object.is(a + 0, b + 0);
const differing = (texts: readonly string[], a: readonly number[], b: readonly number[]) =>
  texts.filter((_, i) => !same(a[i]!, b[i]!)).slice(0, 5);

function everyText(alphabet: string, length: number): string[] {
  let list = [''];
  const all = [''];
  for (let n = 0; n < length; n++) {
    list = list.flatMap((text) => [...alphabet].map((c) => text + c));
    for (const text of list) all.push(text);
  }
  return all;
}

function longDecimals(count: number): string[] {
  const pick = seededPick(7);
  const digits = (n: number) => Array.from({ length: n }, () => pick(10)).join('');
  return Array.from({ length: count }, () => {
    const sign = ['', '-', '+'][pick(3)]!;
    const power = pick(3) === 0 ? '' : `${'eE'[pick(2)]}${['', '-', '+'][pick(3)]}${digits(1 + pick(3))}`;
    return `${sign}${digits(pick(20))}.${digits(1 + pick(20))}${power}`;
  });
}
/** Half way between two doubles, and a little to either side: where a careless conversion rounds the wrong way. */
function halves(count: number): string[] {
  const pick = seededPick(11);
  return Array.from({ length: count }, () => {
    const mantissa = 2n ** 53n + BigInt(pick(2 ** 30)) * 2n + 1n;
    const shift = pick(60);
    // Twice the mantissa has 54 bits: an odd one lies between two doubles.
    const exact = (2n * mantissa + 1n) * 5n ** BigInt(shift);
    const text = `${exact}`.padStart(shift + 1, '0');
    return `${text.slice(0, text.length - shift)}.${text.slice(text.length - shift)}${['', '0000001', '1'][pick(3)]}`;
  });
}

describe('the number in a text', () => {
  it('the database and JavaScript read the same number in every short text', async () => {
    for (const [alphabet, length] of [
      ['05.e+-_ ', 5],
      ['1.eE-\t\v\u00a0xnaif', 3],
    ] as const) {
      const texts = everyText(alphabet, length);
      expect(
        differing(
          texts,
          await inDatabase(texts),
          texts.map((text) => numberFromText(text)),
        ),
      ).toEqual([]);
    }
  });

  it('both read decimal commas alike, and then a text with a point is no number', async () => {
    const texts = everyText('05,.e- ', 5);
    const here = texts.map((text) => numberFromText(text, ','));
    expect(differing(texts, await inDatabase(texts, duckdb.numberInText('t', ',')), here)).toEqual([]);
    expect(numberFromText('1,5', ',')).toBe(1.5);
    for (const [text, mark] of [['1.500', ','], ['1.500,5', ','], ['1,5', '.'], ['1,5,0', ',']] as const) // biome-ignore format: one line
      expect([text, numberFromText(text, mark)]).toEqual([text, Number.NaN]);
  });

  it('both read the double nearest to the text', async () => {
    const texts = [...longDecimals(4000), ...halves(2000), ...uglyWords];
    const readings = texts.map((text) => {
      const exact = parseNumberText(text);
      return exact === undefined ? Number.NaN : nearestDouble(exact);
    });
    expect(
      differing(
        texts,
        texts.map((text) => numberFromText(text)),
        readings,
      ),
    ).toEqual([]);
    expect(differing(texts, await inDatabase(texts), readings)).toEqual([]);
  });

  it('a plain cast in the database, or a plain conversion in JavaScript, would give other numbers', async () => {
    const texts = everyText('1_xe', 3).concat('nan', 'inf', '0x1', ' ');
    expect(
      differing(
        texts,
        await inDatabase(texts, 'TRY_CAST(t AS DOUBLE)'),
        texts.map((text) => numberFromText(text)),
      ),
    ).not.toEqual([]);
    expect(differing(texts, await inDatabase(texts), texts.map(Number))).not.toEqual([]);
  });
});
