import { describe, expect, it } from 'vitest';
import { type PolicyDraftOptions, policyDraft } from './draft.js';
import { readsLikeFreeText } from './free-text.js';
import { guess } from './guess.js';
import { ColumnTally } from './tally.js';

type Value = string | number | null;
const column = (name: string, rows: number, cell: (i: number) => Value) => {
  const tally = new ColumnTally();
  for (let i = 0; i < rows; i++) tally.see(cell(i));
  return tally.summary(name, 'text', rows);
};
const is = (name: string, rows: number, cell: (i: number) => Value) => {
  const guessed = guess(column(name, rows, cell));
  return guessed.type === 'out' ? guessed.is : guessed.type;
};
/** Every number below n once, in no order. */
const shuffled = (i: number, n: number) => (i * 7919 + 13) % n;

describe('free text, which is never drafted as a list of answers', () => {
  const opinions = ['too many taxes', 'nobody listens to us here', 'my son', 'roads', 'the war', 'I forgot', 'crime', 'bus'];
  it.each<[string, (i: number) => Value]>([
    ['eight people said something, each something else', (i) => (i < 8 ? opinions[i]! : null)],
    ['many said "none", a few something of their own', (i) => (i < 40 ? 'none' : i < 46 ? opinions[i - 40]! : null)],
    ['one person said something', (i) => (i === 5 ? 'roads' : '__NA__')],
    ['everybody wrote something', (i) => `what number ${i} thinks about it`],
    [
      'one long sentence that three people share',
      (i) => (i % 100 === 3 ? 'they should fix the road before anything else happens' : 'no'),
    ],
    ["long texts of which each is a few people's", (i) => `${i % 75} ${'word '.repeat(20)}`],
    ['remarks with semicolons in them', (i) => (i < 12 ? `${opinions[i % 8]}; and also ${i} times` : null)],
  ])('free text is left out: %s', (_, cell) => {
    const guessed = guess(column('q27_other', 300, cell));
    expect(guessed).toMatchObject({ type: 'out', is: 'free text' });
    const { text } = policyDraft([column('q27_other', 300, cell)], { source: 'a.csv' });
    for (const opinion of opinions) expect(text).not.toContain(opinion);
  });

  it('answers that many give stay answers, however rare one of them is', () => {
    expect(is('party', 400, (i) => ['dem', 'rep', 'none of these parties'][i % 3]!)).toBe('category');
    expect(is('deceased', 400, (i) => (i === 7 ? 'yes' : 'no'))).toBe('category');
    expect(is('q1', 400, (i) => `${i % 7}`)).toBe('category');
  });

  it('a choice of few statements is a list of answers, however long they are', () => {
    const statements = ['it should never be permitted, whatever', 'only where a life is in danger', 'for other reasons, too'];
    const long = (i: number) =>
      `${statements[i % 3]}, because that is what the law has to say about it in the end, as ${i % 3} said`;
    expect(is('q', 300, long)).toBe('category');
    expect(is('q', 300, (i) => (i === 7 ? `${long(i)} and my neighbour agrees` : long(i)))).toBe('free text');
  });

  it('free text is also recognised in a list that somebody else drafted', () => {
    expect(readsLikeFreeText(['yes', 'no', "don't know"])).toBe(false);
    expect(
      readsLikeFreeText(['1', '2', 'they should fix the road before anything else, I have said so for years and nobody listens']),
    ).toBe(true);
    expect(readsLikeFreeText(opinions.map((o) => `${o} and ${o} and ${o} and so on`))).toBe(true);
  });
});

describe('keys of groups', () => {
  it.each<[string, string, number, (i: number) => Value]>([
    ['by its name', 'idhous', 900, (i) => shuffled(i, 900) >> 1],
    ['by its name, of any size', 'famid', 2000, (i) => `F${i % 40}`],
    ['by rows that stand together', 'q0', 900, (i) => `x${Math.floor(i / 3)}`],
    ['by numbers that leave out none', 'nr', 900, (i) => Math.floor(shuffled(i, 900) / 3)],
    ['among more values than are remembered', 'hnum', 30_000, (i) => Math.floor(shuffled(i, 30_000) / 2)],
  ])('a key of groups is recognised %s, and is no measure', (_, name, rows, cell) => {
    expect(is(name, rows, cell)).toBe('group');
    const { groups, leftOut, text } = policyDraft([column(name, rows, cell)], { source: 'a.csv' });
    expect(groups.map((g) => [g.name, g.sure])).toEqual([[name, true]]);
    expect(leftOut).toEqual([{ name, why: 'names a group of rows' }]);
    expect(text).toContain(`by: ${name}`);
  });

  it.each<[string, string, (i: number) => Value]>([
    ['an age', 'age', (i) => 18 + ((i * 31) % 73)],
    ['an income in hundreds', 'income', (i) => ((i * i) % 97) * 100],
    ['the size of a household', 'household_size', (i) => 1 + (i % 14)],
    ['what a family earns', 'family_income', (i) => ((i * 37) % 211) * 1000],
    ['a number that nobody shares', 'steps', (i) => (i % 2 === 0 ? i * 13 : i * 13 + 0.5)],
  ])('%s is not taken for a key of groups', (_, name, cell) => {
    const { groups, declared } = policyDraft([column(name, 900, cell)], { source: 'a.csv' });
    expect([groups.filter((g) => g.sure).length, declared]).toEqual([0, 1]);
  });

  it('dependence stays undecided until the steward declares it', () => {
    const columns = [column('age', 300, (i) => 18 + (i % 60)), column('household_id', 300, (i) => i >> 1)];
    const text = (more: Partial<PolicyDraftOptions>) => policyDraft(columns, { source: 'a.csv', ...more });
    expect(text({})).toMatchObject({ undecided: true, text: expect.stringMatching(/^dependence: undecided$/m) as string });
    expect(text({}).text).not.toMatch(/^dependence: none/m);
    expect(text({ dependence: 'none' }).text).toMatch(/^dependence: none$/m);
    const tied = text({ dependence: { by: 'household_id', oddsRatio: '9' } });
    expect(tied).toMatchObject({ undecided: false });
    expect(tied.text).toContain('  - {kind: groups, by: household_id, oddsRatio: 9}');
    expect(text({ dependence: { by: 'age' } }).leftOut.map((o) => o.name)).toContain('age');
  });
});

