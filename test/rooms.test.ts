import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');
/** A room imports only rooms above it in this list: areas from base to app, and the rooms inside each area. */
const order = [
  'base/platform',
  'base',
  'base/files',
  'base/input',
  'base/exact',
  'policy',
  'privacy/noise',
  'privacy/mechanism',
  'privacy/dependence',
  'data/statfile',
  'data/codebook',
  'data/draft',
  'data/engine',
  'data/ties',
  'data/terms',
  'query/count',
  'query/view',
  'query',
  'release/accountant',
  'release/ledger',
  'release/session',
  'analysis/pattern',
  'analysis/survey',
  'analysis/graphical',
  'analysis/workload',
  'analysis/learn',
  'analysis/synth',
  'evaluate/audit',
  'evaluate/papers',
  'evaluate/attack',
  'app/client',
  'app/api',
  'app/report',
  'app/service',
  'app/cli',
];
const areas = ['base', 'policy', 'privacy', 'data', 'query', 'release', 'analysis', 'evaluate', 'app'];
const drivers: Record<string, RegExp> = {
  '@duckdb/node-api': /^data\/engine\/duckdb\//,
  pg: /^data\/engine\/postgres\//,
  'node:http': /^(data\/engine\/trino|app\/service)\//,
  'node:https': /^(data\/engine\/trino|app\/service)\//,
  hono: /^app\/service\//,
  '@hono/node-server': /^app\/service\//,
  libsql: /^release\/ledger\/index\/sqlite/,
  commander: /^app\/cli\//,
  'pgsql-ast-parser': /^(query|analysis\/pattern)\/(sql|query\/sql)/,
  yaml: /^(policy|data\/draft)\//,
};

interface Source {
  readonly file: string;
  readonly text: string;
}
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.ts'))
  .map((f) => f.replaceAll('\\', '/'));
const sources: readonly Source[] = files
  .filter((f) => !f.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
/** Room of a file: the longest folder of the order list that holds it; '' for the library's entry. */
const room = (file: string): string => {
  const [first = '', second = ''] = file.split('/');
  if (!file.includes('/')) return '';
  return order.includes(`${first}/${second}`) ? `${first}/${second}` : first;
};

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}
const isNode = (x: unknown): x is Node => typeof x === 'object' && x !== null && typeof (x as Node).type === 'string';
const trees = new Map<string, readonly Node[]>();
/** Every node of a file, whatever it is inside of. */
function nodes({ text }: Source): readonly Node[] {
  const known = trees.get(text);
  if (known) return known;
  const found: Node[] = [];
  const walk = (x: unknown): void => {
    if (Array.isArray(x)) x.forEach(walk);
    else if (isNode(x)) {
      found.push(x);
      for (const value of Object.values(x)) walk(value);
    }
  };
  walk(parseAst(text, { lang: 'ts' }));
  trees.set(text, found);
  return found;
}
const nameOf = (x: unknown): string | undefined => {
  if (!isNode(x)) return undefined;
  if (x.type === 'Identifier') return x.name as string;
  return x.type === 'Literal' && typeof x.value === 'string' ? x.value : undefined;
};

interface Import {
  readonly target: string;
  /** The names taken from it; a namespace, a default or a dynamic import takes everything. */
  readonly names: readonly string[];
  readonly typeOnly: boolean;
}
const placeOf = ({ file }: Source, target: string): string =>
  target.startsWith('.') ? relative(root, join(root, file, '..', target)).replaceAll('\\', '/') : target;
