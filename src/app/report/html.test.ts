import { describe, expect, it } from 'vitest';
import { parseRational } from '../../base/exact/rational.js';
import type { Column, Policy } from '../../policy/policy.js';
import type { AnswerTable } from '../../query/bound.js';
import type { Release } from '../../release/session/receipt.js';
import { tableCsv } from './csv.js';
import { htmlReport } from './html.js';
import { publishedTable } from './published-table.js';
import { reportOf } from './report.js';

const hostile = '<script>alert("x")</script> & co \u202edesrever\u200b\u001b[2J';
const party: Column = {
  name: 'party',
  type: 'category',
  label: hostile,
  values: ['d', 'r'],
  labels: new Map([
    ['d', 'Democrat'],
    ['r', hostile],
  ]),
  missing: [],
};
const row = (keys: string[], value: number | null, half = 12) => ({
  keys,
  value,
  standardError: value === null ? null : half / 2,
  low: value === null ? null : value - half,
  high: value === null ? null : value + half,
});
const histogram: AnswerTable = {
  name: 'party',
  query: { kind: 'histogram', column: 'party' },
  columns: ['party', 'count'],
  error: 'exact',
  rows: [row(['d'], 1204), row(['r'], -3), row(['(missing)'], null)],
};
const policy = {
  budget: { epsilon: parseRational('1'), delta: parseRational('0') },
  columns: new Map([['party', party]]),
} as unknown as Policy;
const release = (tables: readonly AnswerTable[], over: Partial<Release['receipt']['guarantee']> = {}): Release => ({
  tables,
  receipt: {
    fugu: '0.1.0',
    label: 'everything',
    population: 'town',
    at: '2026-07-31T08:15:00.000Z',
    guarantee: {
      certified: true,
      secret: 'row',
      adversary: 'informed',
      epsilon: 1,
      delta: 0,
      failure: 0,
      assumptions: ['households are strangers to one another'],
      how: 'group privacy',
      sentences: ['Protected: one row.', 'Odds move by at most 2.72.'],
      ...over,
    },
    privacyUnit: { secret: 'row', record: 'one row', maxRows: 1, neighbours: 'replace', public: [], ties: [], relied: [] },
    epsilon: 0.25,
    mechanism: 'laplace',
    why: 'less error',
    measures: [],
    profile: { noise: 'pure', perRecord: { '*': '1/4' } },
    whatIf: [
      { change: 'odds ratios twice as large', leakage: 1.5 },
      { change: 'copies', leakage: Number.POSITIVE_INFINITY },
    ],
    ledger: { entry: 7, hash: 'abc123', replayed: false },
  },
});
const page = (tables: readonly AnswerTable[] = [histogram], over = {}) => htmlReport(reportOf(release(tables, over), policy));

/** Every opened tag is closed in order. */
function unbalanced(html: string): string[] {
  const open: string[] = [];
  for (const [, slash, name, self] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*?(\/?)>/g)) {
    if (self || ['meta', 'br'].includes(name!)) continue;
    if (!slash) open.push(name!);
    else if (open.pop() !== name) return [`</${name}>`];
  }
  return open;
}

