/**
 * Writes docs/reference/api.md (the exports of src/index.ts, with comment, signature and example) and docs/reference/queries-reference.md.
 * Usage: node scripts/api.mjs [--print | --examples | --unexported]; the last two list the names that tests check.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

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

/** The fields of a zod object, as written: name, allowed values, and comment. */
function fields(text, name) {
  const at = new RegExp(`(?:const ${name}|\\b${name}:?)(?: =)? ?(?:z\\.(?:strictO|o)bject\\()?\\{`).exec(text);
  if (!at) return [];
  const start = at.index + at[0].length;
  const list = [];
  let depth = 0;
  let from = start;
  for (let i = start; i < text.length && depth >= 0; i++) {
    const c = text[i];
    if (text.startsWith('/**', i)) i = text.indexOf('*/', i) + 1;
    else if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) depth--;
    if ((c === ',' && depth === 0) || depth < 0) {
      list.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  return list.filter((entry) => entry !== '').flatMap((entry) => {
    const [, comment = '', rest] = /^((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?)([\s\S]*)$/.exec(entry);
    if (rest.startsWith('...')) return fields(text, rest.slice(3).trim());
    const [, field, form] = /^(\w+)(?::\s*([\s\S]*))?$/.exec(rest) ?? [];
    return field ? [{ field, form: form ?? field, about: clean(comment.trim()).replaceAll('\n', ' ') }] : [];
  });
}

const forms = [
  [/^z\s*\.strictObject\(\{([^}]*)\}/, (m) => `{ ${[...m[1].matchAll(/(\w+):/g)].map((x) => x[1]).join(', ')} }`],
  [/z\.enum\(\[([^\]]*)\]\)/, (m) => m[1].replaceAll("'", '').replaceAll(', ', ' \\| ')],
  [/z\.literal\(true\)/, () => 'true'],
  [/z\.union\(\[z\.literal\('all'\)/, () => 'list of texts \\| "all"'],
  [/amountShape/, () => 'number or text'],
  [/z\.array\(amountShape\)/, () => 'list of numbers or texts'],
  [/everyTable/, () => 'list of tables'],
  [/z\.array\(conditionForm\)/, () => 'list of conditions'],
  [/z\.array\(z\.string|z\.array\(columnNameForm|z\s*\.array\(z\.union\(\[z\.string|boundedList\(codeForm/, () => 'list of texts'],
  [/numbers|z\.array\(z\.number|boundedList\(z\.number/, () => 'list of numbers'],
  [/z\.tuple/, () => 'two texts'],
  [/z\.record/, () => 'numbers by name'],
  [/progressShape/, () => 'function (done, total)'],
  [/z\.boolean/, () => 'boolean'],
  [/z\.number|integerBetween\(|whole\(|above\(|size/, () => 'number'],
  [/z\.union\(\[z\.string\(\), z\.number|literal/, () => 'number or text'],
  [/z\.string|columnName|title|witness|reason|code|z\.custom/, () => 'text'],
];
function formText(form) {
  const array = /z\.array\(amountShape\)/.test(form) ? 'list of numbers or texts' : undefined;
  const [pattern, say] = forms.find(([p]) => p.test(form)) ?? [/$/, () => ''];
  const shown = array ?? say(pattern.exec(form));
  const standard = (/^z\s*\.strictObject/.test(form) ? undefined : /\.default\(([^)]*)\)/.exec(form)?.[1])?.replaceAll("'", '');
  const optional = /\.optional\(\)|\.default\(|^delta$|^witness$/.test(form);
  return `${shown}${standard && !/[{[]/.test(standard) ? `, ${standard} when absent` : optional ? ', optional' : ''}`;
}
const table = (list) =>
  list.length === 0 ? '' : `| field | form | |\n|---|---|---|\n${list.map((f) => `| \`${f.field}\` | ${formText(f.form)} | ${f.about} |`).join('\n')}\n`;

/** Options are declared as zod objects and documented as a table. */
function optionsTable({ file, text }) {
  const schema = /typeof (\w+)/.exec(text)?.[1];
  return schema ? table(fields(read(file), schema)) : '';
}

const kindFiles = () => [...read('src/app/api/kinds.ts').matchAll(/await import\('\.\/kinds\/([^']*)\.js'\)\)\.(\w+)/g)].map(([, file, name]) => ({ name, file: `src/app/api/kinds/${file}.ts` }));

function questions() {
  return kindFiles()
    .map(({ name, file }) => {
      const text = read(file);
      const { about } = declared({ name, file });
      const [, said] = /hint: '([^']*)'/.exec(text);
      // An analysis has an entry point of its own, without the field that its request comes in.
      const hint = /question: z\.strictObject\(\{ \w+: (request|\w+Schema) \}\)/.test(text) && !said.includes(`"${name}"`) ? said.replace(/^Write (.*)\.$/, `Write {"${name}": $1}.`) : said;
      const [, form, from] = /import \{[^}]*\b(\w+Schema)\b[^}]*\} from '((?:\.\.\/)+[^']*)\.js'/.exec(text) ?? [];
      const own = from ? fields(read(`${posix.join(posix.dirname(file), from)}.ts`), form) : fields(text, /const request = /.test(text) ? 'request' : 'question');
      return `### ${name}\n\n${about}\n\n${hint}\n\n${table(own)}`;
    })
    .join('\n');
}

/** Kinds of queries in the order in which they are imported, each with its file and the name of its schema there. */
const queryKindFiles = () =>
  [...read('src/query/kinds.ts').matchAll(/import \{ ([^}]*) \} from '\.\/kinds\/([^']*)\.js'/g)].flatMap(([, names, file]) =>
    names.split(', ').map((kind) => {
      const name = kind.replace(/Kind$/, '');
      return { name, file, schema: names.includes(',') ? `${name}Schema` : 'schema' };
    }),
  );

function queries() {
  const shared = table(fields(read('src/query/form.ts'), 'commonFields'));
  const kinds = queryKindFiles().map(({ name, file, schema }) => {
      const own = fields(read(`src/query/kinds/${file}.ts`), schema).filter((f) => f.field !== 'kind' && !['name', 'where', 'by', 'weight'].includes(f.field));
      return `- \`{ kind: '${name}'${own.map((f) => `, ${f.field}${/optional/.test(f.form) ? '?' : ''}`).join('')} }\``;
  });
  return `Every query is one of\n\n${kinds.join('\n')}\n\nand may say\n\n${shared}`;
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
    const options = /z\.(input|output)</.test(d.text) ? optionsTable(d) : '';
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
  const sections = queryKindFiles().map(({ name, file, schema }) => {
    const page = read(`docs/reference/queries/${name}.md`);
    const about = page.split('\n\n')[1].trim();
    const [, policy, example] = /```json (\S+)\n([\s\S]*?)\n```/.exec(page);
    const own = fields(read(`src/query/kinds/${file}.ts`), schema).filter((f) => f.field !== 'kind' && !['name', 'where', 'by', 'weight', 'from', 'derive'].includes(f.field));
    const weighted = weightless.includes(name) ? undefined : JSON.stringify({ ...JSON.parse(example), weight: 'w' }).replaceAll('":', '": ').replaceAll(',"', ', "');
    return [
      `## ${name}`,
      `${about} [More](queries/${name}.md).`,
      table(own),
      `\`\`\`json ${policy}\n${example}\n\`\`\``,
      weighted && `\`\`\`json weighted\n${weighted}\n\`\`\``,
      inSql[name] && `\`\`\`sql\n${inSql[name]}\n\`\`\``,
    ].filter(Boolean).join('\n\n');
  });
  return `${[
    '# Every query on one page',
    '<!-- Written by scripts/api.mjs from the schemas and docs/reference/queries: change it there. -->',
    'JSON, the same with weights (`w`: a column of `type: weight`) where they may stand, and SQL where it says the same. Every query may also say:',
    table(fields(read('src/query/form.ts'), 'commonFields')),
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
