import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicData } from '../../../experiments/data.js';
import { runCommand } from '../../../test/command.js';
import { openNow } from '../../../test/now.js';
import { registerOf } from '../../../test/register-of.js';
import { workbookOf } from '../../../test/statfile/zip.js';
import { Fault } from '../../base/errors.js';
import { toNumber } from '../../base/exact/rational.js';
import { explainPolicy } from '../../data/terms/explain.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import { confirmPolicy, unconfirmedColumns } from '../api/confirm.js';
import { draftPolicy } from '../api/draft.js';
import { confirmTable, registerConfirmCommand as registerConfirm } from './confirm.js';
import { registerInitCommand } from './init.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-init-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
const path = (name: string) => join(folder, name);
async function init(csv: string, codebook?: string) {
  const data = path(`data-${++made}.csv`);
  writeFileSync(data, csv);
  const out = path(`policy-${made}.yaml`);
  const book = path(`book-${made}.csv`);
  if (codebook !== undefined) writeFileSync(book, codebook);
  const draft = await draftPolicy(data, { out, ...(codebook !== undefined && { codebook: book }) });
  return { draft, out, policy: await readPolicy(out) };
}
const lines = (n: number, row: (i: number) => string) => `${Array.from({ length: n }, (_, i) => row(i)).join('\n')}\n`;

