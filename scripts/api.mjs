/**
 * Writes docs/reference/api.md (the exports of src/index.ts, with comment, signature and example) and docs/reference/queries-reference.md.
 * Usage: node scripts/api.mjs [--print | --examples | --unexported]; the last two list the names that tests check.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadSources } from './load.mjs';

const root = resolve(import.meta.dirname, '..');
const read = (file) => readFileSync(join(root, file), 'utf8');

/** Every name that is exported, the file it comes from, and whether it is a type. */
function exported() {
  return [...read('src/index.ts').matchAll(/export (type )?\{([^}]*)\} from '\.\/([^']*)\.js'/g)].flatMap(([, typeOnly, names, file]) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name) => ({ name: name.replace(/^type /, ''), file: `src/${file}.ts`, isType: Boolean(typeOnly) || name.startsWith('type ') })),
  );
}

const clean = (comment) =>
  comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();

/** A declaration as written: comment, example and text. */
function declared({ name, file }) {
  const text = read(file);
  const found = new RegExp(`((?:/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\s*\\n)?)export (?:declare )?(?:async )?(function|interface|type|class|const|let) ${name}\\b`).exec(text);
  if (!found) {
    const from = new RegExp(`export (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '([^']*)'`).exec(text);
    return from ? declared({ name, file: join(file, '..', from[1].replace(/\.js$/, '.ts')) }) : undefined;
  }
  const [about, example] = clean(found[1].trim()).split(/\n?@example\n/);
  return { name, file, kind: found[2], about: about.replaceAll(/\s*\n(?!\n)/g, ' ').trim(), example, text: body(text, found.index + found[1].length, found[2]) };
}

/** Up to where the signature, or the whole of a type, ends. */
function body(text, start, kind) {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text.startsWith('/*', i)) i = text.indexOf('*/', i) + 2;
    if (text.startsWith('//', i)) i = text.indexOf('\n', i);
    const c = text[i];
    if ('([{<'.includes(c)) {
      if (c === '{' && depth === 0 && kind === 'function') return text.slice(start, i).trim();
      depth++;
    }
    if (')]}'.includes(c) || (c === '>' && text[i - 1] !== '=')) depth--;
    if (depth === 0 && ((c === '}' && (kind === 'interface' || kind === 'class')) || c === ';')) return text.slice(start, i + 1);
  }
  return text.slice(start);
}

/** Comments of the fields of a zod object, for rooms that describe their fields in comments. */
const commentsIn = (file) =>
  [...read(file).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(\w+)(?::|,)/g)].map(([, text, field]) => ({ field, about: clean(`/**${text}*/`).replaceAll('\n', ' ') }));

/** Files of the kinds of questions, each with the name of its kind. */
const kindFiles = () => [...read('src/app/api/kinds.ts').matchAll(/await import\('\.\/kinds\/([^']*)\.js'\)\)\.(\w+)/g)].map(([, file, name]) => ({ name, file: `src/app/api/kinds/${file}.ts` }));
const requestFiles = readdirSync(join(root, 'src/app/api')).filter((file) => /^[\w-]+\.ts$/.test(file) && read(`src/app/api/${file}`).includes('defineRequest('));
const [{ requests }, { queryKinds }, { commonFields }, ...modules] = await loadSources(
  'app/api/request.ts', 'query/kinds.ts', 'query/form.ts', ...kindFiles().map(({ file }) => file.slice('src/'.length)), ...requestFiles.map((file) => `app/api/${file}`),
);


/** Fields of a zod object: name, form in words, and description; `comments` has those of rooms that describe their fields in comments. */
const fieldsOf = (schema, comments = []) =>
  Object.entries(schema.shape).map(([field, form]) => ({
    field,
    form: formOf(form),
    about: form.description ?? comments.find((c) => c.field === field)?.about ?? '',
  }));

/** What a schema takes, in words. */
function formOf(schema) {
  const { def } = schema;
  if (def.type === 'default') return `${plainForm(def.innerType)}${typeof def.defaultValue === 'object' ? ', optional' : `, ${def.defaultValue} when absent`}`;
  return `${plainForm(schema)}${schema.safeParse(undefined).success && def.type !== 'unknown' ? ', optional' : ''}`;
}

/** Forms of a union: numbers first, and many objects in one word. */
function unionForm(forms) {
  const objects = forms.filter((form) => form.startsWith('{'));
  const shown = objects.length > 2 ? [...forms.filter((form) => !form.startsWith('{')), 'object'] : forms;
  return [...new Set(shown)].sort((a, b) => (b === 'number') - (a === 'number')).join(' or ');
}

function severalOf(schema) {
  const form = plainForm(schema);
  return { text: 'texts', number: 'numbers', 'number or text': 'numbers or texts', object: 'objects' }[form] ?? (/ by name$/.test(form) ? 'objects' : form);
}

function plainForm(schema) {
  const { def } = schema;
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'readonly':
      return plainForm(def.innerType);
    case 'pipe':
      return plainForm(def.in);
    case 'lazy':
      return plainForm(def.getter());
    case 'literal':
      return def.values.map((value) => JSON.stringify(value)).join(' \\| ');
    case 'enum':
      return Object.values(def.entries).join(' \\| ');
    case 'string':
      return 'text';
    case 'nan':
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return def.type;
    case 'array':
      return `list of ${severalOf(def.element)}`;
    case 'tuple':
      return `two ${severalOf(def.items[0])}`;
    case 'record':
      return `${severalOf(def.valueType)} by name`;
    case 'object':
      return `{ ${Object.keys(schema.shape).join(', ')} }`;
    case 'union':
      return unionForm(def.options.map(plainForm));
    case 'custom':
      if (schema.safeParse('x').success) return 'text';
      return schema.safeParse(() => undefined).success ? 'function' : 'anything';
    default:
      return 'anything';
  }
}