describe('text in pictures', () => {
  it('the report counts tables that are mostly noise, and does not count reordered ones', () => {
    const arranged = { ...histogram, arranged: 'Rows ordered by noisy numbers, of 3.' };
    expect(page([arranged, histogram])).not.toContain('mostly noise');
    expect(page([arranged, { ...histogram, mostlyNoise: 'Mostly noise: so much.' }])).toContain(
      '1 of these 2 tables are mostly noise',
    );
  });

  it('text in pictures is never drawn smaller than eleven pixels, nor shown smaller on a telephone', () => {
    const html = htmlReport(reportOf(release([histogram]), policy));
    const sizes = [...html.matchAll(/<text[^>]*font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
    expect(sizes.length).toBeGreaterThan(20);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(11);
    // A telephone of 390 pixels has 312 for a picture, one of 360 has 282: the drawing for 290 is shown there.
    const narrowest = [...html.matchAll(/<div class="fit fit\d">(.*?)<\/div>/g)].map(([, all]) =>
      Number(/<svg[^>]* width="(\d+)"/.exec(all!)![1]),
    );
    expect(narrowest.length).toBeGreaterThan(1);
    for (const width of narrowest) expect((Math.min(...sizes) * 282) / width).toBeGreaterThanOrEqual(11);
    expect(html).toMatch(/@container \(max-width: 419px\)/);
  });
});

describe('a value that the noise leaves unbounded', () => {
  it('a value without bounds has no interval in a file, even if its share spans zero to one', () => {
    const unanswered = {
      ...row(['r'], null),
      low: 0,
      high: 1300,
      standardError: 4,
      share: { value: null, low: 0, high: 1, withSampling: { low: 0, high: 1 } },
    };
    const answered = { ...row(['d'], 10), share: { value: 0.5, low: 0.25, high: 0.75, withSampling: { low: 0, high: 1 } } };
    const csv = tableCsv(publishedTable({ ...histogram, rows: [answered, unanswered] } as unknown as AnswerTable, policy)).split(
      '\n',
    );
    expect(csv[1]).toMatch(/^d,10,6,-2,22,50,25,75,0,100,/);
    expect(csv[2]).toMatch(/^r,,,,,,,,,,/);
  });
});

describe('the HTML report', () => {
  it('the report makes no network request and runs no script', () => {
    const html = page();
    expect(html).not.toMatch(/https?:|\bsrc=|@import|url\(|<script|<link|<iframe/);
    expect(html).toContain("default-src 'none'");
  });

  it('the report is well formed and shows hostile labels as text', () => {
    const html = page();
    expect(unbalanced(html)).toEqual([]);
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/\p{Bidi_Control}|\u200b|(?!\n)\p{Cc}/u);
    expect(html).toContain('\\u202edesrever');
  });

  it('the report states the promise, its assumption, the highest posterior and the receipt', () => {
    const html = page();
    for (const expected of [
      'Protected: one row.',
      'households are strangers',
      '10 of 100',
      'at most 24 of 100',
      'abc123',
      'odds ratios twice as large',
      '34 %',
    ])
      expect(html).toContain(expected);
    expect(html).toMatch(/copies<\/td><td class="n">∞<\/td><td class="n">100 %/);
  });

  it('the report states "except with probability delta" whenever there is a delta, and "as published" if nothing is certified', () => {
    expect(page()).not.toContain('except with probability');
    expect(page([histogram], { delta: 1e-6, failure: 1e-6 })).toContain('except with probability 0.000001');
    expect(page([histogram], { certified: false })).toContain('as published');
  });

  it('the report shows every number with its error, and marks the answers that are missing', () => {
    const html = page();
    expect(html).toMatch(/1,204[\s\S]*± 12/);
    expect(html).toContain('no answer');
    expect(html).toContain('1,192 to 1,216');
  });

  it('the report states the base of percentages, and the counts they come from', () => {
    const share = { value: 0.61, low: 0.02, high: 1 };
    const shared = { ...histogram, rows: histogram.rows.map((r) => ({ ...r, share })) } as unknown as AnswerTable;
    expect(page([shared])).toMatch(/of those who answered and add up to 100: .* nearest counts without negative ones/);
    expect(page([histogram])).not.toMatch(/add up/);
  });

  it('the report draws one number as a tile, many levels as columns, two keys as panels', () => {
    const total: AnswerTable = { ...histogram, name: 'all', query: { kind: 'count' }, columns: ['count'], rows: [row([], 2213)] };
    expect(page([total])).toMatch(/class="tile">2,213/);
    const levels = Array.from({ length: 60 }, (_, k) => row([String(k)], k));
    const age: AnswerTable = {
      ...histogram,
      name: 'age',
      query: { kind: 'histogram', column: 'age' },
      columns: ['age', 'count'],
      rows: levels,
    };
    // For a telephone, half a page and a whole one.
    const drawn = [...page([age]).matchAll(/<svg[^>]* width="(\d+)"[^>]* class="chart at\d"[^>]*>(.*?)<\/svg>/g)].slice(-3);
    expect(drawn.map(([, width, body]) => [Number(width), body!.match(/<rect/g)!.length])).toEqual([
      [290, 60],
      [440, 60],
      [1016, 60],
    ]);
    const cross: AnswerTable = {
      ...histogram,
      name: 'both',
      query: { kind: 'crosstab', columns: ['party', 'sex'] },
      columns: ['party', 'sex', 'count'],
      rows: ['d', 'r'].flatMap((p) => ['f', 'm'].map((s) => row([p, s], 10))),
    };
    const html = page([cross]);
    expect(html).toContain('<h4>Democrat</h4>');
    expect(html.match(/<h4>/g)!.length).toBe(2);
  });

  it('the report draws no share without a value, and no group of such shares', () => {
    const none = { value: null, low: 0, high: 1 };
    const some = { value: 0.5, low: 0.4, high: 0.6 };
    const cross: AnswerTable = {
      ...histogram,
      query: { kind: 'crosstab', columns: ['sex', 'party'] },
      columns: ['sex', 'party', 'count'],
      rows: ['f', '(missing)'].flatMap((s) => ['d', 'r'].map((p) => ({ ...row([s, p], 10), share: s === 'f' ? some : none }))),
    };
    const html = page([cross]);
    expect(html.match(/<h4>/g)!.length).toBe(1);
    expect(html).not.toMatch(/0–100|no answer %/);
    // If no row has a share, counts are shown.
    const counts = page([{ ...cross, rows: cross.rows.map((r) => ({ ...r, share: none })) }]);
    expect(counts.match(/<h4>/g)!.length).toBe(2);
    expect(counts).not.toMatch(/percent of those|0–100|no answer %/);
  });

  it('the report shows interval bounds without rounding errors of the arithmetic', () => {
    const odd: AnswerTable = {
      ...histogram,
      rows: [
        {
          ...row(['d'], 37),
          low: -6.39e-14,
          high: 74 + 7e-14,
          share: { value: 0.5, low: 0.25 - 2 ** -52, high: 0.75 + 2 ** -50 },
        },
      ],
    };
    const html = page([odd]);
    expect(html).toContain('0 to 74');
    expect(html).toContain('25 to 75 %');
    expect(html).not.toMatch(/e-1\d/);
    expect(answerCsv(odd)).toContain('d,37,6,0,74,50,25,75,');
    // A number that is truly small is kept.
    expect(answerCsv({ ...histogram, rows: [{ ...row(['d'], 0), low: -2e-7, high: 2e-7 }] })).toContain('d,0,6,-2e-7,2e-7');
  });

  it('the report states which table is weighted, and by which column', () => {
    const weighted: AnswerTable = { ...histogram, query: { kind: 'histogram', column: 'party', weight: 'w' } };
    const html = page([histogram, weighted]);
    expect(html).toContain('<h3>party</h3>');
    expect(html).toContain('<h3>party, weighted by w</h3>');
    expect(publishedTable(weighted, policy).name).toBe('party, weighted by w');
    expect(answerCsv(weighted)).toMatch(/^party,weighted_count,/);
    expect(answerCsv(histogram)).toMatch(/^party,count,/);
  });

  it('the report takes its title from the policy or the population, not from the kinds of its tables', () => {
    const kinds = release([histogram, histogram]);
    const several = { ...kinds, receipt: { ...kinds.receipt, label: 'histogram, histogram' } };
    expect(htmlReport(reportOf(several, policy))).toContain('<h1>Tables of town</h1>');
    expect(page([histogram, histogram])).toContain('<h1>Everything</h1>');
    const titled = htmlReport(reportOf(several, { ...policy, title: 'The town survey' }));
    expect(titled).toContain('<h1>The town survey</h1>');
    expect(page([histogram])).toContain('<h1>Party</h1>');
  });

  it('the report stays small and has an index with 150 tables', () => {
    const html = page(Array.from({ length: 150 }, (_, k) => ({ ...histogram, name: `q${k}` })));
    expect(html).toContain('href="#a149"');
    expect(html.length).toBeLessThan(2_000_000);
    expect(unbalanced(html)).toEqual([]);
  });
});

const answerCsv = (table: AnswerTable): string => tableCsv(publishedTable(table, policy));
const plain = new Map([['party', { ...party, labels: new Map() } as Column]]);

describe('the CSV of an answer', () => {
  it('the CSV holds codes, values and intervals, quoted where needed', () => {
    expect(tableCsv(publishedTable({ ...histogram, rows: histogram.rows.slice(0, 2) }, { ...policy, columns: plain }))).toBe(
      'party,count,standard_error,low,high\nd,1204,6,1192,1216\nr,-3,6,-15,9\n',
    );
    expect(answerCsv({ ...histogram, rows: [row(['a,"b"'], 1)] })).toContain('"a,""b""",1');
  });

  it('the CSV adds percentages, and the labels of the codes', () => {
    const shared = { value: 0.25, low: 0.2, high: 0.3 };
    const [head, first, , last] = answerCsv({
      ...histogram,
      rows: [
        { ...row(['d'], 25), share: shared },
        { ...row(['r'], 75), share: { ...shared, value: null } },
        row(['(missing)'], 4),
      ],
    }).split('\n');
    expect(head).toBe('party,count,standard_error,low,high,percent,percent_low,percent_high,party_label');
    expect(first).toBe('d,25,6,13,37,25,20,30,Democrat');
    expect(last).toBe('(missing),4,6,-8,16,,,,no answer');
  });

  it('the CSV holds text that no spreadsheet takes for a formula, different texts stay different, and numbers stay numbers', () => {
    const cellOf = (text: string) =>
      answerCsv({ ...histogram, rows: [row([text], 1)] })
        .split('\n')[1]!
        .split(',1,')[0];
    expect(['=1+2', '+a', '-a', '@a', "'=1", '＝1'].map(cellOf)).toEqual(["'=1+2", "'+a", "'-a", "'@a", "''=1", "'＝1"]);
    expect(['-3', '+4.5', '-1e-3', '.5', "'s-Gravenhage", 'a=b'].map(cellOf)).toEqual([
      '-3',
      '+4.5',
      '-1e-3',
      '.5',
      "'s-Gravenhage",
      'a=b',
    ]);
    expect(['\t=1', '\u001b[2J', 'a\r\nb', '\u202e@'].map(cellOf)).toEqual([
      '\\u0009=1',
      '\\u001b[2J',
      'a\\u000d\\u000ab',
      '\\u202e@',
    ]);
    expect(answerCsv({ ...histogram, columns: ['=x', 'count'] })).toMatch(/^'=x,/);
  });
});
