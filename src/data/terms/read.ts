import { Fault } from '../../base/errors.js';
import { isZero } from '../../base/exact/rational.js';
import { readNamed, readNamedText, unreadableText } from '../../base/input/named-file.js';
import { statSync } from '../../base/platform/files.js';
import { dirname, resolve } from '../../base/platform/paths.js';
import { addressFrom, isCluster, isDatabase, readCluster, urlScheme } from '../../policy/address.js';
import { declareBudget } from '../../policy/budget.js';
import type { Codebook } from '../../policy/codebook.js';
import { declareColumns } from '../../policy/columns.js';
import { placeOfData } from '../../policy/data-source.js';
import { declareDesign } from '../../policy/design.js';
import { declareKnown } from '../../policy/known/declare.js';
import { declarePairs } from '../../policy/pairs/declare.js';
import type { Column, DataSource, Dependence, Policy, Protect, Relation } from '../../policy/policy.js';
import { canonicalPath, defaultLedger, edgeRelations, populationOf, realTable, secretFiles } from '../../policy/population.js';
import { firstProblem, invalid } from '../../policy/problems.js';
import { didYouMean } from '../../policy/suggest.js';
import { declareTables } from '../../policy/tables.js';
import { parseYaml, type YamlFile } from '../../policy/yaml-file.js';
import { readCodebook } from '../codebook/codebook.js';
import { declareMerge } from '../codebook/merge.js';
import { isCsv } from '../engine/data-file.js';
import { isUtf8Name } from '../statfile/decode.js';
import { modelFile, type TieKinds, tieKindOf, tieKinds } from '../ties/kinds.js';
import { digestTerms } from './digest.js';
import { refuseReserved } from './reserved.js';
import { type PolicyFile, policyShape } from './shape.js';
import { refuseDatedNames } from './source.js';

/** Reads and checks a policy file. Touches no data: columns that only the data can confirm are checked when the engine opens. */
export async function readPolicy(file: string, kinds: TieKinds = tieKinds): Promise<Policy> {
  const path = resolve(file);
  const text = readNamedText(
    path,
    'policyBytes',
    (why) =>
      new Fault('POLICY_SYNTAX', `The policy file ${unreadableText[why]}.`, 'Check its path; `fugu init DATA` drafts a policy.', {
        place: { file },
      }),
  );
  return parsePolicy(text, path, kinds);
}

/** However the file was reached, it is one policy: its paths are relative to where it really lies. */
export async function parsePolicy(text: string, path: string, kinds: TieKinds = tieKinds): Promise<Policy> {
  const file = canonicalPath(resolve(path));
  const yaml = parseYaml(text, file);
  const shape = policyShape(kinds);
  const parsed = shape.safeParse(yaml.value);
  if (!parsed.success) throw firstProblem(parsed.error.issues, yaml, shape);
  const entry = parsed.data;
  const directory = dirname(file);

  const data = declareSource(entry.data, directory, yaml);
  const codebook: Codebook = data.codebook === undefined ? new Map() : await readCodebook(data.codebook);
  const columns = declareColumns(entry.columns ?? {}, codebook, yaml, data.decimal);
  const relations = declareRelations(entry.relations ?? {}, isDatabase(data.source) ? undefined : directory, yaml);
  refuseReserved([...columns.keys(), ...relations.keys()], file);
  const undecided = entry.dependence === 'undecided';
  const declared = typeof entry.dependence === 'string' ? [] : entry.dependence;
  const dependence = declared.map((stated, i) =>
    tieKindOf(stated, kinds).declare(stated, ['dependence', i], { directory, columns, relations, yaml }),
  );
  const hasSteps = dependence.some((d) => tieKindOf(d, kinds).step !== undefined);
  const protection = declareProtect(entry.protect, relations, hasSteps, yaml);
  const declaring = { directory, columns, yaml, ...(data.encoding !== undefined && { encoding: data.encoding }) };
  const pairs = entry.protect.pairs && declarePairs(entry.protect.pairs, protection, declaring);
  const protect: Protect = { ...protection, ...(pairs && { pairs }) };
  const known = entry.known && declareKnown(entry.known, { protect, dependence }, declaring);
  const tables = declareTables(entry.tables ?? {}, { directory, data, protect, known: known !== undefined, yaml });
  for (const { columns: own } of tables.values()) refuseReserved(own.keys(), file);
  const several = tables.size > 0 && { tables };
  const budget = declareBudget(entry.budget, yaml);
  refuseAddRemove({ protect, budget, dependence }, yaml);
  refuseBudget({ protect, budget }, yaml);
  const merge = await declareMerge(entry.merge ?? [], {
    directory,
    columns,
    yaml,
    ...(protect.unit !== undefined && { unit: protect.unit }),
  });
  const contents = readModels(dependence, kinds, yaml);
  const files = secretFiles({ data, protect, relations, ...several });
  const edges = declareEdges({ data, protect, relations }, yaml);
  const ledger = declareLedger(entry.ledger, files, directory, yaml);
  const stated = { protect, budget, dependence, undecided, columns, relations, ...(known && { known }), ...several };
  const { digest, lines } = digestTerms({ ...stated, edges }, contents, kinds);
  const policy: Policy = {
    file,
    directory,
    population: populationOf(entry.population, files),
    ...(entry.title !== undefined && { title: entry.title }),
    ledger,
    data,
    protect,
    budget,
    ...(entry.design !== undefined && { design: declareDesign(entry.design, columns, yaml) }),
    columns,
    relations,
    ...several,
    dependence,
    ...(undecided && { undecided }),
    ...(known && { known }),
    ...(merge.length > 0 && { merge }),
    unconfirmed: declareUnconfirmed(entry.unconfirmed ?? [], columns, yaml),
    digest,
    terms: lines,
    ...(edges.size > 0 && {
      movableDigest: digestTerms({ ...stated, edges: seenFrom(ledger, edges, data) }, contents, kinds).digest,
    }),
    places: yaml.places(),
  };
  refuseDatedNames(policy, kinds);
  return policy;
}