const table = (list) =>
  list.length === 0 ? '' : `| field | form | |\n|---|---|---|\n${list.map((f) => `| \`${f.field}\` | ${f.form} | ${f.about} |`).join('\n')}\n`;


function questions() {
  return kindFiles()
    .map(({ name, file }, k) => {
      const { question, hint: said } = modules[k][name];
      const { shape } = question;
      // The field that names a kind may hold the whole request; the hint then shows what is in it.
      const request = shape?.[name]?.shape ? shape[name] : undefined;
      const hint = request && Object.keys(shape).length === 1 && !said.includes(`"${name}"`) ? said.replace(/^Write (.*)\.$/, `Write {"${name}": $1}.`) : said;
      const [, form] = /import \{[^}]*\b\w+Schema\b[^}]*\} from '((?:\.\.\/)+[^']*)\.js'/.exec(read(file)) ?? [];
      const own = shape ? fieldsOf(request ?? question, form ? commentsIn(`${posix.join(posix.dirname(file), form)}.ts`) : []) : [];
      return `### ${name}\n\n${declared({ name, file }).about}\n\n${hint}\n\n${table(own)}`;
    })
    .join('\n');
}

const sharedComments = commentsIn('src/query/form.ts');
const sharedFields = () => fieldsOf({ shape: commonFields }, sharedComments);
/** Fields of a kind of query, without those that every query has. */
const ownFields = ({ name, file, schema }) =>
  fieldsOf(schema, commentsIn(`src/query/kinds/${file}.ts`)).filter(({ field }) => field !== 'kind' && !Object.hasOwn(commonFields, field));
/** Kinds of queries in the order in which they are imported, each with its file and its schema. */
const kindsOfQueries = () =>
  [...read('src/query/kinds.ts').matchAll(/import \{ ([^}]*) \} from '\.\/kinds\/([^']*)\.js'/g)].flatMap(([, names, file]) =>
    names.split(', ').map((kind) => ({ name: kind.replace(/Kind$/, ''), file, schema: queryKinds[kind.replace(/Kind$/, '')].schema })),
  );

function queries() {
  const kinds = kindsOfQueries().map(
    (kind) => `- \`{ kind: '${kind.name}'${ownFields(kind).map(({ field, form }) => `, ${field}${/, optional| when absent/.test(form) ? '?' : ''}`).join('')} }\``,
  );
  return `Every query is one of\n\n${kinds.join('\n')}\n\nand may say\n\n${table(sharedFields())}`;
}