describe('columns that are no questions', () => {
  it('timings and ids are left out, and numbers with commas are reported as unreadable', () => {
    expect(is('page_12_timing', 300, (i) => `${i % 97}.${i % 10}`)).toBe('timing');
    expect(is('duration', 300, (i) => i * 3 + 5)).toBe('timing');
    expect(is('q7_page_timing', 300, (i) => (i < 4 ? `${i}.25` : null))).toBe('timing');
    expect(is('interview_duration', 300, (i) => (i * 7) % 120)).toBe('timing');
    expect(is('started', 300, (i) => `2024-01-${10 + (i % 3)}`)).toBe('date');
    expect(is('respondent_id', 300, (i) => `R${i}`)).toBe('id');
    expect(is('height', 300, (i) => `1,${50 + (i % 49)}`)).toBe('commas');
    expect(is('sometimes', 300, (i) => i % 5)).toBe('category');
  });

  it('numbers formatted for people are reported as unreadable, also if adjacent rows share them', () => {
    const between = (x: number) => x.toLocaleString('en-US', { minimumFractionDigits: 2 });
    expect(is('income', 300, (i) => between(900 + 37 * i))).toBe('dressed');
    expect(is('turnover', 300, (i) => `$${between(900 + 37 * (i >> 1))}`)).toBe('dressed');
    expect(is('part', 300, (i) => `${(i % 40) / 2} %`)).toBe('dressed');
    expect(is('paid', 300, (i) => (i % 2 ? `${i}` : `1 ${100 + i}.5`))).toBe('dressed');
    expect(is('telephone', 300, (i) => `030 ${100 + i} ${200 + i}`)).toBe('person');
    expect(is('remark', 300, (i) => `$${i} for the bus`)).toBe('free text');
  });

  it('dates are drafted with bounds at whole years, and left out if they are times or may be of birth', () => {
    const drafted = (day: (i: number) => string | null) => policyDraft([column('day', 400, day)], { source: 'a.csv' });
    expect(drafted((i) => `202${3 + (i % 2)}-0${1 + (i % 9)}-1${i % 10}`).text).toContain(
      '  day: {type: date, bounds: [2023-01-01, 2024-12-31]}',
    );
    expect(drafted((i) => (i % 50 === 0 ? 'unknown' : `2024-02-29 1${i % 10}:00:0${i % 9}`)).text).toContain(
      '  day: {type: date, bounds: [2024-01-01, 2024-12-31]}',
    );
    expect(drafted((i) => `${1940 + (i % 60)}-03-1${i % 10}`).leftOut[0]?.why).toBe(
      'dates over many years, as those of birth are',
    );
    expect(drafted((i) => `${10 + (i % 10)}.03.2024`).leftOut[0]?.why).toContain('a date or time');
    expect(is('birthdate', 400, (i) => `199${i % 9}-03-1${i % 10}`)).toBe('person');
  });

  it('device metadata and addresses are left out by name or by content', () => {
    const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge'];
    for (const name of ['browser', 'qmetadata_Browser', 'UserAgent', 'os', 'qmetadata_Resolution', 'USIPAddress', 'screen_width'])
      expect([name, is(name, 300, (i) => browsers[i % 4]!)]).toEqual([name, 'device']);
    expect(is('v17', 300, (i) => `10.0.${i % 4}.${i % 3}`)).toBe('device');
    expect(is('v18', 300, (i) => `Mozilla/5.0 (${browsers[i % 4]})`)).toBe('device');
    expect(is('v20', 300, (i) => ['Android 10', 'Windows NT 10.0', 'iPhone', 'Macintosh'][i % 4]!)).toBe('device');
    const labelled = new Map([['v21', { label: 'Operating system', values: [], labels: new Map(), missing: [] }]]);
    const { leftOut } = policyDraft([column('v21', 300, (i) => browsers[i % 4]!)], { source: 'a.csv', codebook: labelled });
    expect(leftOut).toEqual([{ name: 'v21', why: 'about a device, or an address' }]);
    expect(is('v19', 300, (i) => `person${i % 40}@example.org`)).toBe('device');
    for (const name of ['vpsu', 'vstrat', 'sampcode', 'psu', 'stratum', 'interviewer_id'])
      expect([name, is(name, 300, (i) => 2000 + ((i * 13) % 90))]).toEqual([name, 'design']);
    for (const name of ['strategy', 'sample', 'demonstrate'])
      expect([name, is(name, 300, (i) => i % 5)]).toEqual([name, 'category']);
    expect(is('optintimestamp', 300, (i) => 20190101 + ((i * 7) % 200))).toBe('timing');
    // Questions that sound alike.
    for (const name of ['cost', 'ship', 'vharder11os', 'screened', 'religion', 'membership', 'ideo5'])
      expect([name, is(name, 300, (i) => browsers[i % 4]!)]).toEqual([name, 'category']);
    const requested = guess(
      column('browser', 300, (i) => browsers[i % 4]!),
      { wanted: new Set(['browser']) },
    );
    expect(requested.type).toBe('category');
  });

  it('a timing that is requested by name is a number', () => {
    const timing = column('page_timing', 300, (i) => (i * 7) % 120);
    expect(guess(timing).type).toBe('out');
    expect(guess(timing, { wanted: new Set(['page_timing']) }).type).toBe('integer');
  });

  it('codes for "no answer" are those that the steward declares', () => {
    const q = column('q', 300, (i) => [1, 2, 3, -9, 8][i % 5]!);
    expect(guess(q)).toMatchObject({ missing: ['-9'] });
    expect(guess(column('q', 300, (i) => [1, 2, 7, 88][i % 4]!))).toMatchObject({ values: ['1', '2', '7'], missing: ['88'] });
    expect(guess(column('q', 300, (i) => [70, 77, 80, 88][i % 4]!))).toMatchObject({ missing: [] });
    expect(guess(q, { missing: new Set(['8']) })).toMatchObject({ values: ['-9', '1', '2', '3'], missing: ['8'] });
  });
});

