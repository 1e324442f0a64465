import { describe, expect, it } from 'vitest';
import { policyDraft } from './draft.js';
import { readsLikeFreeText } from './free-text.js';
import { guess, hasDecimalCommas } from './guess.js';
import { keysIn, OwnByKey } from './own-by-key.js';
import { ColumnTally } from './tally.js';

type Cell = string | null;
const column = (name: string, cell: (i: number) => Cell, mark: '.' | ',' = '.', rows = 300) => {
  const tally = new ColumnTally(mark);
  for (let i = 0; i < rows; i++) tally.see(cell(i));
  return tally.summary(name, 'text', rows);
};
const drafted = (...columns: ReturnType<typeof column>[]) => policyDraft(columns, { source: 'a.csv' });
const shuffled = (i: number, n: number) => (i * 7919 + 13) % n;

describe('answers of few people after "other, please specify"', () => {
  const parties = ['CDU', 'SPD', 'FDP', 'Gruene', 'Linke', 'keine'];
  const wrote = ['my son has HIV', 'ich bin Anna Bauer, 0171 33445', 'Chef in Halle 3 stiehlt', 'Anna Bauer', '017133445'];

  it('an answer of few people is no category, and the draft counts them without showing them', () => {
    const { text, unconfirmed } = drafted(column('party', (i) => wrote[i - 100] ?? parties[i % 6]!));
    for (const words of wrote) expect(text).not.toContain(words);
    expect(text).toContain('party: {type: category, values: [CDU, FDP, Gruene, Linke, SPD, keine]}');
    expect(text).toMatch(/# 5 values that only a few rows hold.* not listed/);
    expect(unconfirmed).toEqual(['party']);
  });

  it('a text of up to four rows is no category, with or without surrounding blanks, nor are single words', () => {
    const twice = drafted(column('party', (i) => (i < 4 ? ['my son', ' my son'][i % 2]! : parties[i % 6]!)));
    expect(twice.text).not.toContain('my son');
    expect(twice.text).toContain('# One value');
    const words = drafted(column('party', (i) => ['Krebs', 'Depression'][i] ?? parties[i % 6]!));
    expect(words.text).not.toMatch(/Krebs|Depression/);
    const many = guess(column('party', (i) => (i % 50 === 0 ? 'none of these' : parties[i % 6]!)));
    expect(many).toMatchObject({ type: 'category', values: expect.arrayContaining(['none of these']) as string[] });
    expect(many).not.toHaveProperty('unlisted');
  });

  it('a text of few people is no option of a multi-select column either', () => {
    const media = ['tv;web', 'web;radio', 'radio', 'tv;radio;web', 'tv;paper', 'paper;web', 'paper'];
    const { text } = drafted(column('media', (i) => (i === 7 ? 'tv;web;mein Sohn hat HIV' : media[i % 7]!)));
    expect(text).toContain('media: {type: multi, values: [paper, radio, tv, web], separator: ";"}');
    expect(text).not.toContain('Sohn');
  });

  it('a column that holds little else is left out', () => {
    expect(guess(column('other', (i) => (i === 3 ? 'my son has HIV' : 'no')))).toMatchObject({ is: 'free text' });
  });

  it('such texts are recognised in a list that was drafted without this check', () => {
    expect(readsLikeFreeText([...parties, 'my son has HIV'])).toBe(true);
    expect(readsLikeFreeText([...parties, 'Anna 0171 33445'])).toBe(true);
    expect(readsLikeFreeText([...parties, "don't know", 'no answer'])).toBe(false);
    expect(readsLikeFreeText(['very satisfied', 'rather satisfied', 'not at all satisfied'])).toBe(false);
  });
});

describe('numbers with decimal commas', () => {
  it('numbers with decimal commas have bounds from all of their values, also if few are different', () => {
    const hours = column('hours', (i) => ['7,5', '31,25', '12', '38,5'][i % 4] ?? '', ',');
    expect(guess(column('grade', (i) => `${1 + (i % 20)},5`, ','))).toMatchObject({ type: 'number', bounds: [0, 25] });
    expect(guess(column('grade', (i) => (i % 20 === 0 ? '3' : `${i % 20},5`), ','))).toMatchObject({ bounds: [0, 20] });
    expect(guess(hours)).toMatchObject({ type: 'category', values: ['7,5', '12', '31,25', '38,5'] });
  });

  const size = (mark: '.' | ',') => column('size', (i) => `1,${50 + (i % 49)}`, mark);
  const income = (mark: '.' | ',') => column('income', (i) => `${1 + (i % 9)}.${100 + ((i * 37) % 900)}`, mark);
  it('numbers with decimal commas are recognised next to points between thousands, which are left out', () => {
    expect(hasDecimalCommas([size('.'), income('.')])).toBe(true);
    const { leftOut, text } = drafted(size(','), income(','));
    expect(leftOut.map(({ name }) => name)).toEqual(['income']);
    expect(text).toContain('size: {type: number');
    // A fraction that cannot be thousands shows that points are decimal; columns of possible thousands are left out all the same.
    const rate = column('rate', (i) => `0.${10 + (i % 89)}`);
    expect(hasDecimalCommas([size('.'), income('.'), rate])).toBe(false);
    expect(drafted(size('.'), income('.'), rate).leftOut.map(({ name }) => name)).toEqual(['size', 'income']);
    expect(drafted(income('.'), rate).leftOut).toEqual([]);
    // Three digits after every comma and every point leave both readings open.
    expect(hasDecimalCommas([income('.'), column('cost', (i) => `${1 + (i % 9)},${100 + ((i * 37) % 900)}`)])).toBe(false);
  });
});

it('whole numbers wider than a policy allows are left out, and do not stop the draft', () => {
  const phone = column('mobile', (i) => `${4_915_000_000_000 + ((i * 7919) % 90) * 10_000_000_003}`);
  expect(guess(phone)).toMatchObject({ type: 'out', is: 'person' });
  expect(guess(phone, { wanted: new Set(['mobile']) })).toMatchObject({ type: 'out', is: 'id' });
});

describe('columns that may be keys of groups', () => {
  it('a possible key is no measure, unless its name or round numbers show one, or it is requested', () => {
    const cell = (i: number) => `${7001 + 13 * (shuffled(i, 900) % 271)}`;
    const perhaps = (name: string, of = cell) => column(name, of, '.', 900);
    expect(drafted(perhaps('nummer'))).toMatchObject({ groups: [{ sure: false }], leftOut: [{ name: 'nummer' }] });
    for (const summary of [perhaps('einkommen'), perhaps('q7', (i) => `${cell(i)}0`)])
      expect(guess(summary).type).toBe('integer');
    expect(guess(perhaps('nummer'), { wanted: new Set(['nummer']) }).type).toBe('integer');
  });

  it.each(['Haushalt', 'haushaltsnummer', 'ménage', 'id_menage', 'foyer', 'Klasse', 'klasse_nr'])(
    'a column called %s is a key of groups',
    (name) => {
      expect(guess(column(name, (i) => `${shuffled(i, 300) % 31}`))).toMatchObject({ is: 'group' });
    },
  );
  it.each(['Haushaltsgröße', 'haushaltseinkommen', 'taille_menage', 'déménagement', 'Altersklasse'])(
    'a column called %s is no key of groups',
    (name) => {
      expect(guess(column(name, (i) => `${shuffled(i, 300) % 31}`)).type).toBe('integer');
    },
  );
});

describe('texts of few people, counted by the owners of the rows', () => {
  const jobs = ['nurse', 'teacher', 'clerk', 'cook'];
  const panel = (job: (person: number, i: number) => Cell) => {
    const rows = 1500;
    const columns = [
      column('pid', (i) => `${Math.floor(i / 10) + 1}`, '.', rows),
      column('wave', (i) => `${(i % 10) + 1}`, '.', rows),
      column('job', (i) => job(Math.floor(i / 10), i), '.', rows),
    ];
    const own = new OwnByKey(columns, keysIn(columns, [{ unit: 'pid', maxRows: 10 }]));
    for (let i = 0; i < rows; i++) own.see((name) => (name === 'job' ? job(Math.floor(i / 10), i) : `${Math.floor(i / 10) + 1}`));
    return policyDraft(own.found, { source: 'a.csv' }).text;
  };

  it('a text that one person repeats in every wave is not listed', () => {
    const text = panel((person, i) => (person === 77 ? 'astronaut' : jobs[shuffled(i, 4)]!));
    expect(text).not.toContain('astronaut');
    expect(text).toContain('job: {type: category, values: [clerk, cook, nurse, teacher]}');
    expect(text).toContain('# One value that only a few rows hold');
  });

  it('a text of one person is not listed behind a separator either', () => {
    const text = panel((person, i) => (person === 77 ? 'cook;astronaut' : `${jobs[i % 4]!};${jobs[(i + (i % 3)) % 4]!}`));
    expect(text).not.toContain('astronaut');
    expect(text).toContain('job: {type: multi, values: [clerk, cook, nurse, teacher], separator: ";"}');
  });

  it('a text that five people share is an answer', () => {
    const text = panel((person, i) => (person >= 70 && person < 75 ? 'astronaut' : jobs[shuffled(i, 4)]!));
    expect(text).toContain('astronaut');
  });

  it('a text of one large household in every wave is not listed, whether its key is found or declared', () => {
    const [waves, homes] = [5, 120];
    const people = Array.from({ length: homes }, (_, home) =>
      Array.from({ length: home === 77 ? 7 : 1 + (home % 3) }, () => home),
    ).flat();
    const rows = people.length * waves;
    const cells: Record<string, (i: number) => string> = {
      pid: (i) => `${Math.floor(i / waves) + 1}`,
      home: (i) => `${people[Math.floor(i / waves)]!}`,
      wave: (i) => `${(i % waves) + 1}`,
      job: (i) => (people[Math.floor(i / waves)] === 77 ? 'gambler' : jobs[shuffled(i, 4)]!),
    };
    for (const [key, group] of [['famid'], ['plot', 'plot']]) {
      const named = (name: string) => cells[name === key ? 'home' : name]!;
      const columns = ['pid', key!, 'wave', 'job'].map((name) => column(name, named(name), '.', rows));
      const own = new OwnByKey(columns, keysIn(columns, [{ unit: 'pid', maxRows: waves }], { group }));
      for (let i = 0; i < rows; i++) own.see((name) => named(name)(i));
      const { text } = policyDraft(own.found, { source: 'a.csv' });
      expect(text).not.toContain('gambler');
      expect(text).toContain('job: {type: category, values: [clerk, cook, nurse, teacher]}');
    }
  });

  it('a text of one class is not listed if the steward declares that classes know each other', () => {
    const rows = 40 * 20;
    const cells: Record<string, (i: number) => string> = {
      class: (i) => `${Math.floor(i / 20) + 1}`,
      why: (i) => (Math.floor(i / 20) === 7 ? 'Weber' : jobs[shuffled(i, 4)]!),
    };
    const columns = Object.keys(cells).map((name) => column(name, cells[name]!, '.', rows));
    const textBy = (group?: string) => {
      const own = new OwnByKey(columns, keysIn(columns, [], { group }));
      for (let i = 0; i < rows; i++) own.see((name) => cells[name]!(i));
      return policyDraft(own.found, { source: 'a.csv' }).text;
    };
    expect(textBy()).toContain('Weber');
    expect(textBy('class')).not.toContain('Weber');
  });

  it('a text of few among all rows is not listed, however few answered', () => {
    const answers = ['cutting', 'bullied', 'fine', 'fine', 'cutting', 'bullied', 'lonely', 'lonely'];
    const guessed = guess(column('q3', (i) => (i % 80 === 0 ? answers[(i / 80) % 8]! : null), '.', 1200));
    expect(guessed).toMatchObject({ type: 'out', is: 'free text' });
  });

  it('a sentence that some wrote alike is not listed among answers of one word', () => {
    const clubs = ['Art', 'Chess', 'Football', 'None'];
    const guessed = guess(column('club', (i) => (i % 150 === 0 ? 'my stepfather hits me' : clubs[i % 4]!), '.', 1200));
    expect(guessed).toMatchObject({ type: 'category', values: clubs, unlisted: 1 });
  });
});
