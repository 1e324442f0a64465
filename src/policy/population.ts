import { Fault } from '../base/errors.js';
import { existsSync, readdirSync, readlinkSync, realpathSync, statSync } from '../base/platform/files.js';
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from '../base/platform/paths.js';
import { canonicalAddress, isDatabase, tableIn } from './address.js';
import type { Policy, Relation } from './policy.js';
import { ownTables } from './tables.js';

/** Limit on the length of a chain of links to a file that does not exist yet; also ends a circle of links. */
const mostLinks = 40;

/**
 * Path with all links resolved as far as it exists, so that a file has one name. Synchronous, because a worker thread would take
 * longer than a request.
 */
export function canonicalPath(path: string, links = mostLinks): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const here = join(canonicalPath(parent, links), basename(path));
    // A link to what does not exist yet: it is made where the link points.
    const target = links > 0 ? linkAt(here) : undefined;
    return target === undefined ? here : canonicalPath(resolve(dirname(here), target), links - 1);
  }
}
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Canonical name of the place where data lies. */
const placeOf = (source: string): string => (isDatabase(source) ? canonicalAddress(source) : canonicalPath(source));

type PopulationSource = Pick<Policy, 'data' | 'protect' | 'relations' | 'tables'>;

/** Private relations: each is a record class of its own, by its name. */
export const edgeRelations = ({ protect, relations }: Pick<PopulationSource, 'protect' | 'relations'>): readonly Relation[] =>
  protect.secret === 'edge' ? privateOf(relations) : [];
const privateOf = (relations: PopulationSource['relations']): readonly Relation[] =>
  [...relations.values()].filter((r) => r.private);

/** The real file a relation is read from; a table without a file lies in the data's own database. */
const fileOf = ({ table }: Relation, { source }: PopulationSource['data']): string => placeOf(isAbsolute(table) ? table : source);

/** The real table of a relation: `t` and `main.t` are one. */
export const realTable = (relation: Relation, data: PopulationSource['data']): string => {
  const file = fileOf(relation, data);
  if (isAbsolute(relation.table)) return file;
  return `${file}#${isDatabase(data.source) ? tableIn(data.source, relation.table) : relation.table.replace(/^main\./, '')}`;
};

const distinct = (files: readonly string[]): readonly string[] => [...new Set(files)].sort();

/**
 * Real paths of the protected files: the tables of the private relations for the secret `edge`, otherwise the data and the tables
 * of the same persons.
 */
export const secretFiles = (kept: PopulationSource): readonly string[] => {
  const edges = edgeRelations(kept);
  return edges.length > 0 ? distinct(edges.map((r) => fileOf(r, kept.data))) : personFiles(kept);
};
const personFiles = (kept: PopulationSource): readonly string[] =>
  distinct([kept.data.source, ...ownTables(kept).map((t) => t.source ?? kept.data.source)].map(placeOf));

/** All files that a policy of this data could protect, for any secret. */
const allFiles = (kept: PopulationSource): readonly string[] =>
  distinct([...personFiles(kept), ...privateOf(kept.relations).map((r) => fileOf(r, kept.data))]);

/**
 * Population whose budget a policy spends: as declared, or named after the real paths of the protected files alone. A copied or
 * edited policy thus keeps its account (docs/explanation/decisions/0002).
 */
export const populationOf = (written: string | undefined, files: readonly string[]): string =>
  (written ?? `${ofData}${files.join(between)}`).normalize('NFC');
const ofData = 'data:';
const between = '|';

/** Public name of a population: the steward's title if given, never a path. */
export const publicName = ({ title, population, data }: Pick<Policy, 'title' | 'population' | 'data'>): string =>
  title ?? (population.startsWith(ofData) ? nameOf(data) : population);

const nameOf = ({ source, table }: Policy['data']): string =>
  isDatabase(source) ? (table ?? source).replace(/^.*\./, '') : parse(source).name;

/**
 * Ledger in the folder of the data, for the same reason; undefined for several folders or a database, where a default would
 * create a second ledger.
 */
export const defaultLedger = (files: readonly string[]): string | undefined => {
  if (files.some(isDatabase)) return undefined;
  const [folder, ...others] = new Set(files.map(dirname));
  return folder === undefined || others.length > 0 ? undefined : join(folder, '.fugu', 'ledger.db');
};

/** Files that a population was named after, as their paths were then; none where the steward named it. */
export const filesOfPopulation = (population: string): readonly string[] =>
  population.startsWith(ofData) ? filesIn(population) : [];