const imports = (source: Source): Import[] =>
  nodes(source).flatMap((node): Import[] => {
    const target = isNode(node.source) ? nameOf(node.source) : undefined;
    if (target === undefined) return [];
    if (node.type === 'ImportExpression') return [{ target: placeOf(source, target), names: ['*'], typeOnly: false }];
    if (!/^(Import|Export\w*)Declaration$/.test(node.type)) return [];
    const given = (node.specifiers as Node[] | undefined) ?? [];
    const kind = node.importKind ?? node.exportKind;
    const values = given.filter((s) => (s.importKind ?? s.exportKind) !== 'type');
    return [
      {
        target: placeOf(source, target),
        names: values.map((s) => (s.type === 'ImportSpecifier' || s.type === 'ExportSpecifier' ? (nameOf(s.imported ?? s.local) ?? '*') : '*')), // biome-ignore format: one line
        typeOnly: kind === 'type' || (given.length > 0 && values.length === 0),
      },
    ];
  });

/** Findings of a fence, as text; empty for source that obeys it. */
type Fence = (source: Source) => readonly string[];
const all = (fence: Fence): readonly string[] => sources.flatMap(fence);

const downward: Fence = (source) =>
  imports(source)
    .filter(
      ({ target }) =>
        order.includes(room(target)) &&
        room(source.file) !== '' &&
        order.indexOf(room(target)) > order.indexOf(room(source.file)),
    )
    .map(({ target }) => `${source.file} -> ${target}`);

const opening = /^(data\/engine|query\/(count|view)|analysis\/(pattern|learn|synth))\//;
/** Wherever `open` is taken from something and not from a module: `.open()`, `['open']`, `const { open } = …`. */
const openExact: Fence = (source) =>
  opening.test(source.file)
    ? []
    : nodes(source).flatMap((node) => {
        if (node.type === 'MemberExpression' && nameOf(node.property) === 'open') return [`${source.file}: .open`];
        if (node.type !== 'ObjectPattern') return [];
        return (node.properties as Node[]).filter((p) => nameOf(p.key) === 'open').map(() => `${source.file}: { open }`);
      });

const structure = /^(data\/(engine|ties)|query\/(count|view)|analysis\/(pattern|learn|synth))\//;
const readers = new Set(['readStructure', 'readBlocks', 'countStructure']);
const reads = new Set(['rows', 'stream', 'size', 'count']);
/** Reads of the engine's contents: its own methods, called on a value named engine, and the doors of data/engine/structure.ts. */
const readEngine: Fence = (source) => {
  if (structure.test(source.file)) return [];
  const calls = nodes(source).flatMap((node) => {
    if (node.type !== 'CallExpression' || !isNode(node.callee)) return [];
    const { callee } = node;
    if (callee.type !== 'MemberExpression' || !reads.has(nameOf(callee.property) ?? '')) return [];
    const of = isNode(callee.object) && callee.object.type === 'MemberExpression' ? callee.object.property : callee.object;
    return /engine|whole|^(data|snapshot)$/i.test(nameOf(of) ?? '')
      ? [`${source.file}: ${nameOf(of)}.${nameOf(callee.property)}()`]
      : [];
  });
  const taken = imports(source)
    .filter(
      ({ target, names }) => target === 'data/engine/structure.js' && names.some((name) => readers.has(name) || name === '*'),
    )
    .map(({ target }) => `${source.file} -> ${target}`);
  return [...calls, ...taken];
};

const makesPayment: Fence = (source) =>
  source.file === 'release/session/charge.ts'
    ? []
    : nodes(source)
        .filter((node) => node.type === 'NewExpression' && nameOf(node.callee) === 'Payment')
        .map(() => `${source.file}: new Payment`);

/** A privacy cost is made where a distribution is priced and where totals are added; once more for a method used only in comparisons. */
const pricing = /^(privacy\/mechanism\/|release\/accountant\/account\.ts$|analysis\/learn\/classify\/objective\.ts$)/;
const makesProfile: Fence = (source) =>
  pricing.test(source.file)
    ? []
    : imports(source).flatMap(({ target, names }) =>
        names
          .filter((name) => name === 'pureCost' || name === 'zcdpCost')
          .map((name) => `${source.file}: ${name} from ${target}`),
      );