describe('a codebook that lists codes for "no answer" among the answers', () => {
  it('such codes are drafted as missing by their labels; "don\'t know" stays an answer', () => {
    const labels = { 1: 'Yes', 2: 'No', 8: "Don't know", 9: 'Missing', 88: 'NA: Form 2', 3: 'Not asked to show it' };
    const book = new Map([['q', { values: Object.keys(labels), labels: new Map(Object.entries(labels)), missing: [] }]]);
    const { text, unconfirmed } = policyDraft([column('q', 300, (i) => [1, 2, 3, 8, 9, 88][i % 6]!)], { source: 'a.csv', codebook: book, codebookPath: 'book.csv' }); // biome-ignore format: one line
    expect(text).toContain(
      'q: {type: category, values: {1: Yes, 2: No, 3: Not asked to show it, 8: "Don\'t know"}, missing: [9, 88]}',
    );
    expect(unconfirmed).toEqual([]);
  });
});

describe('a scale of which the codebook labels some points', () => {
  const book = (labels: Record<string, string>) =>
    new Map([['q', { values: Object.keys(labels), labels: new Map(Object.entries(labels)), missing: ['99'] }]]);
  const drafted = (labels: Record<string, string>, cell: (i: number) => Value) =>
    policyDraft([column('q', 300, cell)], { source: 'a.csv', codebook: book(labels), codebookPath: 'book.csv' });
  const ends = { 1: 'not at all', 7: 'very much' };

  it('a scale is drafted with all of its points, to be confirmed, not as its two ends', () => {
    const { text, unconfirmed } = drafted(ends, (i) => (i % 50 === 0 ? 99 : 1 + (i % 7)));
    expect(text).toContain(
      'q: {type: category, values: {1: not at all, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: very much}, missing: [99]}',
    );
    expect(unconfirmed).toEqual(['q']);
    // A point without answers is on the scale all the same.
    expect(drafted(ends, (i) => [1, 2, 7][i % 3]!).text).toContain('6: 6, 7: very much}');
    expect(drafted({ '-2': 'much worse', 2: 'much better' }, (i) => (i % 5) - 2).text).toContain('{-2: much worse, -1: -1, 0: 0');
  });

  it('two labels stay two answers if nothing lies between them, or if a code below zero is no point', () => {
    expect(drafted({ 1: 'yes', 5: 'no' }, (i) => [1, 5][i % 2]!).text).not.toContain('q:');
    expect(drafted({ '-7': 'by phone', 1: 'yes', 2: 'no' }, (i) => [-7, -1, 1, 2][i % 4]!).text).not.toContain('q:');
    expect(drafted({ 0: 'cold', 100: 'warm' }, (i) => 5 * ((i * 13) % 21)).text).toContain('q: {type: integer');
  });
});
