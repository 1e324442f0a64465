import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { fitModel as fitted } from '../src/analysis/graphical/fit.js';
import { patternCandidates } from '../src/analysis/pattern/candidates.js';
import { analysePatternText, schemaFromText } from '../src/analysis/pattern/query/analyse.js';
import { parsePattern } from '../src/analysis/pattern/query/parse.js';
import { readWorkload } from '../src/analysis/workload/form.js';
import { readCsvTable } from '../src/app/api/csv-table.js';
import { readModelFile } from '../src/app/api/model-file.js';
import { readJson, readText } from '../src/app/api/named-text.js';
import { Fault } from '../src/base/errors.js';
import { parseRational } from '../src/base/exact/rational.js';
import { type LimitName, limits } from '../src/base/input/limits.js';
import { parseCodebook, readCodebook } from '../src/data/codebook/codebook.js';
import { openStatFile } from '../src/data/statfile/statfile.js';
import { parsePolicy, readPolicy } from '../src/data/terms/read.js';
import { readAdditive } from '../src/evaluate/audit/record-query.js';
import { readModel } from '../src/privacy/dependence/model/model-file.js';
import { parseBatch } from '../src/query/parse.js';
import { parseSql } from '../src/query/sql/sql.js';
import { processorTime } from './processor-time.js';
import { category, samplePolicy } from './sample-policy.js';
import { repeated, workbookOf } from './statfile/zip.js';

