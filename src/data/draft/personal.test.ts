import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { policyDraft } from './draft.js';
import { readsLikeFreeText } from './free-text.js';
import { foundGroups } from './groups.js';
import { guess } from './guess.js';
import { peopleIn, personalKind } from './personal.js';
import { ColumnTally } from './tally.js';

const summary = (name: string, cells: readonly (string | null)[]) => {
  const tally = new ColumnTally();
  for (const cell of cells) tally.see(cell);
  return tally.summary(name, 'text', cells.length);
};
const drafted = (name: string, cells: readonly (string | null)[]) =>
  policyDraft([summary(name, cells)], { source: 'a.csv', dependence: 'none' });

/** Names chosen without looking into first-names.ts: a school class, a football team, a staff list in twenty languages. */
const people =
  `Anna Bauer|Mehmet Yilmaz|Sofia Rossi|Jürgen Schmidt|Zoë de Vries|Łukasz Nowak|Aoife Murphy|Björn Lindqvist|Chinedu Okafor|Priya Sharma|Wei Zhang|Hiroshi Tanaka|Fatima Al-Sayed|Olga Ivanova|
Juan Carlos Pérez|João Silva|Nguyễn Văn Minh|Min-jun Kim|Dimitra Papadopoulou|István Nagy|Tereza Nováková|Ahmed Hassan|Leila Haddad|Kwame Mensah|Aminata Diallo|Thabo Nkosi|Siobhan O'Brien|Svetlana Popova|Marko Horvat|
Elif Kaya|Mohammed Rahman|Deepak Patel|Yuki Sato|Ingrid Hansen|Giulia Bianchi|Camille Dubois|Klaus-Peter Wolf|Rosalind Achebe|Matteo Conti|Aleksandra Wójcik|Omar Farouk|Noor Jansen|Emeka Eze|Lucía Fernández|Piotr Zieliński|
Heikki Virtanen|Ayşe Demir|Rajesh Kumar|Oksana Shevchenko|Samuel Cohen|Yael Levi|Thomas Müller|Sarah Johnson|Michael Brown|Emily Davis|Daniel Martinez|Jessica Lee|Laura Schulz|Tim Becker|Lena Fischer`
    .replaceAll('\n', '')
    .split('|');
const firstNames = people.map((name) => name.split(' ')[0]!);