/** Random bits are for coin flips; integer roots are no noise. */
const harmless = (target: string, name: string): boolean => target === 'privacy/noise/bits.js' || name === 'integerRoot';
const drawsNoise: Fence = (source) =>
  /^(privacy\/(noise|mechanism)|evaluate\/papers)\//.test(source.file)
    ? []
    : imports(source)
        .filter(
          ({ target, names, typeOnly }) =>
            room(target) === 'privacy/noise' && !typeOnly && names.some((n) => !harmless(target, n)),
        )
        .map(({ target }) => `${source.file} -> ${target}`);

/** Types hold no logic: those may come from anywhere. */
const commandLine: Fence = (source) =>
  room(source.file) !== 'app/cli'
    ? []
    : imports(source)
        .filter(
          ({ target, typeOnly }) =>
            !typeOnly &&
            order.includes(room(target)) &&
            !/^(app\/(api|report|service|cli)|base\/(input|files|platform))\/|^base\/(errors|version)\.js$/.test(target),
        )
        .map(({ target }) => `${source.file} -> ${target}`);

const takesContext: Fence = (source) =>
  /^release\/session\//.test(source.file)
    ? []
    : imports(source)
        .filter(({ names }) => names.includes('releaseContextOf'))
        .map(({ target }) => `${source.file}: releaseContextOf from ${target}`);

/** The doors to the data, each with its permitted modules. A module that pins an engine can read all of it. */
const doors: Readonly<Record<string, string>> = {
  'release/session/present-account.ts': 'charge: what is read was paid for, but for registered public facts before',
  'release/session/public-read.ts': 'registered public facts (docs/reference/unpaid-reads.md)',
  'app/api/steward-read.ts': 'for whoever holds the rows (docs/reference/unpaid-reads.md)',
  'data/terms/open.ts': 'names of columns, when the data is opened',
};
/** Adapters pin the engine they wrap, and read names of columns only. */
const adapters = /^data\/engine\/((engine|without-rows)\.ts$|(duckdb|postgres|trino)\/)/;
/** Pinning in any spelling: `.snapshot`, `['snapshot']`, `{ snapshot }`, the helper of engine/engine.ts, or the snapshot pinned by charge. */
const pinsData: Fence = (source) => {
  if (adapters.test(source.file) || source.file in doors) return [];
  const mentions = nodes(source).flatMap((node) => {
    if (node.type === 'MemberExpression' && nameOf(node.property) === 'snapshot') return [`${source.file}: .snapshot`];
    if (node.type !== 'ObjectPattern') return [];
    return (node.properties as Node[]).filter((p) => nameOf(p.key) === 'snapshot').map(() => `${source.file}: { snapshot }`);
  });
  const taken = imports(source)
    .filter(
      ({ target, names }) => target === 'data/engine/engine.js' && names.some((name) => name === 'withSnapshot' || name === '*'),
    )
    .map(({ target }) => `${source.file}: withSnapshot from ${target}`);
  const held = imports(source)
    .filter(({ target, names }) => target === 'release/session/present-account.js' && names.length > 0)
    .map(({ target }) => `${source.file}: data from ${target}`);
  return [...mentions, ...taken, ...(source.file === 'release/session/charge.ts' ? [] : held)];
};

/** Modules that compare states of the data: a value that changes with every cell is shown to nobody. */
const comparesStates = new Set([
  'release/session/session.ts',
  'release/session/present-account.ts',
  'release/session/public-read.ts',
]);
const namesState: Fence = (source) =>
  comparesStates.has(source.file)
    ? []
    : nodes(source)
        .filter((node) => node.type === 'MemberExpression' && nameOf(node.object) === 'publicReads')
        .filter((node) => /^(content|moment)$/.test(nameOf(node.property) ?? ''))
        .map((node) => `${source.file}: publicReads.${nameOf(node.property)}`);