const folder = mkdtempSync(join(tmpdir(), 'fugu-limits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
/** A file that is too large and takes no room. */
const large = (name: string, limit: LimitName): string => {
  writeFileSync(at(name), '');
  truncateSync(at(name), limits[limit].most + 1);
  return at(name);
};
const mib = 2 ** 20;
const past = (limit: LimitName) => limits[limit].most + 1;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const policy = samplePolicy([category('a', ['1', '2'])]);
const wide = samplePolicy(numbers(1_001).map((k) => category(`c${k}`, ['1'])));
const head = 'data: {source: data.csv}\nprotect: {secret: row}\ndependence: none\n';
const declare = (text: string, budget = '{epsilon: 1}') => parsePolicy(`${head}budget: ${budget}\n${text}`, at('policy.yaml'));
const sql = (where: string) => parseSql(`SELECT COUNT(*) FROM data WHERE ${where}`, policy);
const model = (document: object) => readModel(JSON.stringify(document), 'model.json');
const record = (id: string, values: readonly number[] = [0, 1]) => ({ id, values });
const entries = (count: number, entry: (i: number) => string) => numbers(count).map(entry).join('\n');

/** Every limit of the list, by an input that goes past it. */
const beyond: Readonly<Record<LimitName, () => unknown>> = {
  sqlBytes: () => sql(`a = '${'x'.repeat(past('sqlBytes'))}'`),
  sqlTokens: () => sql(`a IN (${numbers(2_000).join(',')})`),
  sqlDepth: () => sql(`${'('.repeat(65)}a = 1${')'.repeat(65)}`),
  sqlSigns: () => sql(`a ${'- '.repeat(9)} 1`),
  sqlParts: () => sql(`a = 1; ${'SELECT COUNT(*) FROM data; '.repeat(100)}`),
  sqlCases: () => sql(`a = ${'CASE WHEN '.repeat(9)} 1`),
  queryBytes: () => readJson(`@${large('query.json', 'queryBytes')}`),
  jsonDepth: () => readJson('['.repeat(past('jsonDepth'))),
  queries: () => parseBatch(numbers(past('queries')).map(() => ({ kind: 'count' }))),
  conditions: () => parseBatch({ kind: 'count', where: numbers(101).map(() => ({ column: 'a', op: 'present' })) }),
  keys: () => parseBatch({ kind: 'count', by: numbers(9).map(String) }),
  literals: () => parseBatch({ kind: 'count', where: [{ column: 'a', op: 'in', values: numbers(past('literals')) }] }),
  literalLength: () => parseBatch({ kind: 'share', column: 'a', values: ['x'.repeat(past('literalLength'))] }),
  shares: () => parseBatch({ kind: 'quantile', column: 'a', at: numbers(101).map((i) => (i + 1) / 1000) }),
  nameLength: () => parseBatch({ kind: 'sum', column: 'x'.repeat(past('nameLength')) }),
  digits: () => parseRational('1'.repeat(120_000), 'epsilon'),
  exponent: () => parseRational('1e999999999', 'epsilon'),
  workloadTables: () => readWorkload(wide, { tables: [{ all: 4 }] }),
  workloadAxes: () => {
    const five = ['v', 'w', 'x', 'y', 'z'];
    const levels = (name: string) => ({
      [`${name}1`]: { a: ['1', '2'], b: ['3', '4'], c: ['5', '6'] },
      [`${name}2`]: { d: ['a', 'b'], e: ['c'] },
    });
    const own = samplePolicy(five.map((name) => category(name, ['1', '2', '3', '4', '5', '6'])));
    const tables = [{ by: five }, ...five.map((name) => ({ by: [`${name}1`] }))];
    return readWorkload(own, { tables, levels: Object.fromEntries(five.map((name) => [name, levels(name)])) });
  },
  workloadColumns: () => readWorkload(wide, { tables: [{ all: 1 }] }),
  graphicalCells: () =>
    fitted({ sizes: [5000, 5000], measured: [{ columns: [0, 1], counts: new Float64Array(), sd: 1 }], total: 1 }),
  patternLength: () => parsePattern(`q() :- ${'r(x), '.repeat(2000)}r(y)`),
  patternGoals: () => parsePattern(`q() :- ${'r(x), '.repeat(100)}r(y)`),
  privateGoals: () => {
    const path = numbers(16)
      .map((i) => `r(x${i}, x${i + 1})`)
      .join(', ');
    const text = `q() :- ${path}`;
    return patternCandidates(analysePatternText(text, schemaFromText(text, 1000)), { epsilon: parseRational('1') });
  },
  patternTerms: () => parsePattern(`q() :- all_distinct(${'x, '.repeat(64)}x), r(x)`),
  policyBytes: () => readPolicy(large('large.yaml', 'policyBytes')),
  policyEntries: () => declare(`unconfirmed: [${numbers(past('policyEntries')).join(',')}]`),
  policyDepth: () => declare(`population: ${'['.repeat(17)}${']'.repeat(17)}`),
  policyAliases: () =>
    declare(
      `population: &a x\nunconfirmed: [${numbers(101)
        .map(() => '*a')
        .join(', ')}]`,
    ),
  columns: () => parseCodebook(`name,value,label\n${entries(past('columns'), (i) => `c${i},1,x`)}`, 'codebook.csv'),
  categories: () => declare(`columns: {a: {type: category, values: [${numbers(past('categories')).join(',')}]}}`),
  bins: () => declare(`columns: {a: {type: integer, bounds: [-1, 99999], bins: [${numbers(past('bins')).join(',')}]}}`),
  tables: () => declare(`tables:\n${entries(past('tables'), (i) => `  t${i}: {source: t.csv, key: a, public: true}`)}`),
  relations: () =>
    declare(`relations:\n${entries(past('relations'), (i) => `  r${i}: {table: t.csv, columns: [a], domain: 9}`)}`),
  dependences: () =>
    parsePolicy(
      `data: {source: data.csv}\nprotect: {secret: row}\nbudget: {epsilon: 1}\ndependence:\n${entries(past('dependences'), () => '  - {kind: groups, by: h}')}`,
      at('policy.yaml'),
    ),
  beliefs: () =>
    declare(
      '',
      `{belief: [${numbers(past('beliefs'))
        .map(() => '{prior: 0.1, posterior: 0.2}')
        .join(', ')}]}`,
    ),
  pairs: () => {
    const codes = (from: number) => `[${numbers(1_001).map((i) => `c${from + i}`)}]`;
    return parsePolicy(
      `data: {source: data.csv}\nprotect: {secret: row, pairs: {a: {secrets: {x: ${codes(0)}, y: ${codes(2_000)}}}}}\nbudget: {epsilon: 1}\ndependence: none\ncolumns:\n  a: {type: category, values: [${numbers(4_000).map((i) => `c${i}`)}]}\n`,
      at('policy.yaml'),
    );
  },
  combinations: () =>
    declare(
      `columns:\n  a: {type: category, values: [${numbers(200).join(',')}]}\n  b: {type: category, values: [${numbers(200).join(',')}]}\nmerge: [{columns: [a, b], support: [["*", "*"]]}]`,
    ),
  codebookBytes: () => readCodebook(large('codebook.csv', 'codebookBytes')),
  dictionaryBytes: () => {
    const head = Buffer.alloc(176);
    head.write('$FL2');
    head.writeInt32LE(2, 64);
    const record = Buffer.alloc(16);
    for (const [i, x] of [7, 99, 1, past('dictionaryBytes')].entries()) record.writeInt32LE(x, 4 * i);
    writeFileSync(at('large.sav'), Buffer.concat([head, record]));
    truncateSync(at('large.sav'), past('dictionaryBytes') + 1000);
    return openStatFile(at('large.sav'));
  },
  workbookBytes: () => {
    const strings = repeated('<sst>', `${' '.repeat(mib - 4)}<b/>`, limits.workbookBytes.most / mib + 1);
    writeFileSync(at('strings.xlsx'), workbookOf('<worksheet/>', { 'xl/sharedStrings.xml': strings }));
    return openStatFile(at('strings.xlsx'));
  },
  sheetBytes: () => {
    writeFileSync(
      at('sheet.xlsx'),
      workbookOf(repeated('<worksheet>', `${' '.repeat(mib - 4)}<b/>`, limits.sheetBytes.most / mib + 1)),
    );
    return openStatFile(at('sheet.xlsx'));
  },
  supportBytes: () => {
    large('support.csv', 'supportBytes');
    return declare('merge: [{support: support.csv}]');
  },
  modelBytes: () => readModelFile(large('model.json', 'modelBytes')),
  tableBytes: () => readCsvTable(large('table.csv', 'tableBytes')),
  unpackedBytes: () => {
    writeFileSync(at('model.bif.gz'), gzipSync(Buffer.alloc(past('unpackedBytes')), { level: 1 }));
    return readModelFile(at('model.bif.gz'));
  },
  releaseBytes: () => readText(large('receipt.json', 'releaseBytes')),
  records: () => model({ chain: { length: past('records'), transition: [[1]], initial: 'any' } }),
  values: () => model({ records: [record('a', numbers(past('values')))], factors: [] }),
  states: () => model({ chain: { length: 2, transition: numbers(past('states')).map(() => []), initial: 'any' } }),
  members: () =>
    model({
      records: numbers(past('members')).map((i) => record(`${i}`, [0])),
      factors: [{ records: numbers(past('members')).map(String), oddsRatio: 2 }],
    }),
  cells: () =>
    model({ records: numbers(21).map((i) => record(`${i}`)), factors: [{ records: numbers(21).map(String), table: [] }] }),
  allCells: () => {
    const wide = numbers(1024);
    const ones = `[${wide.map(() => 1).join(',')}]`;
    const table = `[${wide.map(() => ones).join(',')}]`;
    const records = JSON.stringify([record('a', wide), record('b', wide)]);
    const factor = `{"records":["a","b"],"table":${table}}`;
    return readModel(`{"records":${records},"factors":[${Array.from({ length: 5 }, () => factor).join(',')}]}`, 'model.json');
  },
  factors: () =>
    readModel(`{"records":[{"id":"a","values":[0]}],"factors":[${'0,'.repeat(limits.factors.most)}0]}`, 'model.json'),
  degrees: async () => {
    const { planDegrees } = await import('../src/analysis/pattern/degrees/release.js');
    const friend = { name: 'friend', table: 'f.csv', columns: ['a', 'b'], domain: 1e9, symmetric: true, private: true };
    const edges = { ...policy, protect: { ...policy.protect, secret: 'edge' }, relations: new Map([['friend', friend]]) };
    const session = { policy: edges, allowance: async () => ({ pure: parseRational('1') }) };
    return planDegrees(session as never, { degree: past('degrees') });
  },
  numbers: () => readAdditive(`sum:${'1,'.repeat(limits.numbers.most)}1`, 3),
};

describe('inputs past the limit', () => {
  it.each(Object.keys(limits) as LimitName[])(
    'an input past the limit %s is refused at once, by a fault that names the limit',
    async (name) => {
      let fault: unknown = 'accepted';
      const took = await processorTime(() =>
        Promise.resolve()
          .then(beyond[name])
          .catch((error: unknown) => {
            fault = error;
          }),
      );
      expect(fault).toBeInstanceOf(Fault);
      const { code, details, message, hint } = fault as Fault;
      expect(code).toBe(limits[name].code ?? 'LIMIT_EXCEEDED');
      expect(hint).toContain(limits[name].stay);
      if (name !== 'combinations') expect(details).toMatchObject({ limited: name, limit: limits[name].most });
      expect(message).toContain(
        limits[name].most.toLocaleString('en').replace('10,000', name === 'combinations' ? '10000' : '10,000'),
      );
      expect(took).toBeLessThan(1000);
    },
  );

  it('20,000 literals in SQL are refused in no time', async () => {
    const took = await processorTime(() => {
      expect(() => sql(`a IN (${numbers(20_000).join(',')})`)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
    });
    expect(took).toBeLessThan(40);
  });

  it('no input is admitted that a parser takes long for', async () => {
    const list = (count: number) => numbers(count).join(',');
    const took = await processorTime(() => {
      expect(() => sql(`a IN (${list(980)})`)).not.toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
    });
    expect(took).toBeLessThan(400);
  });

  it('reading a policy grows no faster than its columns: 10,000 take less than twenty times as long as 1,000', async () => {
    const wide = (count: number) => declare(`columns:\n${entries(count, (i) => `  c${i}: {type: category, values: [1, 2, 3]}`)}`);
    const time = async (count: number) => {
      const { user } = process.cpuUsage();
      await wide(count);
      return process.cpuUsage().user - user;
    };
    await wide(1_000);
    const few = Math.min(await time(1_000), await time(1_000), await time(1_000));
    expect(await time(10_000)).toBeLessThan(20 * few);
  });
});

describe('names in a policy', () => {
  it('names of the ledger and of the language are refused in a policy, not dropped', async () => {
    for (const name of ['"*"', 'used:x', '__proto__'])
      await expect(declare(`columns: {${name}: {type: category, values: [1]}}`)).rejects.toThrow(/cannot be used|ledger uses/);
    await expect(declare('columns: {a: {type: category, values: {__proto__: x}}}')).rejects.toThrow('cannot be used');
  });

  it('names that every object has are valid column names', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
    const { columns } = await declare(
      `columns:\n${names.map((n) => `  ${n}: {type: category, values: [constructor]}`).join('\n')}`,
    );
    expect([...columns.keys()]).toEqual(names);
    expect([...parseCodebook('name,value,label\n__proto__,1,x\n', 'c').keys()]).toEqual(['__proto__']);
  });

  it('names of answers may not hold control characters', () => {
    for (const name of ['\u001b[2J', 'a\nb', '\u009b1m'])
      expect(() => parseBatch({ kind: 'count', name })).toThrow('control characters');
    expect(() => sql('a = 1')).not.toThrow();
    expect(() => parseSql('SELECT COUNT(*) AS "\u001b[2J" FROM data', policy)).toThrow('control characters');
  });

  it('names in FROM are those of the policy, and others are refused with a list of valid ones', () => {
    const from = (name: string, data: object = {}) =>
      parseSql(`SELECT COUNT(*) FROM ${name}`, { ...policy, data: { source: '/x/Survey 1.csv.gz', ...data } });
    for (const name of ['data', 'DATA', '"Survey 1"', '"survey 1"', '"Survey 1.csv.gz"']) expect(() => from(name)).not.toThrow();
    for (const name of ['t', 'main.t', 'T']) expect(() => from(name, { table: 'main.t' })).not.toThrow();
    for (const name of ['"/etc/passwd"', 'other', 'main.data', '"/x/Survey 1.csv.gz"', '"read_csv(x)"'])
      expect(() => from(name)).toThrow(
        expect.objectContaining({ code: 'QUERY_INVALID', hint: expect.stringContaining('FROM data') }),
      );
  });
});