/** The files of an account that is named after them. */
const filesIn = (population: string): readonly string[] => {
  const named = population.slice(ofData.length);
  return isItself(named) ? [named] : named.split(between);
};

/** Is this path the real place of a file? Not when nothing is there, nor when a link at the old place leads to where it is now. */
function isItself(path: string): boolean {
  if (isDatabase(path)) return true;
  try {
    if (realpathSync(path) === path) return true;
  } catch {
    // Perhaps stored under another form of the same letters.
  }
  const { root } = parse(path);
  return /[^\x20-\x7e]/.test(path) && holds(root, path.slice(root.length).split(sep));
}
function holds(folder: string, [next, ...rest]: readonly string[]): boolean {
  if (next === undefined) return true;
  try {
    return readdirSync(folder, { withFileTypes: true }).some(
      (e) => e.name.normalize('NFC') === next && !e.isSymbolicLink() && holds(join(folder, e.name), rest),
    );
  } catch {
    return false;
  }
}

/**
 * Accounts of files that no longer exist; limited to files of the same names if there are any, since continuing another's account
 * would forget what was spent on these.
 */
function likeliest(population: string, known: readonly string[]): readonly string[] {
  const lost = known.filter((name) => !filesIn(name).every(isItself));
  const called = (name: string) =>
    filesIn(name)
      .map((file) => basename(file))
      .sort()
      .join('/');
  const alike = lost.filter((name) => called(name) === called(population));
  return alike.length > 0 ? alike : lost;
}

/**
 * Accounts that a new account named after files might duplicate: those of vanished files (probably moved or renamed) and of some
 * of these files. An empty account would be a fresh budget.
 */
export function accountOpening(policy: Policy): (others: readonly string[]) => void {
  const { population } = policy;
  const usual = populationOf(undefined, secretFiles(policy));
  const mine = new Set(allFiles(policy).map((file) => file.normalize('NFC')));
  return (others) => {
    if (!population.startsWith(ofData)) return;
    const known = others.filter((name) => name.startsWith(ofData));
    const goOn = (name: string) => `write population: ${JSON.stringify(name)} into the policy to go on with its budget`;
    const lost = likeliest(population, known);
    if (lost.length > 0)
      throw new Fault(
        'LEDGER_MISMATCH',
        `The ledger holds the budget of ${lost.map((name) => name.slice(ofData.length)).join(' and that of ')}, which is not there any more (at most a link is), and none of ${population.slice(ofData.length)}.`,
        `If the data was moved or renamed, ${lost.length === 1 ? goOn(lost[0]!) : `write the population that is its own into the policy: ${lost.map((name) => JSON.stringify(name)).join(' or ')}`}; if these are other people, name their population.`,
      );
    const shared = population === usual && known.find((name) => filesIn(name).some((file) => mine.has(file)));
    if (shared)
      throw new Fault(
        'LEDGER_MISMATCH',
        `The ledger holds the budget of ${shared.slice(ofData.length)}, which this policy reads too, and none of ${population.slice(ofData.length)}.`,
        `To protect the same, ${goOn(shared)}; to give these secrets a budget of their own, name their population: what is promised about both adds up.`,
      );
  };
}

/**
 * Warnings about ways in which the same people could unnoticed get a second budget, one sentence each; empty if there are none.
 */
export function accountWarnings(policy: Policy): readonly string[] {
  const { population, ledger } = policy;
  const files = secretFiles(policy);
  const folders = distinct(allFiles(policy).flatMap((file) => defaultLedger([file]) ?? []));
  const usual = folders.map((file) => canonicalPath(file));
  const own = defaultLedger(files);
  const [named, placed] = [population !== populationOf(undefined, files), own === undefined || ledger !== canonicalPath(own)];
  const names = Math.max(...files.map((file) => statSync(file, { throwIfNoEntry: false })?.nlink ?? 1));
  return [
    ...usual
      .filter((other) => other !== ledger && existsSync(other))
      .map(
        (other) =>
          `There is another ledger beside the data (${other}). Each ledger is a budget of its own: keep one for these people.`,
      ),
    ...(named && !placed
      ? [
          `The ledger lies beside the data because none is named. Data of "${population}" in another folder would have a budget of its own: write "ledger: ${ledger}" into every policy of this population.`,
        ]
      : []),
    ...(names > 1 && !(named && placed)
      ? [
          `The data file has ${names} names on its disk (hard links). Under another name it has a budget of its own: name the population and the ledger.`,
        ]
      : []),
  ];
}