/** Tables of relations with their files by the place from the ledger. */
function seenFrom(ledger: string, edges: ReadonlyMap<string, string>, { source }: DataSource): ReadonlyMap<string, string> {
  const inside = isDatabase(source) ? '' : `${canonicalPath(source)}#`;
  const place = (table: string) =>
    inside !== '' && table.startsWith(inside)
      ? `${placeOfData(source, { ledger })}#${table.slice(inside.length)}`
      : placeOfData(table, { ledger });
  return new Map([...edges].map(([name, table]) => [name, isDatabase(source) ? table : place(table)]));
}

function declareSource(entry: PolicyFile['data'], directory: string, yaml: YamlFile): DataSource {
  if (entry.encoding !== undefined && !isCsv(entry.source))
    throw invalid(yaml, ['data', 'encoding'], 'Only a csv file has an encoding to be said.', 'Leave data.encoding out.');
  return {
    source: declareAddress(entry, directory, yaml) ?? resolve(directory, entry.source),
    ...(entry.table !== undefined && { table: entry.table }),
    ...(entry.decimal === ',' && { decimal: ',' as const }),
    ...(entry.encoding !== undefined && !isUtf8Name(entry.encoding) && { encoding: entry.encoding }),
    ...(entry.codebook !== undefined && { codebook: resolve(directory, entry.codebook) }),
    ...(entry.links !== undefined && { links: entry.links }),
  };
}

function declareAddress({ source, table }: PolicyFile['data'], directory: string, yaml: YamlFile): string | undefined {
  const scheme = urlScheme(source);
  if (scheme === undefined) return undefined;
  const wrong = (message: string, hint: string) => invalid(yaml, ['data', 'source'], message, hint);
  if (!isDatabase(source))
    throw wrong(
      `Data at a ${scheme}:// address cannot be read.`,
      'Use a csv, csv.gz, parquet, duckdb, sav, dta, xpt or xlsx file, or a table at postgres://host/database or trino://host/catalog/schema.',
    );
  try {
    const address = addressFrom(source, directory);
    const behind = isCluster(source) ? readCluster(source).table : undefined;
    if ((table === undefined) !== (behind === undefined)) return address;
    if (behind !== undefined)
      throw wrong('The table is named behind the address and beside it.', 'Leave one of them out: data.table will do.');
  } catch (error) {
    if (error instanceof Fault) throw wrong(error.message, error.hint);
    throw error;
  }
  throw wrong('Which table of the database holds the data is not said.', 'Add table: schema.table beside source.');
}

