/**
 * Follows one release through the folders: files entered, and changes of folder, in the order in which functions are first called.
 * `npm run walk` (after `npm run build`); `--list` names the files; `--dist DIR` walks another build.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '..');
const { values: options } = parseArgs({ options: { dist: { type: 'string' }, list: { type: 'boolean' }, json: { type: 'boolean' }, write: { type: 'boolean' }, check: { type: 'boolean' }, whole: { type: 'boolean' } } });
const dist = resolve(options.dist ?? join(root, 'dist'));
const place = mkdtempSync(join(tmpdir(), 'fugu-walk-'));

let places = 0;
const example = (name) => {
  const to = join(place, `${name}-${places++}`);
  cpSync(join(root, 'examples', name), to, { recursive: true });
  rmSync(join(to, '.fugu'), { recursive: true, force: true });
  return to;
};

function points() {
  const to = join(place, 'points');
  mkdirSync(to);
  const rows = Array.from({ length: 400 }, (_, i) => `${(i * 37) % 100},${(i * 53) % 100}`);
  writeFileSync(join(to, 'points.csv'), `x,y\n${rows.join('\n')}\n`);
  writeFileSync(
    join(to, 'policy.yaml'),
    `data: { source: points.csv }
protect: { secret: row }
budget: { epsilon: 4 }
population: points
columns:
  x: { type: integer, bounds: [0, 99] }
  y: { type: integer, bounds: [0, 99] }
dependence: none
`,
  );
  return to;
}

const walks = {
  survey: [example('household-survey'), ['release', 'policy.yaml', '--survey']],
  'SQL histogram with households': [
    example('household-survey'),
    ['release', 'policy.yaml', '--sql', 'SELECT vote, COUNT(*) FROM survey GROUP BY vote'],
  ],
  triangles: [example('friends'), ['release', 'policy.yaml', '--pattern', 'triangles']],
  'k-means': [points(), ['release', 'policy.yaml', '--kmeans', '{"columns":["x","y"],"clusters":3}']],
};

const room = (file) => file.split('/')[0];
const changes = (list) => list.reduce((n, file, i) => n + Number(i > 0 && room(file) !== room(list[i - 1])), 0);

function walk([cwd, command]) {
  const out = join(place, 'walk.json');
  const run = ['--import', join(import.meta.dirname, 'walk-register.mjs'), join(dist, 'app', 'cli', 'main.js'), ...command];
  execFileSync(process.execPath, run, { cwd, env: { ...process.env, FUGU_REGISTRY: 'off', WALK_DIST: dist, WALK_OUT: out }, stdio: ['ignore', 'ignore', 'inherit'] });
  const all = JSON.parse(readFileSync(out, 'utf8'));
  const from = all.findIndex(([file, name]) => /^(release|analysis|app\/api)\//.test(file) && /^release/.test(name));
  const entered = all.slice(options.whole ? 0 : from).map(([file]) => file);
  const files = [...new Set(entered)];
  return { files, rooms: new Set(files.map(room)).size, byFile: changes(files), byFunction: changes(entered), functions: entered.length };
}

const figuresOf = {};
try {
  for (const [name, what] of Object.entries(walks)) {
    const { files, ...figures } = walk(what);
    figuresOf[name] = { files: files.length, ...figures, ...(options.list && { list: files }) };
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
/** The table of docs/explanation/architecture.md, written (`--write`) or compared (`--check`). */
function keepTable() {
  const page = join(root, 'docs', 'explanation', 'architecture.md');
  const text = readFileSync(page, 'utf8');
  const rows = Object.entries(figuresOf).map(([name, { files, byFile, byFunction }]) => `| ${name} | ${files} | ${byFile} | ${byFunction} |`);
  const next = text.replace(/(\| release \| files \|[^\n]*\n\|[-:|]*\n)(?:\|[^\n]*\n)*/, (_, head) => `${head}${rows.join('\n')}\n`);
  if (options.write) writeFileSync(page, next);
  else if (next !== text) {
    console.error('The walk table of docs/explanation/architecture.md is not what the build does: node scripts/walk.mjs --write');
    process.exitCode = 1;
  }
}
if (options.write || options.check) keepTable();
if (options.json) console.log(JSON.stringify(figuresOf));
else
  for (const [name, { files, rooms, byFile, byFunction, functions, list }] of Object.entries(figuresOf)) {
    console.log(`${name}: ${files} files in ${rooms} areas; the area changes ${byFile} times by file, ${byFunction} times over ${functions} functions`);
    for (const file of list ?? []) console.log(`  ${file}`);
  }
