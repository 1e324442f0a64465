import { describe, expect, it } from 'vitest';
import { findColumns, policyDraft } from './draft.js';
import { readsLikeFreeText } from './free-text.js';
import { guess } from './guess.js';
import { PanelTally } from './panel.js';
import { ColumnTally } from './tally.js';

type Value = string | number | null;
const rows = 1200;
/** A number below n for row i, in no order. */
const mixed = (i: number, n: number, salt = 7) => ((Math.imul(i + salt, 2654435761) >>> 8) + salt * 97) % n;
const column = (name: string, cell: (i: number) => Value, count = rows) => {
  const tally = new ColumnTally();
  for (let i = 0; i < count; i++) tally.see(cell(i));
  return tally.summary(name, 'text', count);
};
const out = (name: string, cell: (i: number) => Value) => {
  const guessed = guess(column(name, cell));
  return guessed.type === 'out' ? guessed.is : guessed.type;
};

describe('a date of birth in three columns', () => {
  const date = (day: string, month: string, year: string, first = 1930, years = 70) => [
    column(day, (i) => 1 + mixed(i, 28, 3)),
    column(month, (i) => 1 + mixed(i, 12, 5)),
    column(year, (i) => first + mixed(i, years, 11)),
    column('vote', (i) => ['a', 'b'][i % 2]!),
  ];
  it.each([
    ['birth_day', 'birth_month', 'birth_year'],
    ['BirthDay', 'BirthMonth', 'BirthYear'],
    ['dob_d', 'dob_m', 'dob_y'],
    ['geburtstag', 'geburtsmonat', 'geburtsjahr'],
    ['jour_naissance', 'mois_naissance', 'annee_naissance'],
    ['day', 'month', 'year'],
  ])('the draft reports a date of birth in %s, %s and %s', (day, month, year) => {
    const { text, leftOut, unconfirmed } = policyDraft(date(day, month, year), { source: 'a.csv' });
    expect(unconfirmed).toEqual([year, 'vote']);
    for (const name of [day, month])
      expect(leftOut).toContainEqual({ name, why: `${day}, ${month}, ${year} together say on which day somebody was born` });
    expect(text).toContain('together say on which day somebody was born');
  });

  it('a date of birth is recognised by labels, also if the codebook lists the months', () => {
    const [day, month, year, vote] = date('V3', 'V4', 'V5');
    const label = (what: string) => `${what} of birth of respondent`;
    const months = new Map(Array.from({ length: 12 }, (_, k) => [`${k + 1}`, `month ${k + 1}`]));
    const entry = (what: string, labels = new Map<string, string>()) => ({
      label: label(what),
      values: [...labels.keys()],
      labels,
      missing: [],
    });
    const codebook = new Map([
      ['V3', entry('Day')],
      ['V4', entry('Month', months)],
      ['V5', entry('Year')],
    ]) as never;
    const columns = [day!, month!, year!, vote!];
    const drafted = policyDraft(columns, { source: 'a.csv', codebook, codebookPath: 'book.csv' });
    expect(drafted.leftOut.map(({ name }) => name)).toEqual(['V3', 'V4']);
    expect(drafted.text).not.toContain('codebook:');
    expect(findColumns(columns, [], codebook).columns.map(({ is }) => is)).toEqual(['person', 'person', 'question', 'question']);
  });

  it('parts of a date are drafted when requested by name, and when they are no date of birth', () => {
    const requested = policyDraft(date('birth_day', 'birth_month', 'birth_year'), {
      source: 'a.csv',
      known: { wanted: new Set(['birth_day', 'birth_month']) },
    });
    expect(requested.unconfirmed).toContain('birth_day');
    const interviews = policyDraft(date('day', 'month', 'year', 2019, 3), { source: 'a.csv' });
    expect(interviews.unconfirmed).toEqual(['day', 'month', 'year', 'vote']);
    const noDay = policyDraft(date('birth_day', 'birth_month', 'birth_year').slice(1), { source: 'a.csv' });
    expect(noDay.unconfirmed).toEqual(['birth_month', 'birth_year', 'vote']);
  });
});

describe('many whole numbers', () => {
  const states = Array.from({ length: 56 }, (_, k) => k + 1).filter((k) => ![3, 7, 14, 43, 52].includes(k));
  const jobs = [11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 41, 42, 51, 52, 61, 71, 72, 73, 74, 81, 82, 83, 91, 92, 93];
  it('whole numbers with gaps between frequent values are codes, and the draft reports it', () => {
    const { text } = policyDraft([column('V12', (i) => jobs[mixed(i, jobs.length)]!)], { source: 'a.csv' });
    expect(text).toContain(`V12: {type: category, values: [${jobs.join(', ')}]}`);
    expect(text).toMatch(
      /# Whole numbers with holes between them: taken for codes. If they measure something: \{type: integer, bounds: \[\d+, \d+\]\}/,
    );
    expect(out('V101', (i) => states[mixed(i, states.length)]!)).toBe('category');
    expect(guess(column('V12', (i) => (i % 9 === 0 ? 99 : jobs[mixed(i, jobs.length)]!)))).toMatchObject({ missing: [] });
    expect(guess(column('V12', (i) => (i % 9 === 0 ? -9 : jobs[mixed(i, jobs.length)]!)))).toMatchObject({ missing: ['-9'] });
  });

  it('whole numbers are a measure when the gaps are in rare values, or where people round', () => {
    const age = (i: number) => 18 + Math.min(mixed(i, 60), mixed(i, 60, 31));
    expect(out('V9', age)).toBe('integer');
    // Hours: most say 10, 20, 35, 40; some anything.
    expect(out('V10', (i) => (i % 4 ? [10, 20, 25, 30, 35, 40, 38, 15][mixed(i, 8)]! : mixed(i, 70)))).toBe('integer');
    // A long tail: 0 to 9 by many, some far out.
    expect(out('V11', (i) => (i % 30 ? Math.min(mixed(i, 14), mixed(i, 14, 5)) : 14 + mixed(i, 90)))).toBe('integer');
    expect(out('income_class_mid', (i) => 2500 * (1 + mixed(i, 20)))).toBe('integer');
    expect(
      out(
        'year_of_arrival',
        (i) => [1990, 1993, 1996, 1999, 2002, 2004, 2007, 2010, 2012, 2014, 2016, 2018, 2020][mixed(i, 13)]!,
      ),
    ).toBe('integer');
  });
});