function declareLedger(entry: string | undefined, files: readonly string[], directory: string, yaml: YamlFile): string {
  if (entry === undefined) {
    const usual = defaultLedger(files);
    if (usual !== undefined) return canonicalPath(usual);
    if (files.some(isDatabase))
      throw invalid(
        yaml,
        ['data', 'source'],
        'The data lies in a database, so it is not clear where its budget is recorded.',
        'Name one ledger for everybody who asks it, such as ledger: .fugu/ledger.db.',
      );
    throw invalid(
      yaml,
      ['relations'],
      'The private relations lie in several folders, so it is not clear where their budget is recorded.',
      'Name one ledger for all of them, such as ledger: ledger.db.',
    );
  }
  if (urlScheme(entry) === undefined) return canonicalPath(resolve(directory, entry));
  const wrong = (message: string, hint: string) => invalid(yaml, ['ledger'], message, hint);
  if (!isDatabase(entry))
    throw wrong(
      'A ledger is a file, or lies in a PostgreSQL database.',
      'Name a file, such as .fugu/ledger.db, or postgres://keeper@host/budgets.',
    );
  try {
    return addressFrom(entry, directory);
  } catch (error) {
    throw error instanceof Fault ? wrong(error.message, ledgerHint(error.hint)) : error;
  }
}
/** There is no table to name. */
const ledgerHint = (hint: string): string =>
  hint.startsWith('Write it like') ? 'Write it like postgres://keeper@host:5432/budgets.' : hint;

function declareRelations(
  entries: NonNullable<PolicyFile['relations']>,
  directory: string | undefined,
  yaml: YamlFile,
): ReadonlyMap<string, Relation> {
  const relations = new Map<string, Relation>();
  for (const [name, entry] of Object.entries(entries)) {
    const path = ['relations', name, 'columns'];
    const repeated = entry.columns.find((c, i) => entry.columns.indexOf(c) !== i);
    if (repeated !== undefined)
      throw invalid(yaml, path, `The relation "${name}" lists "${repeated}" twice.`, 'List each column once.');
    if (entry.symmetric && entry.columns.length !== 2)
      throw invalid(yaml, path, `The symmetric relation "${name}" does not have two columns.`, 'Only a pair can be reversed.');
    relations.set(name, {
      name,
      // A table in the data's own database has no file ending; data on a server has no files.
      table: directory !== undefined && /\.[A-Za-z]+$/.test(entry.table) ? resolve(directory, entry.table) : entry.table,
      columns: entry.columns,
      domain: entry.domain,
      symmetric: entry.symmetric ?? false,
      private: entry.private ?? true,
    });
  }
  return relations;
}

/** A table under two names would have a budget for each, and a tuple of it would count in both. */
function declareEdges(kept: Pick<Policy, 'data' | 'protect' | 'relations'>, yaml: YamlFile): ReadonlyMap<string, string> {
  const edges = new Map<string, string>();
  const [whole] = secretFiles({ ...kept, protect: { ...kept.protect, secret: 'row' } });
  for (const relation of edgeRelations(kept)) {
    const table = realTable(relation, kept.data);
    const [twin] = [...edges].find(([, other]) => isOneTable(table, other, whole!)) ?? [];
    if (twin !== undefined)
      throw invalid(
        yaml,
        ['relations', relation.name, 'table'],
        `The private relations "${twin}" and "${relation.name}" are the same table.`,
        `Merge them: keep "${twin}" and ask about that, or declare a table of its own for each.`,
      );
    edges.set(relation.name, table);
  }
  return edges;
}