/** Files that read the rows as the steward; the service's are behind a steward's role (docs/reference/service-api.md). */
const stewards = new Set(
  ['attack', 'attack-stream', 'check', 'draft', 'learn', 'published', 'tie-figures', 'transitions'].map(
    (name) => `app/api/${name}.ts`,
  ),
).add('app/service/worker-task.ts');
const readsAsSteward: Fence = (source) =>
  stewards.has(source.file)
    ? []
    : imports(source)
        .filter(({ target, typeOnly }) => target === 'app/api/steward-read.js' && !typeOnly)
        .map(({ target }) => `${source.file} -> ${target}`);

/** Rooms that can hold a session. */
const afterLedger = /^(release\/session|analysis\/(?!graphical)\w+|evaluate\/attack|app\/(api|service|cli))\//;
/** Reads before payment are named where they are made: no read is passed in a variable, or constructed. */
const namesItsRead: Fence = (source) =>
  !afterLedger.test(source.file) || source.file === 'release/session/public-read.ts'
    ? []
    : nodes(source).flatMap((node) => {
        if (node.type !== 'CallExpression' || !isNode(node.callee)) return [];
        const { callee } = node;
        const called = nameOf(callee) ?? (callee.type === 'MemberExpression' ? nameOf(callee.property) : undefined);
        const ofSession = callee.type === 'MemberExpression' && called === 'read' && /session/i.test(nameOf(callee.object) ?? '');
        if (called !== 'look' && !ofSession) return [];
        const [first] = node.arguments as Node[];
        const named = first?.type === 'MemberExpression' && nameOf(first.object) === 'publicReads';
        return named ? [] : [`${source.file}: ${called}() of something that is not publicReads.X`];
      });

/** Files that open files by themselves: policies, ledgers, pages, and one that waits for the end of a line. Data is opened by engines. */
const opensFiles =
  /^(data\/(engine|statfile)|base\/(files|input|platform)|release\/ledger)\/|^app\/(api\/(confirm|learn-domain|stream-follow)|cli\/write-release|service\/pages)\.ts$/;
/** Functions that check existence, size or time of a file, or delete it. */
const opensNoFile =
  /^(existsSync|(l|f)?stat(Sync)?|readdir(Sync)?|realpathSync|readlinkSync|accessSync|constants|rm(Sync)?|unlinkSync|utimesSync)$/;
/** Other programs could read for us: one opens a browser. */
const startsPrograms = /^(release\/ledger\/|app\/cli\/browser\.ts$)/;
const readsFiles: Fence = (source) =>
  imports(source)
    .filter(({ target, names, typeOnly }) => {
      if (target === 'base/platform/programs.js') return !startsPrograms.test(source.file);
      if (typeOnly || opensFiles.test(source.file)) return false;
      return target === 'base/platform/files.js' && names.some((name) => !opensNoFile.test(name));
    })
    .map(({ target }) => `${source.file} -> ${target}`);

/** Files that reach Node itself: the port to the platform, and the sockets of two clients and a server. */
const reachesNode = /^(base\/platform\/|data\/engine\/(trino\/client|postgres\/connection)\.ts$|app\/service\/serve\.ts$)/;
const usesNode: Fence = (source) =>
  reachesNode.test(source.file)
    ? []
    : imports(source)
        .filter(({ target }) => isBuiltin(target))
        .map(({ target }) => `${source.file} -> ${target}`);

/** Files that people name and programs keep: policies, models, tables, journals, tokens. Data is none of them. */
const namesFiles =
  /^(base\/input|policy|data\/(statfile|codebook|terms)|release\/ledger|privacy\/dependence\/model)\/|^app\/api\/(csv-table|model-file|named-text|stream-steps)\.ts$|^app\/service\/(audit-log|drafts|made-policies|writer-lock|sessions|token)\.ts$/;
const readsNamed: Fence = (source) =>
  namesFiles.test(source.file)
    ? []
    : imports(source)
        .filter(({ target, names }) => target === 'base/input/named-file.js' && names.some((name) => name !== 'unreadableText'))
        .map(({ target }) => `${source.file} -> ${target}`);

