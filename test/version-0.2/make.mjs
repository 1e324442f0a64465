/**
 * Makes the files of version 0.2 that version-0.2.test.ts reads. Run once, against a build of commit 90a50bd4:
 *   node test/version-0.2/make.mjs /tmp/fugu02
 * What it wrote is kept; running it again would draw other noise and other keys of accounts.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { asks, streams } from './asks.mjs';
import { keyPaths, kindOf } from './key-paths.mjs';
import { files } from './policies.mjs';

/** Where version 0.2 worked: full paths are part of its accounts and keys. */
const home = '/tmp/fugu-version-0.2';
const fixtures = join(import.meta.dirname, 'fixtures');
const version = resolve(process.argv[2] ?? '/tmp/fugu02');
const of = (path) => import(join(version, 'dist', path));
const main = join(version, 'dist/start/main.js');

if (existsSync(home)) throw new Error(`${home} is there already: another test may use it`);
process.umask(0o022);
const at = (name) => join(home, name);
const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v)));
const cli = (...words) => {
  try {
    return execFileSync(process.execPath, [main, ...words], { cwd: home, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`fugu ${words.join(' ')}: ${error.stderr || error.message}`);
  }
};
const put = (name, text) => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
};
/** A line for each member of a list or object, two levels deep. */
const lines = (value, depth = 0) => {
  if (depth === 2 || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const own = Array.isArray(value) ? value.map((v) => lines(v, depth + 1)) : Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${lines(v, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return own.length === 0 ? open + close : `${open}\n${own.join(',\n')}\n${close}`;
};
const keep = (name, value) => {
  mkdirSync(dirname(join(fixtures, name)), { recursive: true });
  writeFileSync(join(fixtures, name), `${lines(value)}\n`);
};
const tried = async (what, work) => {
  try {
    return await work();
  } catch (error) {
    failures.push(`${what}: ${error.message} ${error.hint ?? ""}`);
    console.error(failures.at(-1));
    return undefined;
  }
};
const failures = [];

rmSync(fixtures, { recursive: true, force: true });
mkdirSync(at('budgets'), { recursive: true });
for (const [name, text] of Object.entries(files)) put(name, text);

const fugu = await of('index.js');
const { Session, deskOf } = await of('release/session.js');
const { readPolicy } = await of('terms/read.js');
const { readingOf } = await of('release/request-key.js');

await fugu.learnNetwork(at('answers-alone.yaml'), { out: at('network.json'), public: true });
await fugu.learnNetwork(at('answers-alone.yaml'), { out: at('network.bif'), public: true });
await fugu.learnSpread(at('answers-alone.yaml'), { out: at('pairwise.json'), public: true, pool: 0.01 });
await fugu.learnTransitions(at('transitions.yaml'), { out: at('learned-transitions.json'), by: 'person', order: 'day', state: 'place', public: true });

/** What is hashed into the key of each request, and the key. */
let keys = [];
const keyOf = Session.prototype.keyOf;
Session.prototype.keyOf = function (canonical) {
  const key = keyOf.call(this, canonical);
  keys.push({ key, canonical });
  return key;
};

/** Of plans only the names of their fields are kept: their figures may change. */
const plans = {};
const remember = (plan, question) => {
  const own = (plans[kindOf(question)] ??= new Set());
  for (const path of keyPaths(plan)) own.add(path);
};
/** What a promise says in words is in the ledger; one sentence of it is enough here. */
const short = (answer) => {
  const { guarantee } = answer.receipt;
  return { ...answer, receipt: { ...answer.receipt, guarantee: { ...guarantee, sentences: guarantee.sentences.slice(0, 1) } } };
};
const recorded = {};
const askAll = (name, list) =>
  tried(name, async () => {
    const open = await fugu.open(at(name), { analyst: 'ann' });
    recorded[name] = [];
    for (const { question, options } of list)
      await tried(`${name} ${JSON.stringify(question)}`, async () => {
        const plan = plain(await open.plan(question, options));
        keys = [];
        const answer = plain(await open.release(question, options));
        remember(plan, question);
        recorded[name].push({ question, options, keys: [...keys], answer: short(answer) });
      });
    await open.close();
  });
for (const [name, list] of Object.entries(asks)) await askAll(name, list);
for (const [name, list] of Object.entries(streams))
  for (const [k, asked] of list.entries())
    await tried(`stream ${name} ${k}`, async () => {
      const plan = plain(await fugu.planStream(at(name), { ...asked, analyst: 'ann' }));
      keys = [];
      const steps = [];
      for await (const step of await fugu.stream(at(name), { ...asked, analyst: 'ann' })) steps.push(plain(step.receipt ? short(step) : step));
      remember(plan, { stream: true });
      keep(`streams/${name.replace('.yaml', '')}-${k}.json`, { policy: name, asked, keys: [...keys], steps });
    });

// Learned declarations are entered into the policy: it is kept as it was before, too.
copyFileSync(at('learn.yaml'), at('learned.yaml'));
const learning = { keys: ['learnKeys', { table: 'visits', column: 'town', most: 5, longest: 8, epsilon: '0.5' }], bounds: ['learnBounds', { table: 'visits', column: 'paid', within: 1000, tail: 0.05, epsilon: '0.5' }], rows: ['learnRows', { table: 'visits', most: 10, epsilon: '0.5' }] };
for (const [what, [name, options]] of Object.entries(learning))
  await tried(`learn ${what}`, async () => {
    keep(`learned/${what}.json`, { name, options, answer: plain(await fugu[name](at('learned.yaml'), options)) });
  });

await tried('amend', async () => {
  put('amended.yaml', files['amended.yaml'].replace('epsilon: 2', 'epsilon: 3'));
  keep('said/amend.json', plain(await fugu.amendTerms(at('amended.yaml'), { reason: 'more people agreed' })));
  // Under other terms the same words are another request.
  await askAll('amended.yaml', asks['amended.yaml']);
});
await tried('cut off', async () => {
  const open = await (await of('ask/opened.js')).openAll(at('cut-off.yaml'), { analyst: 'ann' });
  const desk = deskOf(open.session);
  const forgetful = new Session({ ...desk, ledger: { ...desk.ledger, settle: () => Promise.reject(new fugu.Fault('DISK_FULL', 'full', 'Make room.')) } });
  await forgetful.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.25' }).then(
    () => failures.push('cut off: answered'),
    () => undefined,
  );
  await open.session.release({ kind: 'count' }, { epsilon: '0.25' });
  await open.close();
});

for (const [name, words] of Object.entries({
  'release-rows': ['release', 'rows.yaml', '--survey', '--except', 'media,born', '--epsilon', '0.6'],
  'release-homes': ['release', 'homes.yaml', '--survey', '--columns', 'party,rich,sex', '--epsilon', '0.5'],
  'release-alike': ['release', 'alike.yaml', '--query', '{"kind":"histogram","column":"rich"}', '--epsilon', '0.1'],
  'release-quotas': ['release', 'quotas.yaml', '--query', '{"kind":"count","by":["party"]}', '--epsilon', '0.1'],
  'release-workload': ['release', 'rows.yaml', '--workload', 'tables.yaml', '--epsilon', '0.2'],
}))
  await tried(name, () => cli(...words, '--yes', '--out', `out/${name}`));
await tried('enter', async () => {
  const receipt = JSON.parse(readFileSync(at('out/release-quotas/receipt.json'), 'utf8'));
  keep('said/enter-number.json', plain(await fugu.enterSpending(at('entered.yaml'), { epsilon: '0.2', by: 'the census', reason: 'table 3' })));
  keep('said/enter-receipt.json', plain(await fugu.enterSpending(at('entered-delta.yaml'), { receipt, reason: 'a count of the same people' })));
  keep('said/enter-rho.json', plain(await fugu.enterSpending(at('entered-delta.yaml'), { rho: '0.01', by: 'the census', reason: 'table 4' })));
});
await tried('synth', () => cli('synth', 'rows.yaml', '--request', 'request.yaml', '--epsilon', '0.5', '--yes', '--out', 'out/synth.csv'));
await tried('estimate', () => cli('estimate', 'rows.yaml', '--out', 'out/estimate'));
await tried('stream file', () => put('out/steps.jsonl', cli('stream', 'steps.yaml', '--query', '{"kind":"histogram","column":"place"}', '--epsilon', '0.2', '--every', 'day', '--through', '4', '--json', '--yes')));
const classifier = (recorded['rows.yaml'] ?? []).filter(({ question }) => question.classify).map(({ answer }) => answer.result);
put('out/classifiers.json', JSON.stringify(classifier, undefined, 1));
await tried('predict', () => {
  const rows = [{ age: 30, party: 'left', sex: 'f', income: 100 }, { age: 80, party: 'right', sex: 'm', income: 900 }, { age: 50 }];
  const predictions = classifier.map((model) => rows.map((row) => { try { return plain(fugu.predict(model, row)); } catch (error) { return { fault: error.code }; } }));
  keep('said/predictions.json', { rows, predictions });
});
await tried('backup', () => cli('ledger', 'homes.yaml', 'backup', 'out/homes.backup'));

/** What the library says of files, without asking the data. */
const calls = {
  attack: ['attack', at('alike.yaml'), { release: at('out/release-alike') }],
  'attack-stream': ['attackStream', at('steps.yaml'), { stream: at('out/steps.jsonl') }],
  'check-private': ['checkPolicy', at('rows.yaml'), { private: true }],
  leakage: ['leakage', at('factors.json'), { base: 0.1 }],
  audit: ['auditScale', at('factors.json'), { query: 'sum', scale: 2 }],
  temporal: ['temporal', { forward: at('forward.json'), epsilon: 0.1, steps: 5 }],
  'belief-budget': ['budgetForBelief', { prior: 0.1, posterior: 0.3 }],
  'belief-after': ['beliefAfter', { epsilon: 1, priors: [0.1] }],
  'least-epsilon': ['leastEpsilon', at('rows.yaml'), { question: { kind: 'mean', column: 'age' }, error: 2, rows: 120 }],
  pattern: ['analysePattern', 'triangles', { domain: 100, epsilon: 1 }],
  location: ['location', at('place.json'), { epsilon: 1 }],
};
for (const [what, [name, ...args]] of Object.entries(calls))
  await tried(what, async () => keep(`said/${what}.json`, { name, args, answer: plain(await fugu[name](...args)) }));

const figures = {};
const policies = Object.keys(files).filter((name) => name.endsWith('.yaml') && !['tables.yaml', 'request.yaml', 'service/town.yaml'].includes(name));
for (const name of [...policies, 'learned.yaml'])
  await tried(`figures of ${name}`, async () => {
    const read = await readPolicy(at(name));
    const open = await fugu.open(at(name), { analyst: 'ann' });
    const { explanation, warnings, ...checked } = plain(await fugu.checkPolicy(at(name)));
    const reading = createHash('sha256').update(readingOf(read)).digest('hex');
    const { budget: { epsilon, delta }, digest, population } = read;
    figures[name] = plain({ digest, reading, population, epsilon: `${epsilon.num}/${epsilon.den}`, delta: `${delta.num}/${delta.den}`, checked, spent: await open.spent(), entries: await open.entries(), estimate: await open.estimate().catch((error) => ({ fault: error.code })), verify: await open.verify() });
    await open.close();
  });

await tried('service', async () => {
  const { Service } = await of('service/service.js');
  const { appOf } = await of('service/app.js');
  const { Tokens } = await of('service/token.js');
  const { placesOf } = await of('service/places.js');
  const tokens = new Tokens(at('service/fugu-tokens'));
  const days = 200_000;
  const made = { steward: tokens.make({ name: 'root', role: 'steward', days }).text, analyst: tokens.make({ name: 'ann', role: 'analyst', days, policies: ['town'] }).text, auditor: tokens.make({ name: 'eve', role: 'auditor', days }).text, ended: tokens.make({ name: 'old', role: 'analyst', days }).text };
  tokens.end(made.ended.split('_')[1]);
  const service = await Service.begin({ policies: [at('service/town.yaml')], tokens: at('service/fugu-tokens'), drafts: at('service/fugu-drafts'), log: at('service/fugu-log/service') });
  const app = appOf(service, () => '127.0.0.1');
  const send = async (token, path, init) => {
    const answer = await app.request(`http://fugu.test${path}`, { ...init, headers: { host: 'fugu.test', authorization: `Bearer ${token}`, ...init?.headers } });
    const body = await answer.json();
    if (answer.status >= 300) failures.push(`service ${path}: ${answer.status} ${JSON.stringify(body)}`);
    return body;
  };
  const post = (token, path, body) => send(token, path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const said = [];
  const questions = [{ kind: 'count', by: ['party'] }, { sql: 'SELECT rich, COUNT(*) FROM data GROUP BY rich' }, { classify: { label: 'rich', positive: ['yes'], features: ['age'] } }, { survey: true }];
  for (const question of questions) {
    const body = { question, epsilon: '0.3' };
    said.push({ body, answer: await post(made.analyst, '/v1/policies/town/release', body) });
  }
  const csv = `house,colour,size\n${Array.from({ length: 40 }, (_, k) => `h${k >> 1},${['red', 'blue'][k % 2]},${20 + (k % 9)}`).join('\n')}\n`;
  const sending = { method: 'POST', body: csv, headers: { 'content-type': 'application/octet-stream', 'x-file-name': 'colours.csv' } };
  const draft = await send(made.steward, '/v1/drafts', sending);
  await post(made.steward, `/v1/drafts/${draft.id}/answers`, { dependence: 'none' });
  const confirmed = await send(made.steward, '/v1/drafts', { ...sending, body: csv.replaceAll('red', 'green') });
  await post(made.steward, `/v1/drafts/${confirmed.id}/answers`, { dependence: 'none' });
  const policy = await post(made.steward, `/v1/drafts/${confirmed.id}/confirm`, { name: 'colours', columns: 'all' });
  const coloured = { question: { kind: 'count', by: ['colour'] }, epsilon: '0.2' };
  said.push({ policy: 'colours', body: coloured, answer: await post(made.steward, '/v1/policies/colours/release', coloured) });
  const listed = {};
  for (const path of ['/v1/policies', '/v1/policies/town', '/v1/policies/town/ledger', '/v1/policies/town/budget', '/v1/drafts', `/v1/drafts/${draft.id}`, '/v1/log/verify'])
    listed[path] = await send(made.steward, path);
  keep('service.json', { tokens: made, said, draft: draft.id, confirmed: policy, listed });
  service.stop();
  await service.jobs.ended();
  service.log.sync();
  await service.close();
});

// One file per ledger: what waits in the log is brought into it.
const { default: Database } = await import(join(version, 'node_modules/libsql/index.js'));
for (const name of readdirSync(home, { recursive: true }).filter((f) => f.endsWith('.db'))) {
  const db = new Database(at(name));
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  db.close();
}
for (const [name, list] of Object.entries(recorded)) keep(`answers/${name.replace('.yaml', '').replace('/', '-')}.json`, { policy: name, asked: list });
keep('figures.json', figures);
keep('plans.json', Object.fromEntries(Object.entries(plans).map(([kind, paths]) => [kind, [...paths].sort()])));
for (const { parentPath, name } of readdirSync(home, { recursive: true, withFileTypes: true }).filter((f) => f.isFile())) {
  if (/-(wal|shm)$|\.(html|xlsx)$/.test(name)) continue;
  const [from, to] = [join(parentPath, name), join(fixtures, 'home', relative(home, parentPath), name)];
  mkdirSync(dirname(to), { recursive: true });
  // Ledgers are mostly room to grow.
  if (/\.(db|chain|backup)$/.test(name)) writeFileSync(`${to}.gz`, gzipSync(readFileSync(from), { level: 9 }));
  else copyFileSync(from, to);
}
rmSync(home, { recursive: true });
console.log(failures.length === 0 ? 'all was answered' : failures.join('\n'));
process.exit(0);