const digits = (n: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{${n - 1}}$`));
const cellOf = {
  'first names': fc.constantFrom(...firstNames),
  'full names': fc.constantFrom(...people),
  'names, family first': fc.constantFrom(...people).map((name) => `${name.split(' ').slice(1).join(' ')}, ${name.split(' ')[0]}`),
  mail: fc.tuple(fc.constantFrom(...firstNames), fc.constantFrom('example.org', 'mail.example', 'uni.example.de')).map(([a, b]) => `${a.toLowerCase()}@${b}`),
  telephones: fc.tuple(fc.constantFrom('+49 171 ', '0171/', '(555) 123-', '+33 6 12 34 ', '030 - '), digits(7)).map(([a, b]) => a + b),
  'telephones, digits alone': fc.tuple(fc.constantFrom('0171', '0049', '01'), digits(8)).map(([a, b]) => a + b),
  'local telephones': digits(4).map((d) => `555-${d}`),
  accounts: fc.tuple(digits(2), digits(18)).map(([a, b]) => `DE${a} ${b.replace(/(.{4})/g, '$1 ').trim()}`),
  'postcodes with noughts': digits(4).map((d) => `0${d}`),
  'postcodes, British': fc.tuple(fc.constantFrom('SW1A', 'M1', 'EC2V', 'OX4'), fc.integer({ min: 1, max: 9 }), fc.constantFrom('AA', 'BD', 'XY')).map(([a, n, b]) => `${a} ${n}${b}`),
  streets: fc.tuple(fc.constantFrom('Hauptstraße', 'Am Alten Weg', 'Kirchgasse', 'Lindenallee', 'Rue de la Paix', 'Via Roma', 'Calle Mayor'), fc.integer({ min: 1, max: 99 })).map(([s, n]) => `${s} ${n}`),
  'streets, number first': fc.tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom('Main Street', 'High St.', 'Oak Avenue', 'Park Road')).map(([n, s]) => `${n} ${s}`),
  coordinates: fc.tuple(fc.integer({ min: 47000, max: 54999 }), fc.integer({ min: 6000, max: 14999 })).map(([a, b]) => `${a / 1000}01, ${b / 1000}01`),
  dates: fc.date({ min: new Date('1930-01-01'), max: new Date('2020-01-01'), noInvalidDate: true }).map((d) => d.toISOString().slice(0, 10)),
  'dates with a month': fc.tuple(fc.integer({ min: 1, max: 28 }), fc.constantFrom('March', 'Mai', 'octobre', 'Dez.'), fc.integer({ min: 1930, max: 2019 })).map(([d, m, y]) => `${d}. ${m} ${y}`),
  'dates as digits': fc.tuple(fc.integer({ min: 1930, max: 2019 }), fc.integer({ min: 10, max: 12 }), fc.integer({ min: 10, max: 28 })).map(([y, m, d]) => `${y}${m}${d}`),
  pseudonyms: fc.tuple(fc.constantFrom('P', 'ID', 'PAT-'), digits(5)).map(([a, b]) => a + b),
} satisfies Record<string, fc.Arbitrary<string>>; // biome-ignore format: one line

describe('a column that identifies people or places', () => {
  const runs = Number(process.env.FUGU_COLUMNS ?? 15);
  it.each(Object.entries(cellOf))('a column of %s is neither a list of answers nor a measure', (_, cell) => {
    fc.assert(
      fc.property(
        // Of few or many people, once each or in every wave of a panel, among cells that are empty or say "none".
        fc.uniqueArray(cell, { minLength: 3, maxLength: 70 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 3 }),
        fc.constantFrom('q7', 'feld', 'x'),
        (texts, each, blanks, name) => {
          const rows = texts.flatMap((text) => Array.from({ length: each }, () => text));
          const cells = rows.flatMap((text) => [text, ...Array.from({ length: blanks }, (_, k) => (k === 0 ? null : 'none'))]);
          const { text } = drafted(name, cells);
          for (const entry of texts) expect(text).not.toContain(entry);
          expect(text).not.toMatch(new RegExp(`^ {2}${name}: \\{type: (integer|number)`, 'm'));
        },
      ),
      { numRuns: runs },
    );
  });

  it('identifiers are recognised by their prefix letters', () => {
    expect(peopleIn(['Łukasz Nowak', 'İbrahim Kaya'])).toBe(2);
  });

  it('identifiers are also recognised in a list that somebody else drafted', () => {
    for (const [kind, cell] of Object.entries(cellOf)) {
      const texts = [...new Set(fc.sample(cell, { seed: 7, numRuns: 60 }))];
      if (texts.every((text) => /^\d+$/.test(text))) continue;
      expect([kind, readsLikeFreeText(texts)]).toEqual([kind, true]);
    }
  });

  it('latitudes and longitudes are recognised as a pair of columns', () => {
    const column = (name: string, cell: (i: number) => number) =>
      summary(
        name,
        Array.from({ length: 300 }, (_, i) => cell(i).toFixed(5)),
      );
    const [a, b] = [
      column('v1', (i) => 47 + ((i * 7919) % 8000) / 1000.7),
      column('v2', (i) => 6 + ((i * 104729) % 9000) / 1000.3),
    ];
    expect(policyDraft([a, b], { source: 'a.csv' }).leftOut.map(({ name }) => name)).toEqual(['v1', 'v2']);
    // Scores lie around zero.
    const [c, d] = [column('f1', (i) => Math.sin(i) * 2.7), column('f2', (i) => Math.cos(i) * 2.3)];
    expect(policyDraft([c, d], { source: 'a.csv' }).declared).toBe(2);
  });
});

describe('a word that few rows hold', () => {
  const parties = ['CDU', 'SPD', 'FDP', 'Gruene', 'Linke'];
  const column = (word: string, times: number) => Array.from({ length: 300 }, (_, i) => (i < times ? word : parties[i % 5]!));
  it.each(['Krebs', 'HIV', 'AIDS', 'ANNA', 'Schizophrenie', 'geheim', '東京', 'F20.0'])(
    'the rare word %s is not listed',
    (word) => {
      for (const times of [1, 2, 4]) expect(drafted('q', column(word, times)).text).not.toContain(word);
      expect(drafted('q', column('Volt', 9)).text).toContain('Volt');
    },
  );

  it('a text that identifies a person is not listed, even if more rows hold it', () => {
    for (const entry of ['0171/3344556', 'anna@example.org', 'DE89 3704 0044 0532 0130 00', '12.03.1984', 'Hauptstraße 5'])
      expect([entry, drafted('q', column(entry, 9)).text.includes(entry)]).toEqual([entry, false]);
  });

  it('a rare word is listed if questionnaires offer it everywhere', () => {
    for (const word of ['yes', 'Other', 'very satisfied', 'nein', '18-24', '65+', 'under 5 years', 'XX'])
      expect(drafted('q', column(word, 1)).text).toContain(word);
  });
});

describe('answers that resemble identifiers', () => {
  it.each([
    ['bins', ['0-99', '100-499', '500-999', '1000-4999', '5000-9999', '10000-49999']],
    ['years', Array.from({ length: 70 }, (_, i) => `${1940 + i}`)],
    ['amounts', ['1.000', '2.000', '10.000', '1.000.000']],
    ['places', ['Berlin', 'Hamburg', 'München', 'Köln', 'Paris', 'Victoria', 'Florence', 'Charlotte', 'Austin']],
    ['countries', ['Germany', 'France', 'Georgia', 'Jordan', 'Chad', 'Spain', 'Italy', 'Poland', 'Israel']],
    ['months', ['January', 'April', 'May', 'June', 'August', 'December']],
    ['religions', ['Catholic', 'Protestant', 'Christian', 'Muslim', 'Jewish', 'none']],
    ['distances', ['less than 10 minutes drive', '10 to 20 minutes drive', 'more than 20 minutes drive']],
    ['steps of a scale', ['Level 1', 'Level 2', 'Level 3', 'Grade 10', 'Grade 11']],
  ])('%s stay answers', (_, values) => {
    const { declared } = drafted(
      'q',
      Array.from({ length: 100 * values.length }, (_, i) => values[i % values.length]!),
    );
    expect(declared).toBe(1);
  });

  it('candidates of an election are left out as names, and are answers when the column is requested', () => {
    const vote = summary(
      'vote',
      Array.from({ length: 900 }, (_, i) => ['Joe Biden', 'Donald Trump', 'nobody'][i % 3]!),
    );
    expect(policyDraft([vote], { source: 'a.csv' }).leftOut).toEqual([{ name: 'vote', why: 'names of people' }]);
    expect(policyDraft([vote], { source: 'a.csv', known: { wanted: new Set(['vote']) } }).declared).toBe(1);
  });

  it.each(['2024-01', '3.5', 'A1', 'B12', 'DE', 'very good', '1,5', '10 %', 'v2.1', 'Q3 2024'])(
    'the text "%s" identifies nobody',
    (text) => {
      expect(personalKind(text)).toBeUndefined();
    },
  );
});

describe('labels that were made from free text', () => {
  const values = Array.from({ length: 60 }, (_, i) => `${i + 1}`);
  const book = (label: (i: number) => string) =>
    new Map([['q', { values, labels: new Map(values.map((code, i) => [code, label(i)] as const)), missing: [] }]]);
  const draft = (label: (i: number) => string, cell: (i: number) => string) =>
    policyDraft(
      [
        summary(
          'q',
          Array.from({ length: 120 }, (_, i) => cell(i)),
        ),
      ],
      {
        source: 'a.sav',
        codebook: book(label),
        codebookPath: 'a.sav',
      },
    );
  it('labels made from free text are no answers, and the file is then no codebook of the policy', () => {
    const open = draft((i) => `what number ${i} said`, (i) => `${i < 60 ? i + 1 : 1}`); // biome-ignore format: one line
    expect(open.leftOut).toMatchObject([{ name: 'q' }]);
    expect(open.text).not.toMatch(/codebook:|said/);
    const named = draft((i) => people[i % people.length]!, (i) => `${1 + (i % 60)}`); // biome-ignore format: one line
    expect(named.leftOut).toMatchObject([{ name: 'q' }]);
    const closed = draft((i) => `occupation ${i}`, (i) => `${1 + (i % 60)}`); // biome-ignore format: one line
    expect([closed.leftOut, closed.declared]).toEqual([[], 1]);
  });
});

describe('a column that only its label describes', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const surname = (i: number) => `Br${letters[i % 20]}nov`;
  const summary = (name: string, stored: 'text' | 'real', cell: (i: number) => string | number) => {
    const tally = new ColumnTally();
    for (let i = 0; i < 1000; i++) tally.see(cell(i));
    return tally.summary(name, stored, 1000);
  };
  const drafted = (label: string, stored: 'text' | 'real', cell: (i: number) => string | number) =>
    policyDraft([summary('v2', stored, cell)], {
      source: 'a.sav',
      codebook: new Map([['v2', { label, values: [], labels: new Map(), missing: [] }]]),
    }).text;

  it('the label keeps names, keys of groups and interviewers out', () => {
    const text = drafted("Respondent's surname", 'text', (i) => surname(i));
    expect(text).toContain('v2 (says who or where somebody is)');
    expect(text).not.toContain('Bran');
    expect(drafted('Class number', 'real', (i) => (i * 7) % 40)).toContain('v2 (names a group of rows)');
    expect(drafted('Interviewer ID', 'real', (i) => i % 5)).toContain('v2 (how the sample was drawn)');
  });

  it('the label makes a number a survey weight, but not a question or a body weight', () => {
    const weight = (i: number) => 0.2 + ((i * 37) % 391) / 100;
    expect(drafted('Design weight', 'real', weight)).toContain('v2: {type: weight');
    expect(drafted('Weight in kg', 'real', (i) => 40 + weight(i))).toContain('v2: {type: number');
    expect(drafted('Number of persons in household', 'real', (i) => (i * 7) % 40)).toContain('v2: {type: integer');
    expect(drafted('What is your surname?', 'real', (i) => (i * 7) % 40)).toContain('v2: {type: integer');
  });
});

describe('places and names of people', () => {
  const summary = (name: string, cell: (i: number) => string) => {
    const tally = new ColumnTally();
    for (let i = 0; i < 600; i++) tally.see(cell(i));
    return tally.summary(name, 'text', 600);
  };
  it('coordinates are recognised in columns called x and y, wherever they are', () => {
    const near = (to: number, by: number) => (i: number) => (to + ((i * by) % 9973) / 30000).toFixed(5);
    const { text } = policyDraft(
      [summary('y', near(48, 37)), summary('speed', (i) => `${(i * 7) % 90}.5`), summary('x', near(11, 53))],
      { source: 'a.csv' },
    );
    expect(text).toContain('y (where somebody is), x (where somebody is)');
    expect(text).toContain('speed: {type: number');
  });

  it('names of people are recognised by a title or an initial', () => {
    const doctors = ['Dr. Okafor', 'Dr. Lindqvist', 'Dr. Nakamura', 'Dr. Popescu'];
    expect(guess(summary('doctor', (i) => doctors[i % 4]!))).toMatchObject({ is: 'person' });
    const people = ['Meyer, A.', 'Schulz, B.', 'Kowalski, C.', 'Nguyen, D.-E.'];
    expect(guess(summary('who', (i) => people[i % 4]!))).toMatchObject({ is: 'person' });
  });

  it('an income column without equal values is no personal number', () => {
    expect(guess(summary('inc', (i) => `${900 + i * 37}`))).toMatchObject({ type: 'integer' });
    expect(guess(summary('nummer', (i) => `${900 + i * 37}`))).toMatchObject({ is: 'id' });
  });
});

describe('repetition of keys and answers', () => {
  const whole = (cell: (i: number) => number) => {
    const tally = new ColumnTally();
    for (let i = 0; i < 600; i++) tally.see(cell(i));
    return foundGroups(tally.summary('v1', 'integer', 600));
  };

  it('numbers in adjacent runs are a key, and numbers that use most of their range are not', () => {
    expect(whole((i) => 1000 + Math.floor(i / 2) * 37)).toMatchObject({ sure: true });
    const spaced = whole((i) => Math.floor((((i * 7) % 150) * 4) / 3));
    expect(spaced).toMatchObject({ sure: false });
  });

  it('a column in which one cell in ten is a telephone number is left out', () => {
    const cells = Array.from({ length: 600 }, (_, i) => (i % 10 === 0 ? `+49 171 334455${i % 7}` : ['no', 'later'][i % 2]!));
    expect(guess(summary('contact', cells))).toMatchObject({ is: 'person' });
  });
});
