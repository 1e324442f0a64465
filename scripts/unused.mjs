// Finds files, exports and packages that nothing uses, and imported packages that are not declared; fails if there are any.
// Usage: node scripts/unused.mjs [FOLDER (report only this folder)] [--tests (also product exports that only tests use)]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src', 'console', 'bench', 'experiments', 'examples', 'scripts', 'test'];

/** Files that are started by name rather than imported. */
const isEntry = (file) =>
  [
    'src/index.ts', 'src/app/client/client.ts', 'src/app/cli/main.ts', 'vitest.config.ts', 'test/postgres/server.ts', 'test/cluster/server.ts',
    'test/browser/chromium.ts', 'test/seed.ts', 'console/main.tsx', 'console/docs.d.ts', 'console/vite.config.mjs',
  ].includes(file) ||
  /^src\/.*\/(chunk-worker|child-main)\.ts$/.test(file) ||
  /^(bench|experiments|test\/transcripts)\/main\.ts$/.test(file) ||
  /^(examples|scripts)\/.*\.(ts|mjs)$/.test(file);
const isTest = (file) => /\.test\.ts$/.test(file) || file.startsWith('test/');
/**
 * Tests on a server have a configuration of their own (vitest.postgres.config.ts, vitest.cluster.config.ts,
 * vitest.browser.config.ts).
 */
const isTestEntry = (file) =>
  /\.(test|spec)\.ts$/.test(file) || /^test\/.*\.mjs$/.test(file);