/** Compared by file (also under a second hard link) or by name in the database; an unqualified name may be any table found by it. */
function isOneTable(a: string, b: string, database: string): boolean {
  if (a === b) return true;
  /** The name of a table in the database; empty for the database itself. */
  const inside = (table: string) => (`${table}#`.startsWith(`${database}#`) ? table.slice(database.length + 1) : undefined);
  const [first, second] = [inside(a), inside(b)];
  if (first !== undefined && second !== undefined)
    return first === '' || second === '' || first.endsWith(`.${second}`) || second.endsWith(`.${first}`);
  const [one, other] = [a, b].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

function declareProtect(
  entry: PolicyFile['protect'],
  relations: ReadonlyMap<string, Relation>,
  hasSteps: boolean,
  yaml: YamlFile,
): Protect {
  const wrong = (key: string, message: string, hint: string) => invalid(yaml, ['protect', key], message, hint);
  if (entry.secret === 'person') {
    if (entry.unit === undefined)
      throw wrong('secret', 'The secret is a person, but no column says whose a row is.', 'Add unit: respondent_id.');
    if (entry.maxRows === undefined)
      throw wrong(
        'secret',
        'How many rows one person may have is not said.',
        'Add maxRows: 5; further rows of a person are left out.',
      );
  } else if ((entry.maxRows ?? 1) !== 1)
    throw wrong(
      'maxRows',
      `maxRows does not go with the secret "${entry.secret}".`,
      'It limits the rows of a person: secret: person, unit: id.',
    );
  if (entry.secret === 'edge' && ![...relations.values()].some((r) => r.private))
    throw wrong('secret', 'The secret is an edge, but no private relation is declared.', 'Declare one under relations:.');
  if (entry.secret === 'step' && !hasSteps)
    throw wrong(
      'secret',
      'The secret is a step, but no sequence is declared.',
      'Add a dependence of kind sequence, or protect a row.',
    );
  if (entry.window !== undefined && entry.secret !== 'step')
    throw wrong(
      'window',
      `window does not go with the secret "${entry.secret}".`,
      'It says how many steps in a row are one secret: secret: step, window: 4.',
    );
  return {
    secret: entry.secret,
    ...(entry.unit !== undefined && { unit: entry.unit }),
    maxRows: entry.maxRows ?? 1,
    ...(entry.window !== undefined && entry.window > 1 && { window: entry.window }),
    adversary: entry.adversary ?? 'informed',
    ...(entry.neighbours === 'add-remove' && { neighbours: entry.neighbours }),
  };
}

/** Refuses add-or-remove neighbours except where neighbours.proof.md covers them. */
function refuseAddRemove(
  { protect, budget, dependence }: Pick<Policy, 'protect' | 'budget' | 'dependence'>,
  yaml: YamlFile,
): void {
  if (protect.neighbours === undefined) return;
  const wrong = (message: string, hint: string) => invalid(yaml, ['protect', 'neighbours'], message, hint);
  const replace = 'Leave neighbours out: one record is then replaced by any other, and how many there are is public.';
  if (protect.secret !== 'row' && protect.secret !== 'person')
    throw wrong(`Adding or removing records does not go with the secret "${protect.secret}".`, replace);
  if (dependence.length > 0)
    throw wrong(
      'Under ties nothing is promised about records that are added or removed: that somebody is there is tied, too, and by nothing that is declared.',
      replace,
    );
  if (!isZero(budget.delta) || budget.belief || budget.beliefs?.length)
    throw wrong(
      'Adding or removing records goes with a budget of epsilon alone: beliefs are about values, which move twice as far.',
      `Write budget: {epsilon: 0.5}. ${replace}`,
    );
}

/** Refuses budgets that do not go with what is protected. */
function refuseBudget({ protect, budget }: Pick<Policy, 'protect' | 'budget'>, yaml: YamlFile): void {
  if (budget.others && protect.secret === 'edge')
    throw invalid(
      yaml,
      ['budget', 'others'],
      'What others may spend is about people; this policy protects the tuples of its relations.',
      'Leave others out, and declare a smaller epsilon.',
    );
  if (budget.per && protect.secret !== 'step')
    throw invalid(
      yaml,
      ['budget', 'per'],
      `A budget per step does not go with the secret "${protect.secret}", which never grows back.`,
      'Protect steps: secret: step, with a window where several in a row are one secret.',
    );
  if (budget.per && protect.pairs)
    throw invalid(
      yaml,
      ['protect', 'pairs'],
      'Pairs do not go with a budget per step: what fades from step to step is accounted for any two values.',
      'Leave per out, or pairs.',
    );
}

function declareUnconfirmed(names: readonly string[], columns: ReadonlyMap<string, Column>, yaml: YamlFile): readonly string[] {
  for (const [i, name] of names.entries())
    if (!columns.has(name))
      throw invalid(
        yaml,
        ['unconfirmed', i],
        `The unconfirmed column "${name}" is not declared.`,
        didYouMean(name, [...columns.keys()], 'Declared columns'),
      );
  return [...new Set(names)];
}

function readModels(dependence: readonly Dependence[], kinds: TieKinds, yaml: YamlFile): ReadonlyMap<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (const [i, declared] of dependence.entries()) {
    const model = modelFile(declared, kinds);
    if (!model) continue;
    const bytes = readNamed(model.file, 'modelBytes', (why) =>
      invalid(
        yaml,
        ['dependence', i, model.key],
        `The ${model.key} file ${unreadableText[why]}.`,
        'Its path is relative to the policy.',
      ),
    );
    contents.set(model.file, bytes);
  }
  return contents;
}
