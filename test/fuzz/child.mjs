// Runs fuzz cases on the built product one by one and reports how each ended. The parent watches the time.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const dist = new URL('../../dist/', import.meta.url).href;
const load = (file) => import(`${dist}${file}`);
const { Fault } = await load('base/errors.js');

const folder = mkdtempSync(join(tmpdir(), 'fugu-fuzz-'));
process.on('disconnect', () => process.exit(0));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const at = (name) => join(folder, name);
process.chdir(folder);
// Commands print; nobody reads it here.
process.stdout.write = () => true;

const people = ['id,household,t,a,b,age,income,party,grade,media,w'];
for (let i = 0; i < 60; i++)
  people.push(
    [i, i >> 1, i % 7, 1 + (i % 2), 1 + (i % 3 ? 0 : 1), 17 + i, i / 8 - 2, ['dem', 'rep', 'other'][i % 3], 1 + (i % 3), 'tv;web', 1].join(','),
  );
writeFileSync(at('data.csv'), `${people.join('\n')}\n`);
writeFileSync(at('friends.csv'), 'a,b\n1,2\n2,3\n3,1\n4,5\n');
writeFileSync(at('person.csv'), 'x,a\n1,2\n2,30\n3,10\n');
writeFileSync(at('codebook.csv'), 'name,value,label\nparty,dem,D\nparty,rep,R\n');
const model = {
  records: ['a', 'b', 'c'].map((id) => ({ id, values: [0, 1] })),
  factors: [{ records: ['a', 'b'], oddsRatio: 4 }, { records: ['b', 'c'], table: [[2, 1], [1, 2]] }],
};
writeFileSync(at('MODEL'), JSON.stringify(model));
const columns = `columns:
  age: {type: integer, bounds: [17, 90], missing: [-1, 99]}
  income: {type: number, bounds: [-2.5, 7.25], step: 0.05}
  party: {type: category, values: [dem, rep, other]}
  grade: {type: category, values: [1, 2, 3]}
  a: {type: category, values: [1, 2]}
  b: {type: category, values: [1, 2]}
  media: {type: multi, values: [tv, web, paper]}
  w: {type: weight, bounds: [0.2, 5], step: 0.1}
`;
const relations = `relations:
  friend: {table: friends.csv, columns: [a, b], domain: 1000, symmetric: true}
  person: {table: person.csv, columns: [x, a], domain: 1000, private: false}
`;
const policyText = (protect, dependence, budget = '{epsilon: 1000}') =>
  `data: {source: data.csv}\nprotect: ${protect}\nbudget: ${budget}\ndependence: ${dependence}\n${columns}${relations}`;

const once = (make) => {
  let made;
  return () => {
    made ??= make();
    return made;
  };
};
const policy = once(async () => (await load('data/terms/read.js')).parsePolicy(policyText('{secret: row}', 'none'), at('policy.yaml')));
const opened = (secret, file) => async () => {
  const { openEngine } = await load('data/terms/open.js');
  const { openLedger } = await load('release/ledger/open.js');
  const { createSession } = await load('release/session/session.js');
  const { parsePolicy } = await load('data/terms/read.js');
  const declared = await parsePolicy(policyText(secret, 'none'), at(file));
  mkdirSync(join(declared.ledger, '..'), { recursive: true });
  const [engine, ledger] = [await openEngine(declared), await openLedger(declared.ledger)];
  return { session: await createSession({ policy: declared, engine, ledger, analyst: 'fuzz' }), engine, ledger, policy: declared };
};
const session = once(opened('{secret: row}', 'policy.yaml'));
const edges = once(opened('{secret: edge}', 'edges.yaml'));

const options = (text) => (text.length % 3 === 0 ? { epsilon: '0.01' } : {});