/** Other reads of data files: dictionaries of survey files, drafts, synthetic rows being written, digests of data with a budget. */
const readsSources =
  /^data\/(engine|statfile)\/|^(data\/codebook\/(codebook|statfile)|app\/api\/(draft|synth-file)|release\/session\/data-claims)\.ts$/;
const readsForm = new Set(['isCsv', 'fileState', 'changedMeanwhile', 'hasDictionary', 'hasTables', 'isStatFile']);
const readsSource: Fence = (source) =>
  readsSources.test(source.file)
    ? []
    : imports(source)
        .filter(({ target }) =>
          /^data\/(engine\/(data-file\.js|csv\/.*|duckdb\/(?!duckdb\.js).*)|statfile\/(?!decode\.js).*)$/.test(target),
        )
        .filter(({ names }) => names.some((name) => !readsForm.has(name)))
        .map(({ target }) => `${source.file} -> ${target}`);

/** The ledger's own SQLite, and readers of SQL that people write, speak of other things. */
const otherSql = /^(release\/ledger\/|query\/sql\/|analysis\/pattern\/query\/sql\.ts$|data\/engine\/(duckdb|postgres|trino)\/)/;
/** Types, functions and operators that some databases lack or define differently; portable ones are not in this list. */
const ownWords = new RegExp(
  [
    '\\b(?:TRY_CAST|TRY|DOUBLE|FLOAT8?|HUGEINT|BIGINT|INT8|VARCHAR|AS TEXT|NUMERIC|DECIMAL|COLLATE|ILIKE|IS NOT TRUE|QUALIFY|UNNEST|FOR VERSION AS OF|AT TIME ZONE|ROW\\()\\b',
    '\\b(?:list_\\w+|array_\\w+|string_\\w+|regexp_\\w+|md5|hash\\w*|isnan|trunc|ROUND|round|btrim|trim|strlen|split_part|chr|nfc_normalize|normalize|unnest|least|greatest|checksum|truncate|is_nan|is_infinite|to_hex|to_utf8|json_\\w+|transform|split|approx_\\w+)\\(',
    '[\\w)}] // [\\w({$]',
    '\\w::[A-Za-z]',
    " ~ '",
  ].join('|'),
);
/** Text that is SQL: in literals and templates that hold a statement or a part of one. */
const looksLikeSql = /\b(?:SELECT|FROM|WHERE|CASE|WHEN|CAST|COALESCE|JOIN|GROUP BY|VALUES|coalesce|sum|count|max|min)\b|\$\{\}/;
const ownSql: Fence = (source) =>
  otherSql.test(source.file)
    ? []
    : nodes(source).flatMap((node) => {
        const text =
          node.type === 'TemplateLiteral'
            ? (node.quasis as Node[]).map((q) => (q.value as { raw: string }).raw).join('\u0024{}')
            : node.type === 'Literal' && typeof node.value === 'string'
              ? node.value
              : '';
        const found = looksLikeSql.test(text) ? ownWords.exec(text) : undefined;
        return found ? [`${source.file}: ${found[0]}`] : [];
      });

