// Mutation testing: writes each mutant of mutants-list.mjs into the source, runs its tests, restores the source. A survivor fails the run.
// Tests of the command line run the build, which has no mutant. Usage: node scripts/mutants.mjs [--list] [--only NAME]... [--seconds N]
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutants } from './mutants-list.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values: asked } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '300' },
  },
});

const refuse = (why) => {
  console.error(why);
  process.exit(2);
};

const unknown = asked.only.find((name) => !mutants.some((m) => m.name === name));
if (unknown !== undefined) refuse(`There is no mutant "${unknown}"; --list names them.`);
const chosen = mutants.filter(({ name }) => asked.only.length === 0 || asked.only.includes(name));

if (asked.list) {
  for (const { name, file } of chosen) console.log(`${name.padEnd(34)} ${file}`);
  process.exit(0);
}

if (execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }).trim() !== '')
  refuse('The tree has changes that are not committed: a mutant could not be told from them. Commit them first.');

const textOf = (file) => readFileSync(join(root, file), 'utf8');
for (const { name, file, from, to } of mutants)
  if (textOf(file).split(from).length !== 2 || from === to)
    refuse(`${name}: the text to change must occur exactly once in ${file}: ${from}`);

/** Source file to restore, and process to end, on every exit. */
let changed;
let running;
function restore() {
  if (changed) writeFileSync(join(root, changed.file), changed.text);
  changed = undefined;
}
function end() {
  try {
    if (running) process.kill(-running.pid, 'SIGKILL');
  } catch {}
}
process.on('exit', restore);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    end();
    restore();
    process.exit(1);
  });

/** Tests that need a server of their own; where none is installed they are not run. */
const isServers = (file) => file.startsWith('test/postgres/');

/** `passed`, `failed` (by a named test), `late` or `broken` (no test was run). */
async function test(files, seconds) {
  const servers = files.filter(isServers);
  const others = files.filter((file) => !isServers(file));
  const first = others.length > 0 ? await testBy([], others, seconds) : { end: 'passed' };
  if (first.end !== 'passed' || servers.length === 0) return first;
  return testBy(['--config', 'vitest.postgres.config.ts'], servers, seconds);
}
function testBy(config, files, seconds) {
  return new Promise((done) => {
    const words = ['run', ...config, ...files, '--bail', '1', '--maxWorkers=1', '--reporter=json'];
    running = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...words], {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    let late = false;
    running.stdout.on('data', (part) => {
      text += part;
    });
    const timer = setTimeout(() => {
      late = true;
      end();
    }, 1000 * seconds);
    running.on('close', (code) => {
      clearTimeout(timer);
      running = undefined;
      if (late) return done({ end: 'late' });
      if (code === 0) return done({ end: 'passed' });
      done(failureIn(text));
    });
  });
}

function failureIn(text) {
  try {
    const { testResults } = JSON.parse(text.slice(text.indexOf('{"numTotalTestSuites"')));
    for (const { name, assertionResults, status, message } of testResults) {
      const by = name.slice(root.length + 1);
      const failed = assertionResults.find((r) => r.status === 'failed');
      if (failed) return { end: 'failed', by, title: failed.fullName };
      // A file whose own top level throws has failed as a test; one that cannot be loaded has not.
      if (status === 'failed' && !/transform|parse|resolve|not found/i.test(message ?? ''))
        return { end: 'failed', by, title: (message ?? '').split('\n')[0] };
    }
  } catch {}
  return { end: 'broken' };
}

const started = Date.now();
const since = (from) => ((Date.now() - from) / 1000).toFixed(0).padStart(4);
const files = [...new Set(chosen.flatMap(({ tests }) => tests))].sort();
const control = await test(files, 10 * Number(asked.seconds));
if (control.end !== 'passed') refuse(`The tests do not pass without a mutant (${control.end} ${control.by ?? ''} ${control.title ?? ''}).`);
console.log(`${since(started)} s  control    ${files.length} test files pass`);

const survivors = [];
for (const { name, file, from, to, tests } of chosen) {
  const at = Date.now();
  const text = textOf(file);
  changed = { file, text };
  writeFileSync(join(root, file), text.replace(from, () => to));
  const { end: how, by, title } = await test(tests, Number(asked.seconds));
  restore();
  const killed = how === 'failed';
  if (!killed) survivors.push(name);
  console.log(`${since(at)} s  ${killed ? 'killed  ' : 'SURVIVED'}   ${name.padEnd(34)} ${killed ? `${by}: ${title}` : how}`);
}
console.log(`${chosen.length - survivors.length} of ${chosen.length} mutants killed${survivors.length > 0 ? `; not ${survivors.join(', ')}` : ''}`);
process.exitCode = survivors.length > 0 ? 1 : 0;