function document() {
  const list = exported().map((e) => ({ ...e, ...declared(e) }));
  const missing = list.filter(({ kind }) => !kind).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`no declaration found: ${missing.join(', ')}`);
  const functions = list.filter(({ isType, kind }) => !isType && kind === 'function').sort((a, b) => (a.name === 'open' ? -1 : b.name === 'open' ? 1 : a.name.localeCompare(b.name, 'en')));
  const others = list.filter(({ isType, kind }) => !isType && kind !== 'function');
  const types = list.filter(({ isType }) => isType).sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const section = (d) =>
    [`### ${d.name}`, d.about, `\`\`\`ts\n${d.text.replace(/^export /, '')}\n\`\`\``, d.example && `\`\`\`js\n${d.example}\n\`\`\``].filter(Boolean).join('\n\n');
  const type = (d) => {
    const options = requests.has(d.name) ? table(fieldsOf(requests.get(d.name))) : '';
    return [`### ${d.name}`, d.about, options || `\`\`\`ts\n${d.text.replace(/^export /, '')}\n\`\`\``].filter(Boolean).join('\n\n');
  };
  return `${[
    '# The library',
    '<!-- Written by scripts/api.mjs from the sources: change it there. -->',
    'Everything the command line does, as functions over plain data. Whatever goes wrong, also a wrong argument, is a `Fault`: a code, a sentence and a hint.\nWhere people write numbers, a number and the text it prints as are the same: `0.5`, `"0.5"`; fractions are texts: `"1/3"`.',
    '## Functions',
    ...functions.map(section),
    '## Questions',
    'What `plan` and `release` take: one query, a list of them, `{ queries: [...] }`, or an object with one of these fields.',
    questions(),
    '### The queries',
    queries(),
    '## Faults',
    ...others.map(section),
    '## Types',
    ...types.map(type),
  ].join('\n\n').replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
}

/** The same question in SQL, where SQL can say it. */
const inSql = {
  count: 'SELECT vote, COUNT(*) FROM survey WHERE age > 30 GROUP BY vote',
  histogram: 'SELECT vote, COUNT(*) FROM survey GROUP BY vote',
  crosstab: 'SELECT vote, insured, COUNT(*) FROM survey GROUP BY vote, insured',
  sum: 'SELECT SUM(age) FROM survey',
  mean: 'SELECT AVG(age) FROM survey',
  variance: 'SELECT VARIANCE(age), STDDEV(age) FROM survey',
  quantile: 'SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age), MEDIAN(age) FROM survey',
  share: 'SELECT 100.0 * COUNT(*) FILTER (WHERE vote = 1) / COUNT(vote) AS percent FROM survey',
  distinct: 'SELECT COUNT(DISTINCT trust) FROM survey',
  formula: 'SELECT SUM(age) / COUNT(age) AS mean FROM survey',
};
const weightless = ['cdf', 'ranges', 'quantile', 'distinct', 'compare', 'independence'];

/** Every kind of query on one page: its fields, from the schemas, and examples that test/queries-reference.test.ts runs. */
function reference() {
  const sections = kindsOfQueries().map((kind) => {
    const { name } = kind;
    const page = read(`docs/reference/queries/${name}.md`);
    const about = page.split('\n\n')[1].trim();
    const [, policy, example] = /```json (\S+)\n([\s\S]*?)\n```/.exec(page);
    const weighted = weightless.includes(name) ? undefined : JSON.stringify({ ...JSON.parse(example), weight: 'w' }).replaceAll('":', '": ').replaceAll(',"', ', "');
    return [
      `## ${name}`,
      `${about} [More](queries/${name}.md).`,
      table(ownFields(kind)),
      `\`\`\`json ${policy}\n${example}\n\`\`\``,
      weighted && `\`\`\`json weighted\n${weighted}\n\`\`\``,
      inSql[name] && `\`\`\`sql\n${inSql[name]}\n\`\`\``,
    ].filter(Boolean).join('\n\n');
  });
  return `${[
    '# Every query on one page',
    '<!-- Written by scripts/api.mjs from the schemas and docs/reference/queries: change it there. -->',
    'JSON, the same with weights (`w`: a column of `type: weight`) where they may stand, and SQL where it says the same. Every query may also say:',
    table(sharedFields()),
    ...sections,
  ].join('\n\n').replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
}

/** The examples of the functions. */
const examples = () =>
  exported()
    .map((e) => ({ ...e, ...declared(e) }))
    .filter(({ isType, kind }) => !isType && kind === 'function')
    .map(({ name, example }) => ({ name, example }));

/** Types that the library uses in declarations and does not export, with the declarations that use them. */
function unexported() {
  const list = exported().map((e) => ({ ...e, ...declared(e) }));
  const names = new Set(list.map(({ name }) => name));
  return list.flatMap(({ name, file, text }) => {
    const words = text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '').replaceAll(/'[^']*'/g, '');
    const spoken = new Set([...words.matchAll(/\b[A-Z]\w*\b(?!\[)/g)].map(([word]) => word));
    const source = read(file);
    const elsewhere = (word) => new RegExp(`import [^;]*\\b${word}\\b[^;]*;|export (?:type|interface|class) ${word}\\b`).test(source);
    return [...spoken].filter((word) => !names.has(word) && elsewhere(word)).map((word) => `${name}: ${word}`);
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , wanted] = process.argv;
  if (wanted === '--examples') console.log(JSON.stringify(examples()));
  else if (wanted === '--unexported') console.log(JSON.stringify(unexported()));
  else if (wanted === '--print') process.stdout.write(document());
  else if (wanted === '--print-queries') process.stdout.write(reference());
  else {
    writeFileSync(join(root, 'docs/reference/api.md'), document());
    writeFileSync(join(root, 'docs/reference/queries-reference.md'), reference());
  }
}
