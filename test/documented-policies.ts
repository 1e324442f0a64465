import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';

const root = join(import.meta.dirname, '..');
const people = 60;

/** A policy of the documentation or the examples, in a folder with data that fits it. */
export interface DocumentedPolicy {
  readonly name: string;
  readonly file: string;
}

type Entry = Record<string, unknown>;
type Columns = Record<string, Entry>;

/** Columns that pages name without declaring them. */
const usual: Columns = {
  ill: { type: 'category', values: ['no', 'yes'] },
  party: { type: 'category', values: ['left', 'right'] },
  region: { type: 'category', values: ['north', 'south', 'west'] },
  country: { type: 'category', values: ['here', 'there'] },
  sex: { type: 'category', values: ['f', 'm'] },
  sector: { type: 'category', values: ['1', '2', '3', '4'] },
  ward: { type: 'category', values: ['w1', 'w2', 'w3'] },
  illness: { type: 'category', values: ['1', '2', '3'] },
  served: { type: 'category', values: ['1', '2'] },
  branch: { type: 'category', values: ['a', 'b'] },
  years: { type: 'category', values: ['few', 'many'] },
  age: { type: 'integer', bounds: [17, 90] },
  year: { type: 'integer', bounds: [2000, 2010] },
  children: { type: 'integer', bounds: [0, 3] },
  lat: { type: 'number', bounds: [50, 51], step: 0.01 },
  lon: { type: 'number', bounds: [10, 11], step: 0.01 },
  w: { type: 'weight', bounds: [0, 3] },
};

/** Completes policies that a page shows in part. */
const rest = {
  data: { source: 'people.csv' },
  protect: { secret: 'row', unit: 'id' },
  budget: { epsilon: 1 },
  dependence: 'none',
};

const sections = [
  'data',
  'protect',
  'budget',
  'dependence',
  'columns',
  'relations',
  'known',
  'merge',
  'design',
  'tables',
  'ledger',
];
/** Files of other commands are written in YAML, too: their tables are a list. */
const isPolicy = (shown: unknown): shown is Entry =>
  typeof shown === 'object' &&
  shown !== null &&
  Object.keys(shown).every((k) => sections.includes(k)) &&
  !Array.isArray((shown as Entry).tables);

/** Totals that a page lists are examples: each stands for itself. */
const oneByOne = (shown: Entry): readonly Entry[] =>
  Array.isArray(shown.known) ? shown.known.map((total) => ({ ...shown, known: [total] })) : [shown];

/** Every policy, or part of one, that the documentation shows, and those of the examples. */
export function documentedPolicies(): { readonly policies: readonly DocumentedPolicy[]; remove(): void } {
  const top = mkdtempSync(join(tmpdir(), 'fugu-documented-'));
  const guides = ['docs/tutorials', 'docs/how-to'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((f) => `${folder}/${f}`),
  );
  const pages = ['docs/reference/policy.md', ...guides.filter((f) => f.endsWith('.md'))];
  const found: DocumentedPolicy[] = [];
  for (const page of pages) {
    const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) =>
      parse(text!),
    );
    for (const [k, shown] of blocks.filter(isPolicy).flatMap(oneByOne).entries())
      found.push(written(top, `${basename(page, '.md')}-${k}`, shown));
  }
  for (const [name, shown] of Object.entries(ofEveryKind)) found.push(written(top, name, shown));
  const examples = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.yaml'));
  for (const example of examples) {
    const name = `example-${dirname(example)}-${basename(example, '.yaml')}`;
    cpSync(join(root, 'examples', dirname(example)), join(top, name), {
      recursive: true,
      filter: (f) => basename(f) !== '.fugu',
    });
    const text = readFileSync(join(root, 'examples', example), 'utf8');
    found.push({ name, file: write(join(top, name), `${name}.yaml`, text) });
  }
  return { policies: found, remove: () => rmSync(top, { recursive: true, force: true }) };
}