describe('a key of few groups', () => {
  it.each(['class', 'Klasse', 'team', 'village', 'village_no', 'équipe'])(
    'a key of few groups called %s is recognised by its repetition',
    (name) => {
      expect(out(name, (i) => 1 + mixed(i, 40))).toBe('group');
      const { text, groups, undecided } = policyDraft(
        [column(name, (i) => 1 + mixed(i, 40)), column('vote', (i) => ['a', 'b'][i % 2]!)],
        { source: 'a.csv' },
      );
      expect(groups[0]).toMatchObject({ name, sure: true });
      expect(undecided).toBe(true);
      expect(text).toMatch(/dependence: \[\{kind: groups, by: /);
    },
  );
  it('a key without an explicit name is recognised when rows of one group are adjacent', () => {
    expect(out('V7', (i) => 1 + Math.floor(i / 30))).toBe('group');
    expect(out('V7', (i) => 1 + mixed(i, 40))).toBe('integer');
  });
  it('a column called class, group or unit with few values is no key, nor is a measure in row order', () => {
    expect(out('class', (i) => 1 + mixed(i, 7))).toBe('category');
    expect(out('age_group', (i) => ['18-29', '30-49', '50-64', '65+'][i % 4]!)).toBe('category');
    expect(out('class_size', (i) => 12 + mixed(i, 20))).toBe('integer');
    expect(out('age', (i) => 18 + Math.floor(i / 20))).toBe('integer');
    expect(out('wave', (i) => 1 + Math.floor(i / 40))).toBe('integer');
    expect(out('year', (i) => 1990 + Math.floor(i / 40))).toBe('integer');
  });
});

describe('comments of a draft', () => {
  it('comments of a draft name only columns of the data', () => {
    const { text } = policyDraft([column('vote', (i) => ['a', 'b'][i % 2]!)], { source: 'a.csv' });
    expect(text).not.toMatch(/person_id|household_id/);
    expect(text).toContain('# protect: {secret: person, unit: COLUMN, maxRows: 5}');
    expect(text).toContain('# dependence: [{kind: groups, by: COLUMN, oddsRatio: inf}]');
    const keyed = policyDraft([column('case_id', (i) => `c${i}`), column('hhid', (i) => i >> 1)], { source: 'a.csv' });
    expect(keyed.text).toContain('unit: case_id');
    expect(keyed.text).toContain('by: hhid');
  });
});

describe('a rare label among short ones', () => {
  const marital = ['SINGLE', 'MARRIED', 'WIDOWED', 'DIVORCED', 'SEPARATED'];
  const rare = (words: string, others = marital) => guess(column('marital', (i) => (i % 150 === 3 ? words : others[i % 5]!)));
  it('a rare label in capitals like the others is an answer, and a free text is not', () => {
    expect(rare('DE FACTO SEPARATED')).toMatchObject({ values: expect.arrayContaining(['DE FACTO SEPARATED']) as string[] });
    expect(readsLikeFreeText([...marital, 'DE FACTO SEPARATED'])).toBe(false);
    expect(rare('he left me alone')).toMatchObject({ unlisted: 1 });
    expect(
      rare(
        'HE LEFT ME',
        marital.map((m) => m.toLowerCase()),
      ),
    ).toMatchObject({ unlisted: 1 });
    expect(readsLikeFreeText([...marital, 'he left me alone'])).toBe(true);
    // Fewer than five people are few however they write.
    expect(guess(column('marital', (i) => (i === 3 ? 'DE FACTO SEPARATED' : marital[i % 5]!)))).toMatchObject({ unlisted: 1 });
  });
});

describe('a flag that is called after a person', () => {
  it('a flag called after a person is not an identifier', () => {
    const found = new PanelTally([column('proband', (i) => i % 2), column('famid', (i) => i % 300)]).found;
    expect(found).toEqual([]);
    expect(out('fatherid', (i) => 17 * mixed(i, 100))).toBe('id');
  });
});

describe('a weight column', () => {
  const kilos = (name: string) => column(name, (i) => (45 + mixed(i, 500, 3) / 10).toFixed(1));
  const height = column('height', (i) => 150 + mixed(i, 50, 9));
  it.each(['weight', 'body_weight', 'Gewicht'])('a column called %s next to a height is a body weight', (name) => {
    expect(policyDraft([height, kilos(name)], { source: 'a.csv' }).text).toContain(`${name}: {type: number`);
  });
  it('a body weight is recognised by its name, too', () => {
    for (const name of ['birth_weight', 'weight_kg'])
      expect(policyDraft([kilos(name)], { source: 'a.csv' }).text).toContain(`${name}: {type: number`);
  });
  it('a survey weight stays a survey weight', () => {
    const survey = (name: string) => column(name, (i) => (0.3 + mixed(i, 3000, 3) / 1000).toFixed(4));
    for (const columns of [[survey('weight')], [height, survey('weight')], [height, kilos('design_weight')]])
      expect(policyDraft(columns, { source: 'a.csv' }).text).toContain('weight: {type: weight');
  });
});