describe('fugu init', () => {
  const people = `respondent_id,household_id,age,party,media,score,wt,started,remark,constant,empty
${lines(
  400,
  (i) =>
    `R${i},${i >> 1},${i % 97 === 0 ? -9 : 18 + (i % 73)},${['dem', 'rep', 'NA'][i % 3]},${['tv', 'tv;web', 'web;paper', 'paper'][i % 4]},${(i * 7919) % 1000}.5,${0.5 + (i % 40) / 10},2024-01-${10 + (i % 20)} 10:${10 + (i % 50)}:00,"said ${i} things, ""oh""",1,`,
)}`;

  it('fugu init drafts further files as comments, which take effect once a person has stated their roles', async () => {
    const write = (name: string, text: string) => {
      writeFileSync(path(name), text);
      return path(name);
    };
    const data = write('persons.csv', `person,region,age\n${lines(300, (i) => `${i},${i % 2 ? 'n' : 's'},${20 + (i % 60)}`)}`);
    const visits = write(
      'visits.csv',
      `person,clinic,kind,cost\n${lines(900, (i) => `${i % 300},c${i % 40},${i % 3 ? 'er' : 'gp'},${(i * i) % 97}`)}`,
    );
    const clinics = write('clinics.csv', `clinic,size\n${lines(40, (i) => `c${i},${i % 2 ? 'small' : 'large'}`)}`);
    const out = path('beside.yaml');
    const output = await runCommand(registerInitCommand, 'init', data, visits, clinics, '--out', out, '--dependence', 'none');
    expect(output).toContain('visits (rows of persons that person names?), clinics (known to everybody, found by clinic?)');
    // The drafted comments have no effect, whatever the files hold.
    const { tables, protect } = await readPolicy(out);
    expect([tables?.size ?? 0, protect.secret]).toEqual([0, 'row']);
    const text = readFileSync(out, 'utf8');
    const block = text.slice(text.indexOf('# tables:')).split('\n\n')[0]!;
    const withMaxRows = (maxRows: string) => {
      const own = block.replaceAll(/^# /gm, '').replace('maxRows: N', `maxRows: ${maxRows}`);
      return text.replace('protect: {secret: row}', 'protect: {secret: person, unit: person, maxRows: 1}').replace(block, own);
    };
    writeFileSync(out, withMaxRows('N'));
    await expect(readPolicy(out)).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    writeFileSync(out, withMaxRows('5'));
    const policy = await readPolicy(out);
    expect(policy.tables!.get('visits')).toMatchObject({ unit: 'person', maxRows: 5, links: ['clinic'], public: false });
    expect([...policy.tables!.get('visits')!.columns.keys()]).toEqual(['kind', 'cost']);
    expect(policy.tables!.get('clinics')).toMatchObject({ key: ['clinic'], public: true });
  });

  it('fugu init guesses the type of each column, and leaves out names of people and free text', async () => {
    const { policy, draft } = await init(people);
    const types = Object.fromEntries([...policy.columns].map(([name, c]) => [name, c.type]));
    expect(types).toEqual({
      age: 'integer',
      party: 'category',
      media: 'multi',
      score: 'number',
      wt: 'weight',
      started: 'integer',
    } satisfies Record<string, string>);
    expect(draft.leftOut.map((o) => o.name)).toEqual(['respondent_id', 'household_id', 'remark', 'constant', 'empty']);
    expect(policy.columns.get('party')).toMatchObject({ values: ['dem', 'rep'], missing: ['NA'] });
    expect(policy.columns.get('media')).toMatchObject({ values: ['paper', 'tv', 'web'], separator: ';' });
    expect(policy.columns.get('started')).toMatchObject({ date: true });
    const age = policy.columns.get('age');
    expect(age && 'bounds' in age && age.bounds.map(toNumber)).toEqual([15, 90]);
    expect(age?.missing).toEqual(['-9']);
  });

  it('fugu init marks everything read from the data as unconfirmed, in a commented policy that opens', async () => {
    const { policy, out } = await init(people);
    expect(policy.unconfirmed).toEqual([...policy.columns.keys()]);
    const text = readFileSync(out, 'utf8');
    expect(text).toMatch(/# .*household_id, oddsRatio: inf/);
    expect(text).toMatch(/Left out/);
    expect(explainPolicy(policy).join('\n')).toMatch(/Nothing is released before/);
    await (await openEngine(policy)).close();
  });

  it('fugu init takes over the facts of the codebook and requires no confirmation of them', async () => {
    const { policy, draft } = await init(
      `party,age,city\n${lines(200, (i) => `${(i % 2) + 1},${20 + (i % 60)},${['a', 'b'][i % 2]}`)}`,
      'name,value,label,missing\nparty,1,Dem,\nparty,2,Rep,\nparty,-9,Refused,1\nage,,Age in years,\nage,99,Not said,1\n',
    );
    expect(policy.data.codebook).toBeDefined();
    expect(draft.unconfirmed).toEqual(['age', 'city']);
    expect(policy.columns.get('party')).toMatchObject({ values: ['1', '2'], missing: ['-9'] });
    expect(policy.columns.get('age')).toMatchObject({ type: 'integer', missing: ['99'], label: 'Age in years' });
  });

  it('fugu init writes out a codebook that describes columns the data lacks', async () => {
    const { policy } = await init(
      `party\n${lines(50, (i) => `${(i % 2) + 1}`)}`,
      'name,value,label\nparty,1,"Dem: old"\nparty,2,Rep\nother,1,x\n',
    );
    expect(policy.data.codebook).toBeUndefined();
    const party = policy.columns.get('party');
    expect(party?.type === 'category' && [...party.labels]).toEqual([
      ['1', 'Dem: old'],
      ['2', 'Rep'],
    ]);
    await (await openEngine(policy)).close();
  });

  it('fugu init refuses to overwrite a policy, and refuses data without a header without quoting it', async () => {
    const { out } = await init('a,b\n1,x\n2,y\n');
    const before = readFileSync(out, 'utf8');
    await expect(draftPolicy(path('data-1.csv'), { out })).rejects.toMatchObject({ code: 'USAGE' });
    expect(readFileSync(out, 'utf8')).toBe(before);
    writeFileSync(path('nameless.csv'), '39,secret,77516\n40,other,1\n');
    const fault = await draftPolicy(path('nameless.csv'), { out: path('nameless.yaml') }).catch((e: unknown) => e);
    expect(fault).toBeInstanceOf(Fault);
    expect((fault as Fault).code).toBe('DATA_MALFORMED');
    expect(JSON.stringify(fault)).not.toMatch(/77516|secret"/);
    expect(existsSync(path('nameless.yaml'))).toBe(false);
  });

  it('fugu init handles names and codes that YAML would misread', async () => {
    const { policy } = await init(
      `"true","a: b","#x",yes,"it's"\n${lines(60, (i) => `${i % 2},"c: ${i % 3}",${['no', 'on', '~'][i % 3]},"[${i % 2}]",'q${i % 2}'`)}`,
    );
    expect([...policy.columns.keys()]).toEqual(['true', 'a: b', '#x', 'yes', "it's"]);
    expect(policy.columns.get('#x')).toMatchObject({ values: ['no', 'on', '~'] });
    await (await openEngine(policy)).close();
  });
});

describe('fugu confirm', () => {
  const wide = (columns: number) =>
    `${Array.from({ length: columns }, (_, c) => `q${c}`).join(',')}\n${lines(40, (i) => Array.from({ length: columns }, (_, c) => (i + c) % 5).join(','))}`;

  it('fugu confirm shows the bounds of a date as days', async () => {
    const { policy } = await init(`seen,n\n${lines(60, (i) => `2024-0${1 + (i % 9)}-1${i % 7},${i % 5}`)}`);
    expect(policy.columns.get('seen')).toMatchObject({ date: true });
    expect(confirmTable(await unconfirmedColumns(policy.file))).toMatch(/seen +date +2024-01-01 to 2024-12-31/);
  });

  it('fugu confirm accepts 150 columns in one go and changes nothing else in the file', async () => {
    const { policy, out } = await init(wide(150));
    expect(policy.unconfirmed).toHaveLength(150);
    expect(confirmTable(await unconfirmedColumns(policy.file)).split('\n')).toHaveLength(152);
    const before = readFileSync(out, 'utf8');
    expect((await confirmPolicy(policy.file, { columns: 'all' })).unconfirmed).toEqual([]);
    const after = readFileSync(out, 'utf8');
    expect(before.startsWith(after)).toBe(true);
    expect(after).not.toMatch(/unconfirmed/);
    expect((await readPolicy(out)).columns.size).toBe(150);
  });

  it('fugu confirm reports the dependence that it wrote, and nothing else if nothing else was to do', async () => {
    const { out, policy } = await init(wide(3));
    await confirmPolicy(policy.file, { columns: 'all' });
    const output = await runCommand(registerConfirm, 'confirm', out, '--groups', 'q1');
    expect(output).toContain('dependence: [{kind: groups, by: q1, oddsRatio: inf}]');
    expect(output).not.toMatch(/already|undecided/);
    expect((await readPolicy(out)).undecided).toBeUndefined();
  });

  it('fugu confirm accepts some columns and leaves the rest unconfirmed', async () => {
    const { policy, out } = await init(wide(30));
    expect((await confirmPolicy(policy.file, { columns: ['q3', 'q29'] })).unconfirmed).toHaveLength(28);
    expect((await readPolicy(out)).unconfirmed).not.toContain('q3');
  });

  it('fugu confirm keeps comments and layout of a handwritten list', async () => {
    writeFileSync(path('hand.csv'), 'a,b,c\n1,2,3\n');
    const text = `# top
data: {source: hand.csv}   # here
unconfirmed:
  - a   # first
  - b
  - c   # last
protect: {   secret: row }
budget: {epsilon: 1}
columns: {a: {type: category, values: [1]}, b: {type: category, values: [2]}, c: {type: category, values: [3]}}
dependence: none # end
`;
    writeFileSync(path('hand.yaml'), text);
    await confirmPolicy(path('hand.yaml'), { columns: ['b'] });
    expect(readFileSync(path('hand.yaml'), 'utf8')).toBe(text.replace('  - b\n', ''));
    await confirmPolicy(path('hand.yaml'), { columns: ['a', 'c'] });
    expect(readFileSync(path('hand.yaml'), 'utf8')).toBe(text.replace(/unconfirmed:\n( .*\n){3}/, ''));
  });
});

describe('opening the data of a policy', () => {
  const head = 'protect: {secret: row}\nbudget: {epsilon: 1}\n';
  it.each([
    ['unit', 'protect: {secret: person, unit: respondnt, maxRows: 2}\nbudget: {epsilon: 1}\ndependence: none', 2],
    ['group', `${head}dependence: [{kind: groups, by: housold}]`, 4],
    ['declared', `${head}columns:\n  respondnt: {type: category, values: [1]}\ndependence: none`, 5],
  ])('the engine refuses an unknown %s column and shows the line that names it', async (role, rest, line) => {
    writeFileSync(path('known.csv'), 'respondent,household\n1,2\n');
    writeFileSync(path('known.yaml'), `data: {source: known.csv}\n${rest}\n`);
    const policy = await readPolicy(path('known.yaml'));
    const fault = (await openEngine(policy).catch((e: unknown) => e)) as Fault;
    expect(fault.code).toBe('COLUMN_UNKNOWN');
    expect(fault.message).toContain(role);
    expect(fault.place?.line).toBe(line);
    expect(fault.hint).toMatch(/"respondent"|"household"/);
  });
});

const data = publicData('', 'surveys/');
describe.skipIf(!data)('surveys from other publishers', () => {
  it.each(['adult/adult.parquet', 'surveys/gss_sub.parquet', 'anes/anes_pilot_2020ets_csv.csv.gz'])(
    'fugu init drafts %s into a policy that opens',
    async (name) => {
      const out = path(`${name.replaceAll('/', '-')}.yaml`);
      const draft = await draftPolicy(fileURLToPath(new URL(name, data)), { out });
      const policy = await readPolicy(out);
      expect(draft.declared).toBeGreaterThan(10);
      expect((await confirmPolicy(policy.file, { columns: 'all' })).unconfirmed).toEqual([]);
      const engine = await openNow(await readPolicy(out));
      expect((await engine.size()).open()).toBeGreaterThan(3000);
      await engine.close();
    },
    30_000,
  );
});

describe('the command line', () => {
  it('the commands init, confirm and check exist, each with --json', async () => {
    const program = new Command();
    for (const name of ['init', 'confirm', 'check']) (await registerOf(name))(program);
    expect(program.commands.map((c) => c.name())).toEqual(['init', 'confirm', 'check']);
    expect(program.commands.every((c) => c.options.some((o) => o.long === '--json'))).toBe(true);
  });
});

describe('files written by spreadsheets', () => {
  it('a line "sep=;" above the names is read as the separator, whatever the line ends', async () => {
    for (const end of ['\n', '\r\n']) {
      const { policy } = await init(
        ['sep=;', 'party;age', ...Array.from({ length: 60 }, (_, i) => `${'ab'[i % 2]};${20 + (i % 30)}`), ''].join(end),
      );
      expect([...policy.columns.keys()]).toEqual(['party', 'age']);
      const engine = await openNow(policy);
      expect((await engine.size()).open()).toBe(60);
      await engine.close();
    }
  });
});

describe('fugu init with a panel', () => {
  const panel = () => {
    const data = path(`panel-${++made}.csv`);
    writeFileSync(data, `pid,wave,q\n${lines(600, (i) => `${1000 + 7 * (i % 150)},${1 + Math.floor(i / 150)},${'abc'[i % 3]}`)}`);
    return { data, out: path(`panel-${made}.yaml`) };
  };
  const run = async (...words: string[]) => {
    const { data, out } = panel();
    const output = await runCommand(registerInitCommand, 'init', data, '--out', out, '--yes', ...words);
    return { said: output, protect: (await readPolicy(out)).protect };
  };

  it('fugu init protects a panel by person, and names the options for other privacy units', async () => {
    const { said: output, protect } = await run();
    expect(protect).toMatchObject({ secret: 'person', unit: 'pid', maxRows: 4 });
    expect(output).toMatch(
      /There is a row for each wave of one pid: they are protected together \(secret: person\), and at most 4 of them count/,
    );
    expect(output).toMatch(/--secret row.*--unit pid --max-rows N/);
    const rows = await run('--secret', 'row');
    expect(rows.protect).toMatchObject({ secret: 'row' });
    expect(rows.said).toMatch(/each row is a secret of its own, as you said/i);
    expect((await run('--unit', 'pid', '--max-rows', '2')).protect).toMatchObject({ maxRows: 2 });
    expect(JSON.parse((await run('--json')).said).protect).toEqual({ secret: 'person', said: false, unit: 'pid', order: 'wave', maxRows: 4 }); // biome-ignore format: one line
  });

  it.each([
    [['--secret', 'person'], /--secret is row/],
    [['--secret', 'row', '--unit', 'pid'], /--secret is row, and goes without --unit/],
    [['--max-rows', '3'], /--max-rows goes with --unit/],
    [['--unit', 'pit'], /no column "pit"/],
  ])('fugu init refuses %j for a panel', async (words, message) => {
    await expect(run(...words)).rejects.toThrow(message);
  });
});

describe('possible misreadings of a draft', () => {
  const folderOf = (name: string) => join(fileURLToPath(new URL('../../../test/statfile/corpus/', import.meta.url)), name);
  const cell = (place: string, words: string) => `<c r="${place}" t="inlineStr"><is><t>${words}</t></is></c>`;
  const book = (...rows: string[]) => bookWith('', rows);
  const bookWith = (more: string, rows: readonly string[]) => {
    const at = path(`book-${++made}.xlsx`);
    const sheet = `<worksheet><sheetData>${rows.map((r) => `<row>${r}</row>`).join('')}</sheetData>${more}</worksheet>`;
    writeFileSync(at, workbookOf(sheet));
    return at;
  };
  const drafted = (data: string) => draftPolicy(data, { out: path(`doubt-${++made}.yaml`) });

  it('a draft mentions further sheets, unless one was named', async () => {
    const { doubts } = await drafted(folderOf('book.xlsx'));
    expect(doubts.join()).toContain('There is also More & more: --table names one.');
    const named = await draftPolicy(folderOf('book.xlsx'), { out: path(`doubt-${++made}.yaml`), table: 'Answers' });
    expect(named.doubts).toEqual([]);
  });

  it('a draft warns of a title above the column names, but not of a stray cell', async () => {
    const row = (k: number) => `${cell(`A${k}`, `a${k % 3}`)}${cell(`B${k}`, `b${k % 2}`)}`;
    const titled = await drafted(book(cell('A1', 'Satisfaction in 2024'), ...Array.from({ length: 30 }, (_, k) => row(k + 2))));
    expect(titled.doubts.join()).toMatch(/Most rows of the sheet go on beyond the first one/);
    const plain = Array.from({ length: 30 }, (_, k) => row(k + 2));
    expect((await drafted(book(row(1), ...plain, `${row(32)}${cell('C32', 'stray')}`))).doubts).toEqual([]);
  });

  it('a draft is refused where column names are merged, over two rows or below a title, with instructions', async () => {
    const row = (k: number) => `${cell(`A${k}`, `a${k % 3}`)}${cell(`B${k}`, `b${k % 2}`)}`;
    const records = Array.from({ length: 30 }, (_, k) => row(k + 3));
    const merged = (area: string, ...rows: string[]) =>
      drafted(bookWith(`<mergeCells count="1"><mergeCell ref="${area}"/></mergeCells>`, rows));
    const two = merged('A1:B1', cell('A1', 'Media'), `${cell('A2', 'tv')}${cell('B2', 'web')}`, ...records);
    await expect(two).rejects.toMatchObject({
      code: 'DATA_MALFORMED',
      message: expect.stringMatching(/merged cells/),
      hint: expect.stringMatching(/Unmerge them, write one name above each column/),
    });
    await expect(merged('A1:A2', `${cell('A1', 'q')}${cell('B1', 'r')}`, ...records)).rejects.toMatchObject({
      code: 'DATA_MALFORMED',
    });
    expect((await merged('A9:B9', row(1), ...records)).declared).toBe(2);
  });

  it('a draft warns of letters that are no UTF-8: which encoding was assumed, or that letters were lost', async () => {
    const text = `größe,party\n${lines(300, (i) => `${20 + (i % 50)},${['Grüne', 'SPD', 'Žižka –'][i % 3]}`)}`;
    const written = (bytes: Buffer) => {
      const data = path(`latin-${++made}.csv`);
      writeFileSync(data, bytes);
      return data;
    };
    const windows = Buffer.from(text.replaceAll('Ž', '\x8e').replaceAll('ž', '\x9e').replaceAll('–', '\x96'), 'latin1');
    const draft = await drafted(written(windows));
    expect(draft.doubts.join()).toMatch(/not written in UTF-8. It was read as windows-1252, and the policy says so/);
    expect(readFileSync(draft.policy, 'utf8')).toMatch(/data: \{source: .*, encoding: windows-1252\}/);
    expect(readFileSync(draft.policy, 'utf8')).toContain('party: {type: category, values: ["Grüne", SPD, "Žižka –"]}');
    expect((await init(text)).draft.doubts).toEqual([]);
    // A stated encoding leaves no doubt; an unknown name is refused.
    const output = await draftPolicy(written(windows), { out: path(`said-${made}.yaml`), encoding: 'cp1252' });
    expect(output.doubts).toEqual([]);
    expect(readFileSync(output.policy, 'utf8')).toContain('encoding: cp1252');
    const lost = await draftPolicy(written(windows.subarray(windows.indexOf(0x0a) + 1)), {
      out: path(`lost-${made}.yaml`),
      encoding: 'utf-8',
    }).catch((fault: Error) => fault.message);
    expect(lost).toMatch(/not written in UTF-8|does not look like names/);
    await expect(draftPolicy(written(windows), { out: path('no.yaml'), encoding: 'klingon' })).rejects.toMatchObject({
      code: 'USAGE',
    });
  });

  it('a draft suggests encodings of other alphabets if no word has a letter from A to Z', async () => {
    // "Пол;Партия" and two parties in windows-1251.
    const bytes = (line: string) => Buffer.from(line, 'latin1');
    const [head, one, two] = ['\xcf\xee\xeb;\xcf\xe0\xf0\xf2\xe8\xff\n', '1;\xdf\xe1\xeb\xee\xea\xee\n', '2;\xcb\xc4\xcf\xd0\n'];
    const data = path(`cyrillic-${++made}.csv`);
    writeFileSync(data, bytes(head + one.repeat(40) + two.repeat(40)));
    const { doubts } = await draftPolicy(data, { out: path(`cyrillic-${made}.yaml`) });
    expect(doubts.join()).toContain('--encoding windows-1251 (Cyrillic), windows-1253 (Greek)');
    const output = await draftPolicy(data, { out: path(`cyrillic-said-${made}.yaml`), encoding: 'windows-1251' });
    expect(readFileSync(output.policy, 'utf8')).toContain('"Партия": {type: category, values: ["ЛДПР", "Яблоко"]}');
    expect(output.doubts).toEqual([]);
  });

  it('a draft warns of question texts below the column names', async () => {
    const draft = (second: string) => {
      const data = path(`second-${++made}.csv`);
      writeFileSync(data, `age,trust,sex\n${second}${lines(200, (i) => `${20 + (i % 50)},${1 + (i % 5)},${'mf'[i % 2]!}`)}`);
      return draftPolicy(data, { out: path(`second-${made}.yaml`) });
    };
    expect((await draft('How old are you?,Trust from 1 to 5,Sex\n')).doubts.join()).toMatch(
      /^2 columns hold numbers but for one row or two/,
    );
    expect((await draft('')).doubts).toEqual([]);
    expect((await draft('old,3,m\n')).doubts).toEqual([]);
  });

  it('a draft refuses an order of answers for a missing column', async () => {
    const data = path(`order-${++made}.csv`);
    writeFileSync(data, `party,age\n${lines(200, (i) => `${'abc'[i % 3]!},${20 + (i % 50)}`)}`);
    await expect(draftPolicy(data, { out: path(`order-${made}.yaml`), order: { partie: ['c', 'a'] } })).rejects.toMatchObject({
      code: 'COLUMN_UNKNOWN',
    });
  });

  it('fugu init names the written policy file in the next commands', async () => {
    const data = path(`next-${++made}.csv`);
    writeFileSync(data, `age,lat_score\n${lines(300, (i) => `${20 + (i % 50)},${(47.95 + (i % 40) / 8).toFixed(2)}`)}`);
    const out = path(`next-${made}.yaml`);
    const text = await runCommand(registerInitCommand, 'init', data, '--out', out, '--yes');
    expect(text).toContain(`confirm ${out}`);
    const shown = await runCommand(registerConfirm, 'confirm', out, '--all');
    expect(shown).toContain('lat_score  number   47.5 to 53');
    expect(shown).not.toMatch(/\d\/\d/);
  });
});