const steps = { kind: 'sequence', by: 'person', order: 'day', state: 'place', transition: 'daily.json' };
const walk = {
  data: { source: 'visits.csv' },
  budget: { epsilon: 4 },
  columns: {
    day: { type: 'integer', bounds: [1, 365], public: true },
    place: { type: 'category', values: ['home', 'work', 'shop'] },
  },
};
const friend = { friend: { table: 'friends.csv', columns: ['a', 'b'], domain: 200, symmetric: true } };
const answers = { protect: { secret: 'answer' }, columns: { ill: usual.ill!, sex: usual.sex! } };
/** Kinds of ties and privacy units that the pages name in words only. */
const ofEveryKind: Record<string, Entry> = {
  'steps-in-a-window': { ...walk, protect: { secret: 'step', window: 3 }, dependence: [steps] },
  'steps-of-persons': { ...walk, protect: { secret: 'person', unit: 'person', maxRows: 12 }, dependence: [steps] },
  'steps-without-bounds': { ...walk, protect: { secret: 'row' }, dependence: [steps], columns: { place: walk.columns.place } },
  'steps-and-homes': { ...walk, protect: { secret: 'row' }, dependence: [steps, { kind: 'groups', by: 'home', oddsRatio: 2 }] },
  'budget-per-step': { ...walk, protect: { secret: 'step' }, budget: { epsilon: 1, per: 'step' }, dependence: [steps] },
  groups: { ...rest, dependence: [{ kind: 'groups', by: 'home', oddsRatio: 4 }] },
  'groups-hidden': { ...rest, dependence: [{ kind: 'groups', by: 'home', oddsRatio: 4, hidden: true }] },
  'groups-of-some': { ...rest, dependence: [{ kind: 'groups', by: 'home', oddsRatio: 4, maxUsed: 2 }] }, // biome-ignore format: one line
  'groups-of-few': { ...rest, dependence: [{ kind: 'groups', by: 'home', oddsRatio: 4, maxSize: 5 }] },
  'ties-of-some': { ...rest, relations: friend, dependence: [{ kind: 'ties', relation: 'friend', oddsRatio: 2, maxTies: 3 }] }, // biome-ignore format: one line
  'ties-of-tuples': { ...rest, protect: { secret: 'edge' }, relations: friend, dependence: [{ kind: 'ties', relation: 'friend', oddsRatio: 1.02, maxTies: 20 }] }, // biome-ignore format: one line
  network: { ...rest, ...answers, dependence: [{ kind: 'columns', network: 'network.json' }] },
  factors: { ...rest, dependence: [{ kind: 'factors', model: 'model.json' }] },
  gaussian: { ...rest, columns: { age: usual.age! }, dependence: [{ kind: 'gaussian', precision: 'q.json' }] }, // biome-ignore format: one line
  'added-or-removed': { ...rest, protect: { secret: 'row', neighbours: 'add-remove' } },
};

const models: Record<string, unknown> = {
  'daily.json': [[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.3, 0.2, 0.5]], // biome-ignore format: a matrix
  'weekly.json': [[0.9, 0.1], [0.2, 0.8]], // biome-ignore format: a matrix
  'network.json': {
    format: 'fugu-network/1',
    columns: [
      { name: 'sex', values: ['f', 'm'], parents: [], table: [0.5, 0.5] },
      { name: 'ill', values: ['no', 'yes'], parents: ['sex'], table: [0.9, 0.1, 0.8, 0.2] }, // biome-ignore format: a matrix
    ],
  },
  'model.json': {
    records: [0, 1, 2].map((id) => ({ id: `p${id}`, values: [0, 1] })),
    factors: [{ records: ['p0', 'p1'], oddsRatio: 4 }, { records: ['p1', 'p2'], table: [[3, 1], [1, 3]] }], // biome-ignore format: a matrix
  },
  'q.json': { records: ['p0', 'p1'], precision: [[2, -1], [-1, 2]], bounds: [0, 100] }, // biome-ignore format: a matrix
};