const targets = {
  /** Twins that break each rule, so that the watch itself is tested. */
  async planted(text) {
    if (text === 'crash') throw new RangeError('planted');
    if (text === 'exit') process.kill(process.pid, 'SIGKILL');
    if (text === 'fault') throw new Fault('USAGE', 'Planted.', 'Planted.');
    if (text === 'slow') for (const end = process.cpuUsage().user + 2.1e6; process.cpuUsage().user < end; ) for (let i = 0; i < 1e7; i++);
    if (text === 'grow') targets.kept = Buffer.alloc(550 * 2 ** 20, 1);
  },
  async sql(text) {
    const { parseSql } = await load('query/sql/sql.js');
    const { readsRelations, patternFromSql } = await load('analysis/pattern/query/sql.js');
    const { bindBatch } = await load('query/bind.js');
    const declared = await policy();
    if (readsRelations(text, declared.relations)) patternFromSql(text, declared.relations);
    else bindBatch(parseSql(text, declared), declared);
  },
  async query(text) {
    const { readJson } = await load('app/api/named-text.js');
    await (await session()).session.plan(readJson(text), options(text));
  },
  async policy(text) {
    const { parsePolicy } = await load('data/terms/read.js');
    const { explain } = await load('data/terms/explain.js');
    explain(await parsePolicy(text, at('fuzzed.yaml')));
  },
  async pattern(text) {
    const { analysePatternText } = await load('analysis/pattern/query/analyse.js');
    const { patternCandidates } = await load('analysis/pattern/candidates.js');
    const { degreeRelation } = await load('analysis/pattern/degrees/release.js');
    const { parseRational } = await load('base/exact/rational.js');
    const { relations: declared, columns: told } = await policy();
    if (degreeRelation(text)) return;
    const analysed = analysePatternText(text, { relations: declared, columns: told }, { parameters: { p: 3 } });
    patternCandidates(analysed, { epsilon: parseRational('0.5'), degree: 10 });
  },
  async model(text) {
    writeFileSync(at('model.bif'), text);
    writeFileSync(at('model.json'), text);
    const { readModelFile } = await load('app/api/model-file.js');
    const { leakageBounds } = await load('privacy/dependence/leakage.js');
    const read = await readModelFile(at(text.trimStart().startsWith('network') ? 'model.bif' : 'model.json'));
    if (read.ids.length <= 50) leakageBounds(read, 0.1, 'informed');
  },
  async network(text) {
    const { parsePolicy } = await load('data/terms/read.js');
    const { declaredAmplifiers } = await load('data/ties/declared.js');
    const { withSnapshot } = await load('data/engine/engine.js');
    const { engine } = await session();
    writeFileSync(at('side.json'), text);
    const kinds = [
      [/transition/, '{secret: row}', '[{kind: sequence, by: household, order: id, state: a, transition: side.json}]'],
      [/precision/, '{secret: person, unit: id, maxRows: 1}', '[{kind: gaussian, precision: side.json}]'],
      [/oddsRatio|factors/, '{secret: person, unit: id, maxRows: 1}', '[{kind: factors, model: side.json}]'],
      [/pairwise/, '{secret: answer, adversary: uninformed}', '[{kind: columns, network: side.json}]'],
      [/(?:)/, '{secret: answer}', '[{kind: columns, network: side.json}]'],
    ];
    const [, protect, dependence] = kinds.find(([sign]) => sign.test(text));
    const two = 'columns:\n  a: {type: category, values: [1, 2]}\n  b: {type: category, values: [1, 2]}\n';
    const told = policyText(protect, dependence).replace(columns, /precision/.test(text) ? `${two}  age: {type: integer, bounds: [17, 90]}\n` : two);
    const declared = await parsePolicy(told, at('side.yaml'));
    await withSnapshot(engine, (data) => declaredAmplifiers(declared, data));
  },
  async codebook(text) {
    const { parseCodebook } = await load('data/codebook/codebook.js');
    parseCodebook(text, 'codebook.csv');
  },
  async number(text) {
    const { parseRational, toNumber, toNumberUp, toNumberDown, toText } = await load('base/exact/rational.js');
    const { readEpsilon } = await load('release/accountant/belief.js');
    const value = parseRational(text, 'number');
    toNumber(value);
    toNumberUp(value);
    toNumberDown(value);
    toText(value);
    readEpsilon(text);
    await (await session()).session.plan({ kind: 'count' }, { epsilon: text });
  },
  async words(text) {
    const { Command, CommanderError } = await import('commander');
    const argv = text.split('\u0001');
    const known = ['epsilon', 'posterior', 'leak', 'audit', 'compare', 'pattern'];
    const name = known.includes(argv[0]) ? argv[0] : 'epsilon';
    const program = new Command('fugu').exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    const command = await load(`app/cli/${name}.js`);
    command[Object.keys(command).find((key) => /^register\w+Command$/.test(key))](program);
    for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    try {
      await program.parseAsync(argv, { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
    }
  },
  async csv(text) {
    const { openEngine } = await load('data/terms/open.js');
    const { withSnapshot } = await load('data/engine/engine.js');
    writeFileSync(at('table.csv'), text);
    const engine = await openEngine({ source: at('table.csv') });
    try {
      await withSnapshot(engine, (data) => data.columns());
    } finally {
      await engine.close();
    }
  },
  async analysis(text) {
    const { readJson } = await load('app/api/named-text.js');
    const { as, ask, options: told } = readJson(text) ?? {};
    const { planKmeans } = await load('analysis/learn/kmeans/kmeans.js');
    const { planClassify } = await load('analysis/learn/classify/classify.js');
    const { planPattern } = await load('analysis/pattern/release.js');
    const { planDegrees } = await load('analysis/pattern/degrees/release.js');
    const { session: open } = as === 'pattern' || as === 'degrees' ? await edges() : await session();
    // Texts and flags come from the command line as such; numbers may be any.
    const { epsilon, gamma, form, mechanism, degree } = typeof told === 'object' && told !== null ? told : {};
    const texts = Object.entries({ epsilon, gamma, form, mechanism }).filter(([, v]) => typeof v === 'string');
    const words = { ...Object.fromEntries(texts), ...(typeof degree === 'number' && { degree }) };
    if (as === 'kmeans') await planKmeans(open, ask, words);
    else if (as === 'classify') await planClassify(open, ask, words);
    else if (as === 'degrees') await planDegrees(open, { ...words, ...(typeof ask === 'string' && { relation: ask }) });
    else await planPattern(open, String(ask), words);
  },
  async release(text) {
    const { readJson } = await load('app/api/named-text.js');
    const { session: open, ledger, policy: declared } = await session();
    const before = await paid(ledger, declared.population);
    try {
      await open.release(readJson(text), { epsilon: '0.0001' });
    } catch (error) {
      if ((await paid(ledger, declared.population)) !== before) throw new Error(`a refused input was paid for: ${error.message}`);
      throw error;
    }
  },
};

const plain = (_key, value) => (typeof value === 'bigint' ? `${value}` : value instanceof Map ? [...value] : value);
const paid = async (ledger, population) =>
  JSON.stringify([await ledger.spent(population), (await ledger.entries(population)).length], plain);

process.on('message', async ({ target, cases }) => {
  for (const [index, text] of cases.entries()) {
    const cpu = process.cpuUsage();
    let end = 'read';
    let why;
    try {
      await targets[target](text);
    } catch (error) {
      end = error instanceof Fault ? error.code : 'CRASH';
      if (end === 'CRASH' || end === 'INTERNAL') {
        end = 'CRASH';
        why = String(error?.stack ?? error).split('\n').slice(0, 6).join('\n');
      }
    }
    const { user, system } = process.cpuUsage(cpu);
    process.send({ index, end, why, ms: (user + system) / 1000, rss: process.memoryUsage.rss() / 2 ** 20 });
  }
});
process.send({ ready: true });