/** The source behind a path, which may name what is built from it; undefined for a package. */
function targetOf(file, path) {
  if (!/^[./]/.test(path)) return undefined;
  const plain = normalize(join(dirname(file), path)).replace(/^dist\//, 'src/');
  return /\.js$/.test(plain) ? plain.replace(/\.js$/, '.ts') : plain;
}

const isNode = (value) => value !== null && typeof value === 'object' && typeof value.type === 'string';

/** Every node below one, with its parent. */
function* walk(node, parent) {
  yield [node, parent];
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* walk(child, node);
}

const named = ({ type, name, value }) => (type === 'Literal' ? value : name);
const bound = (pattern) =>
  pattern.type === 'ObjectPattern'
    ? pattern.properties.flatMap((p) => bound(p.value ?? p.argument))
    : pattern.type === 'ArrayPattern'
      ? pattern.elements.flatMap((e) => (e ? bound(e) : []))
      : [pattern.name];

/** Names exported by an export statement, each with its local name, and whether it is a type. */
function exportsOf({ type, declaration, specifiers, source, exportKind }) {
  const isType = exportKind === 'type' || /^TS(Interface|TypeAlias)/.test(declaration?.type ?? '');
  if (type === 'ExportDefaultDeclaration') return [['default', undefined, false]];
  if (declaration?.type === 'VariableDeclaration')
    return declaration.declarations.flatMap((d) => bound(d.id)).map((name) => [name, name, false]);
  if (declaration) return [[declaration.id.name, declaration.id.name, isType]];
  return (specifiers ?? []).map((s) => [named(s.exported), source ? undefined : named(s.local), isType]);
}

/** Exports, imports and mentions of one file. `uses` pairs a path with one of its names, '*' for all and '' for none. */
export function readModule(file, text) {
  const { body } = parseAst(text, { lang: /\.tsx?$/.exec(file)?.[0].slice(1) ?? 'js' }, file);
  const gives = [];
  const uses = [];
  const mentions = new Map();
  for (const statement of body) {
    const path = statement.source?.value;
    if (statement.type === 'ImportDeclaration') {
      if (statement.specifiers.length === 0) uses.push([path, '']);
      for (const s of statement.specifiers)
        uses.push([path, s.type === 'ImportSpecifier' ? named(s.imported) : s.type === 'ImportDefaultSpecifier' ? 'default' : '*']);
    } else if (statement.type === 'ExportAllDeclaration') uses.push([path, '*']);
    else if (/^Export/.test(statement.type)) {
      if (path !== undefined) for (const s of statement.specifiers) uses.push([path, named(s.local)]);
      gives.push(...exportsOf(statement));
    }
  }
  for (const [node, parent] of walk({ type: 'Program', body }, undefined)) {
    if (node.type === 'Identifier' || node.type === 'JSXIdentifier') mentions.set(node.name, (mentions.get(node.name) ?? 0) + 1);
    if (node.type === 'TSImportType') uses.push([node.source.value, node.qualifier?.name ?? '*']);
    if (node.type === 'ImportExpression' && node.source.type === 'Literal') uses.push([node.source.value, '*']);
    if (node.type === 'CallExpression' && node.callee.name === 'loadSources')
      for (const { type, value } of node.arguments) if (type === 'Literal') uses.push([`../src/${value}`, '*']);
    if (node.type === 'VariableDeclarator' && node.init?.type === 'AwaitExpression') {
      const taken = node.init.argument;
      if (taken.type === 'ImportExpression' && taken.source.type === 'Literal' && node.id.type === 'ObjectPattern')
        uses.push(...node.id.properties.map((p) => [taken.source.value, named(p.key), 'only']));
    }
    if (node.type === 'NewExpression' && node.callee.name === 'URL' && /^\..*\.m?[jt]s$/.test(node.arguments[0]?.value ?? ''))
      uses.push([node.arguments[0].value, '']);
  }
  // A destructured `await import()` uses the names it lists, not all of them.
  const only = new Set(uses.filter((u) => u[2] === 'only').map(([path]) => path));
  return { gives, mentions, uses: uses.filter(([path, name, kind]) => kind === 'only' || name !== '*' || !only.has(path)) };
}

const packageOf = (path) => path.split('/').slice(0, path.startsWith('@') ? 2 : 1).join('/');

/** All problems, as [place, text]. `files` maps a path from the root to its text. */
export function unused(files, manifest, { tests = false } = {}) {
  const modules = new Map([...files].map(([file, text]) => [file, readModule(file, text)]));
  const usesOf = (file) =>
    modules.get(file).uses.flatMap(([path, name]) => {
      const target = targetOf(file, path);
      return target === undefined ? [] : [[target, name]];
    });
  const reach = (entries) => {
    const seen = new Set(entries);
    for (const file of seen) for (const [target] of usesOf(file)) if (modules.has(target)) seen.add(target);
    return seen;
  };
  const all = [...modules.keys()];
  const needed = reach(all.filter(isEntry));
  const tested = reach(all.filter((f) => isEntry(f) || isTestEntry(f)));
  const takers = new Map();
  for (const file of all)
    for (const [target, name] of usesOf(file)) {
      const key = `${target} ${name}`;
      takers.set(key, [...(takers.get(key) ?? []), file]);
    }
  const found = [];
  for (const [file, { gives, mentions }] of modules) {
    if (!tested.has(file)) found.push([file, 'nobody reaches this file']);
    else if (!needed.has(file) && !isTest(file)) found.push([file, 'only tests reach this file']);
    if (isEntry(file) || !tested.has(file)) continue;
    for (const [name, inside, isType] of gives) {
      const by = [...(takers.get(`${file} ${name}`) ?? []), ...(takers.get(`${file} *`) ?? [])];
      const here = inside !== undefined && mentions.get(inside) > 1;
      if (by.length === 0) {
        if (!here) found.push([file, `${name} is not used`]);
        else if (!isType) found.push([file, `${name} is exported and used here only`]);
      } else if (tests && !here && needed.has(file) && !isTest(file) && by.every(isTest))
        found.push([file, `only tests use ${name}`]);
    }
  }
  return [...found, ...packages(modules, manifest)];
}

/**
 * Declared and imported packages must be the same; command-line tools are named in the scripts,
 * types by the package they type.
 */
function packages(modules, { dependencies, devDependencies, scripts, overrides }) {
  const imported = new Map();
  for (const [file, { uses }] of modules)
    for (const [path] of uses)
      if (/^[a-z@]/.test(path) && !/^(node|virtual):/.test(path) && !builtinModules.includes(path))
        imported.set(packageOf(path), [...(imported.get(packageOf(path)) ?? []), file]);
  const words = Object.values(scripts).join(' ');
  const tools = { typescript: 'tsc ', '@biomejs/biome': 'biome ', '@types/node': '', '@types/pg': '' };
  const declared = { ...dependencies, ...devDependencies };
  const found = [];
  for (const name of Object.keys(declared))
    if (!imported.has(name) && !(name in tools && words.includes(tools[name])))
      found.push(['package.json', `${name} is declared and not used`]);
  for (const [name, files] of imported) {
    const ships = files.find((f) => f.startsWith('src/') && !isTest(f));
    if (ships && !(name in dependencies)) found.push([ships, `imports ${name}, which is no dependency`]);
    else if (!(name in declared) && !(name in overrides) && name !== 'fugu')
      found.push([files[0], `imports ${name}, which is not declared`]);
  }
  return found;
}

/** The sources of the project, by their path from its root. */
export function sources() {
  const found = new Map();
  for (const folder of folders)
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
      if (/\.(tsx?|mjs)$/.test(name)) {
        const path = join(root, folder, name);
        found.set(relative(root, path).replaceAll('\\', '/'), readFileSync(path, 'utf8'));
      }
  if (existsSync(join(root, 'vitest.config.ts')))
    found.set('vitest.config.ts', readFileSync(join(root, 'vitest.config.ts'), 'utf8'));
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const places = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const found = unused(sources(), manifest, { tests: process.argv.includes('--tests') }).filter(([file]) => places.length === 0 || places.some((p) => file.startsWith(p)));
  process.stdout.write(found.length === 0 ? 'nothing is unused\n' : `${found.map(([file, words]) => `${file}: ${words}`).join('\n')}\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