describe('the rooms', () => {
  it('the rooms are in nine areas', () => {
    const found = sources.filter(({ file }) => file.includes('/')).map(({ file }) => file.slice(0, file.indexOf('/')));
    expect([...new Set(found)].sort()).toEqual([...areas].sort());
  });

  it('the rooms are all in the order list, area by area', () => {
    expect([...new Set(order.map((r) => r.split('/')[0]))]).toEqual(areas);
    expect([...new Set(sources.map(({ file }) => room(file)))].filter((r) => r !== '' && !order.includes(r))).toEqual([]);
  });

  it('the rooms draw randomness only in privacy/noise/bits.ts', () => {
    const random = /Math\.random|randomBytes|randomFill|randomInt|getRandomValues|webcrypto/;
    expect(
      sources
        .filter(({ file, text }) => !/^(privacy\/noise\/bits|base\/platform\/random)\.ts$/.test(file) && random.test(text))
        .map(({ file }) => file),
    ).toEqual([]);
  });

  it('the rooms confine each driver to its adapter', () => {
    const wrong = sources.flatMap((source) =>
      imports(source)
        .filter(({ target }) => drivers[target] && !drivers[target].test(source.file))
        .map(({ target }) => `${source.file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('the rooms have no drawer for odds and ends', () => {
    expect(files.filter((f) => /(^|\/)(utils?|common|helpers?|types|misc)(\/|\.ts$)/.test(f))).toEqual([]);
  });
});

/** Each fence with planted faults it must detect, in files that do not exist. */
const fences: readonly [string, Fence, ...(readonly [file: string, text: string])[]][] = [
  [
    'import only rooms above them',
    downward,
    ['query/count/planted.ts', "import { bindBatch } from '../bind.js';"],
    ['policy/planted.ts', "export const x = await import('../app/cli/main.js');"],
    ['app/api/planted.ts', "export { register } from '../cli/plan.js';"],
  ],
  [
    'open exact answers only in engine, count, pattern, learn and synth',
    openExact,
    ['release/session/planted.ts', 'export const x = async (engine: { size(): Promise<any> }) => (await engine.size()).open();'],
    ['evaluate/attack/planted.ts', 'export const x = (cells: any) => cells.map((c: any) => c?.open());'],
    ['app/api/planted.ts', "export const x = (cells: any) => cells['open']();"],
    ['release/session/planted.ts', 'export const x = ({ open }: any) => open();'],
  ],
  [
    'read what the engine holds only there, and ties for their structure',
    readEngine,
    ['app/api/planted.ts', "export const x = (engine: any) => engine.rows({ sql: 'SELECT 1', values: [] });"],
    ['release/session/planted.ts', 'export const x = (context: any) => context.engine.stream({});'],
    [
      'evaluate/attack/planted.ts',
      "import { readStructure } from '../../data/engine/structure.js';\nexport const x = readStructure;",
    ],
    ['data/terms/planted.ts', 'export const x = (data: any) => data.size();'],
  ],
  [
    'leave what databases write differently to their dialects',
    ownSql,
    [
      'query/count/planted.ts',
      'export const x = (y: string) => `CASE WHEN \u0024{y} > 0 THEN TRY_CAST(\u0024{y} AS BIGINT) END`;',
    ],
    ['query/count/planted.ts', 'export const x = (y: string) => `CASE WHEN \u0024{y} > 0 THEN \u0024{y} // 4 END`;'],
    ['data/ties/planted.ts', "export const x = 'SELECT max(a::DOUBLE) FROM fugu_data';"],
    ['analysis/learn/planted.ts', 'export const x = (y: string) => `SELECT list_sum(\u0024{y}) FROM fugu_data`;'],
    ['analysis/pattern/planted.ts', 'export const x = (v: string) => `SELECT c0 FROM ties FOR VERSION AS OF \u0024{v}`;'],
    ['query/count/planted.ts', 'export const x = (y: string) => `CASE WHEN is_nan(\u0024{y}) THEN 0 END`;'],
  ],
  [
    'hand out the right to draw only where it was paid for',
    makesPayment,
    ['analysis/learn/planted.ts', 'export const x = new Payment([]);'],
  ],
  [
    'price noise only in the mechanisms',
    makesProfile,
    [
      'analysis/learn/planted.ts',
      "import { pureCost } from '../../privacy/mechanism/profile.js';\nexport const x = pureCost([]);",
    ],
    [
      'release/session/planted.ts',
      "import { type PrivacyCost, zcdpCost as cheap } from '../../privacy/mechanism/profile.js';\nexport const x = cheap([]);",
    ],
  ],
  [
    'draw noise only in mechanisms and papers',
    drawsNoise,
    [
      'analysis/learn/planted.ts',
      "import { laplaceSampler } from '../../privacy/noise/discrete-laplace.js';\nexport const x = laplaceSampler;",
    ],
    ['analysis/pattern/planted.ts', "import * as noise from '../../privacy/noise/exponential.js';\nexport const x = noise;"],
  ],
  [
    'keep product logic out of the command line',
    commandLine,
    ['app/cli/planted.ts', "import { openEngine } from '../../data/engine/open.js';\nexport const x = openEngine;"],
    ['app/cli/planted.ts', "export const x = await import('../../release/ledger/open.js');"],
  ],
  [
    'take hold of data and ledger of a session only where releases are paid for',
    takesContext,
    [
      'app/api/planted.ts',
      "import { releaseContextOf } from '../../release/session/session.js';\nexport const x = releaseContextOf;",
    ],
    [
      'analysis/learn/planted.ts',
      "import { releaseContextOf } from '../../release/session/session.js';\nexport const x = releaseContextOf;",
    ],
  ],
  [
    'read data only through charge, the registry of public reads, and the reads of the steward',
    pinsData,
    ['release/session/planted.ts', "import { withSnapshot } from '../../data/engine/engine.js';\nexport const x = withSnapshot;"],
    ['analysis/learn/planted.ts', "import * as all from '../../data/engine/engine.js';\nexport const x = all;"],
    ['app/api/planted.ts', 'export const x = (session: any) => session.engine.snapshot();'],
    ['release/session/planted.ts', "export const x = (engine: any) => engine['snapshot']();"],
    ['app/service/planted.ts', 'export const x = ({ snapshot }: any) => snapshot();'],
    ['data/engine/planted.ts', "import { withSnapshot } from './engine.js';\nexport const x = withSnapshot;"],
    ['release/session/planted.ts', "import { presentAccount } from './present-account.js';\nexport const x = presentAccount;"],
  ],
  [
    'compare states of the data only where they decide what is read again',
    namesState,
    ['app/api/planted.ts', 'export const x = (session: any, publicReads: any) => session.read(publicReads.content);'],
    ['release/session/planted.ts', 'export const x = (look: any, publicReads: any) => look(publicReads.moment);'],
  ],
  [
    'read the rows as a steward only in commands that say so',
    readsAsSteward,
    ['app/api/planted.ts', "import { readAsSteward } from './steward-read.js';\nexport const x = readAsSteward;"],
    ['app/service/planted.ts', "import { withStewardData } from '../api/steward-read.js';\nexport const x = withStewardData;"],
  ],
  [
    'name every public read where it is made',
    namesItsRead,
    ['analysis/learn/planted.ts', 'export const x = (session: any, read: any) => session.read(read);'],
    ['analysis/synth/planted.ts', 'export const x = { still: async (look: any) => look({ read: async (data: any) => data }) };'],
  ],
  [
    'open files by themselves only where no data is in them',
    readsFiles,
    ['app/api/planted.ts', "import { readFileSync } from '../../base/platform/files.js';\nexport const x = readFileSync;"],
    ['analysis/learn/planted.ts', "import * as files from '../../base/platform/files.js';\nexport const x = files;"],
    ['analysis/synth/planted.ts', "export const x = await import('../../base/platform/files.js');"],
    ['analysis/pattern/planted.ts', "import { spawnSync } from '../../base/platform/programs.js';\nexport const x = spawnSync;"],
  ],
  [
    'reach Node only through the port to the platform, but for the sockets of two clients and a server',
    usesNode,
    ['app/api/planted.ts', "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;"],
    ['analysis/learn/planted.ts', "import { open } from 'node:fs/promises';\nexport const x = open;"],
    ['app/service/planted.ts', "import fs from 'node:fs';\nexport const x = fs;"],
    ['query/count/planted.ts', "import { readFileSync } from 'fs';\nexport const x = readFileSync;"],
    ['analysis/pattern/planted.ts', "export const x = await import('node:child_process');"],
    ['privacy/mechanism/planted.ts', "import { hrtime } from 'node:process';\nexport const x = hrtime;"],
  ],
  [
    'read files that people name only where no data is in them',
    readsNamed,
    [
      'analysis/learn/planted.ts',
      "import { readNamedText } from '../../base/input/named-file.js';\nexport const x = readNamedText;",
    ],
  ],
  [
    'read files of data only through engines, but for dictionaries, drafts and digests of content',
    readsSource,
    [
      'analysis/pattern/planted.ts',
      "import { contentDigest } from '../../data/engine/data-file.js';\nexport const x = contentDigest;",
    ],
    [
      'analysis/synth/planted.ts',
      "import { openStatFile } from '../../data/statfile/statfile.js';\nexport const x = openStatFile;",
    ],
    ['app/service/planted.ts', "import { unpacked } from '../../data/engine/csv/text.js';\nexport const x = unpacked;"],
  ],
];

describe('the doors to the data', () => {
  it('the doors to the data are existing files that pin', () => {
    for (const door of Object.keys(doors)) {
      const source = sources.find(({ file }) => file === door);
      expect(source && pinsData({ ...source, file: door.replace(/[\w-]+\.ts$/, 'elsewhere.ts') }), door).not.toEqual([]);
    }
    expect([...stewards].filter((file) => !sources.some((source) => source.file === file && /readAsSteward|withStewardData/.test(source.text)))).toEqual([]); // biome-ignore format: one line
  });
});

describe('the fences', () => {
  it('the fences name existing identifiers and files, so that a rename cannot switch one off', () => {
    const declared = sources.map(({ text }) => text).join('\n');
    const names = ['Payment', 'pureCost', 'zcdpCost', 'releaseContextOf', 'withSnapshot', 'readStructure', 'readBlocks', 'countStructure', 'readAsSteward', 'withStewardData', 'presentAccount', 'publicReads', 'readNamedText', 'contentDigest', 'openStatFile', 'fileState', 'isCsv', 'changedMeanwhile', 'hasDictionary', 'hasTables', 'isStatFile', 'integerRoot', 'unreadableText']; // biome-ignore format: one line
    expect(names.filter((name) => !new RegExp(`(function\\*?|const|let|class) ${name}\\b`).test(declared))).toEqual([]);
    expect(/readonly look: PublicReader|\(look: PublicReader\)/.test(declared) && /\bsnapshot\(\): Promise/.test(declared)).toBe(
      true,
    );
    const fence = readFileSync(import.meta.filename, 'utf8').split("\ndescribe('the rooms'")[0]!;
    const places = [...fence.matchAll(/'((?:[a-z-]+\/)+[a-z-]+)\.[tj]s'/g)].map(([, file]) => `${file}.ts`);
    expect(places.filter((place) => !files.includes(place))).toEqual([]);
  });

  it.each(fences)('the rooms %s', (_, fence) => expect(all(fence)).toEqual([]));

  it.each(fences.flatMap(([name, fence, ...planted]) => planted.map(([file, text]) => [name, file, fence, text] as const)))(
    'the fence "the rooms %s" detects what is planted in %s',
    (_, file, fence, text) => expect(fence({ file, text })).not.toEqual([]),
  );

  it('the fences let types pass where only values are fenced', () => {
    const file = 'app/cli/planted.ts';
    expect(
      commandLine({ file, text: "import type { Plan } from '../../release/session/plan.js';\nexport type X = Plan;" }),
    ).toEqual([]);
    expect(
      drawsNoise({
        file: 'analysis/learn/planted.ts',
        text: "import type { Rungs } from '../../privacy/noise/ladder.js';\nexport type X = Rungs;",
      }),
    ).toEqual([]);
  });
});