function write(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Writes the policy with every file it names; tables of databases become files. */
function written(top: string, name: string, shown: Entry): DocumentedPolicy {
  const folder = join(top, name);
  const entry = withFiles({ ...rest, columns: usual, ...shown });
  const { source } = entry.data as { source: string };
  if (source.endsWith('.sav')) {
    mkdirSync(folder, { recursive: true });
    cpSync(join(root, 'test', 'statfile', 'corpus', 'people-coded.sav'), join(folder, source));
    delete entry.columns;
  } else write(folder, source, dataOf(entry.columns as Columns, source === 'visits.csv'));
  for (const [model, content] of Object.entries(models)) write(folder, model, JSON.stringify(content));
  write(folder, 'codebook.csv', 'name,value,label\nparty,left,Left\nparty,right,Right\n');
  write(folder, 'wards.csv', 'w1,w2\nw2,w3\n');
  write(folder, 'skip.csv', 'sector,ill\n2,\n1,*\n');
  write(folder, 'census.csv', `region,sex,rows\n${['north', 'south', 'west'].flatMap((r) => ['f', 'm'].map((s) => `${r},${s},10`)).join('\n')}\n`); // biome-ignore format: one line
  for (const { table, columns } of Object.values((entry.relations ?? {}) as Record<string, { table: string; columns: string[] }>))
    write(folder, table, `${columns.join(',')}\n${Array.from({ length: people }, (_, i) => `p${i},p${(i * 7 + 1) % people}`).join('\n')}\n`); // biome-ignore format: one line
  for (const { source, columns } of Object.values((entry.tables ?? {}) as Record<string, { source: string; columns: Columns }>))
    write(folder, source, dataOf(columns, source === 'visits.csv'));
  return { name, file: write(folder, `${name}.yaml`, stringify(entry)) };
}

/** Addresses of databases are replaced by files. */
function withFiles(entry: Entry): Entry {
  const { source, ...data } = entry.data as { source: string; table?: string };
  const { ledger: _elsewhere, ...own } = entry;
  if (!/^\w+:\/\//.test(source)) return own;
  const { table: _table, ...more } = data;
  const relations = Object.entries((entry.relations ?? {}) as Record<string, Entry>);
  return {
    ...own,
    data: { source: 'people.csv', ...more },
    relations: Object.fromEntries(relations.map(([name, r]) => [name, { ...r, table: `${name}.csv` }])),
  };
}

/** Rows whose cells are declared values, with names of persons, homes and steps. */
function dataOf(columns: Columns, panel: boolean): string {
  const rows = panel ? people * 3 : people;
  const names: Record<string, (i: number) => unknown> = {
    id: (i) => `p${i}`,
    person: (i) => (panel ? `p${i % people}` : `p${i}`),
    person_id: (i) => `p${i}`,
    household: (i) => `h${Math.floor(i / 3)}`,
    home: (i) => `h${Math.floor((i % people) / 3)}`,
    household_id: (i) => `h${Math.floor(i / 3)}`,
    week: (i) => (panel ? 1 + Math.floor(i / people) : i),
    day: (i) => (panel ? 1 + Math.floor(i / people) : i),
    clinic: (i) => `c${panel ? i % 5 : i}`,
  };
  for (const [name, column] of Object.entries(columns)) names[name] ??= (i) => cellOf(column, i);
  const all = Object.entries(names);
  return `${all.map(([name]) => name).join(',')}\n${Array.from({ length: rows }, (_, i) => all.map(([, cell]) => cell(i)).join(',')).join('\n')}\n`;
}

function cellOf({ values, bounds }: Entry, i: number): unknown {
  if (Array.isArray(values)) return values[i % values.length];
  const [low, high] = bounds as [number, number];
  return Math.floor(low) + (i % (Math.floor(high - low) + 1));
}
