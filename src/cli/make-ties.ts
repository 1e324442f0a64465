import { Fault } from '../errors.js';
import { writeWhole } from '../files/write-file.js';
import { affinityTies, type Norm, profilesOf } from '../learn/odds/affinity.js';
import { distanceTies, type Metric, type Place, planeMetric, sphereMetric, tieOf } from '../learn/odds/distance.js';
import { type Tie, tieTable } from '../learn/odds/tie.js';
import { backstrom } from '../papers/dependent-tuples/friend-model.js';
import { type CsvTable, columnOf, neededColumn, neededNumbers, readCsvTable } from './csv-table.js';
import { emit, figure } from './output.js';

export interface MakeWords {
  readonly out?: string;
  readonly distance?: string;
  readonly radius?: string;
  readonly unit: string;
  readonly b: string;
  readonly c: string;
  readonly least: string;
  readonly pairs?: string;
  readonly affinity?: string;
  readonly threshold: string;
  readonly norm: string;
  readonly centre?: boolean;
  readonly oddsRatio?: string;
  readonly json?: boolean;
}

/** Ties from public coordinates: Eq. 26 of Liu et al. 2016 as a factor between places that are known up to a radius. */
export function makeDistanceTies(file: string, words: MakeWords): void {
  const table = readCsvTable(file);
  const unit = metricOf(words.unit);
  const [x, y] = words.unit === 'degrees' ? ['lat', 'lon'] : ['x', 'y'];
  const radius = radiiOf(table, words.radius);
  const [xs, ys] = [neededNumbers(table, x!), neededNumbers(table, y!)];
  const places = idsOf(table).map((id, i): Place => ({ id, x: xs[i]!, y: ys[i]!, radius: radius[i]! * unit.miles }));
  const law = { b: positive(words.b, '--b'), c: positive(words.c, '--c') };
  const least = atLeastOne(words.least, '--least');
  const options = { law, metric: unit.metric, least };
  const ties = words.pairs === undefined ? distanceTies(places, options) : amongPairs(places, words.pairs, options);
  finish(words, ties, places.length, [
    `Pairs with an odds ratio below ${least} were left out: they are declared strangers, and what they carry is not protected.`,
    'It is assumed that everybody is within the radius of the public point, and that places of tied people follow the distance law.',
  ]);
}

function amongPairs(places: readonly Place[], file: string, options: Parameters<typeof tieOf>[2]): Tie[] {
  const known = new Map(places.map((p) => [p.id, p]));
  return readCsvTable(file).rows.flatMap(([a, b], r) => {
    const [p, q] = [known.get(a!), known.get(b ?? '')];
    if (!p || !q)
      throw new Fault('DATA_MALFORMED', 'A pair names somebody without coordinates.', 'Add their line, or remove the pair.', {
        place: { file, line: r + 2 },
      });
    return p === q ? [] : (tieOf(p, q, options) ?? []);
  });
}

/** Ties between people whose public attributes are alike. */
export function makeAffinityTies(file: string, words: MakeWords): void {
  const table = readCsvTable(file);
  const ids = idsOf(table);
  const threshold = positive(words.threshold, '--threshold');
  if (words.norm !== 'cosine' && words.norm !== 'l1')
    throw new Fault('USAGE', '--norm must be cosine or l1.', 'cosine finds every tie that l1 finds, and more.');
  const attributes = table.names.filter((n) => n !== 'id').map((n) => neededColumn(table, n));
  const profiles = profilesOf(ids, attributes, words.centre === true);
  const oddsRatio = words.oddsRatio === undefined ? undefined : atLeastOne(words.oddsRatio, '--odds-ratio');
  const found = affinityTies(profiles, threshold, words.norm as Norm);
  const ties = oddsRatio === undefined ? found : found.map((t) => ({ ...t, oddsRatio }));
  finish(words, ties, ids.length, [
    'People below the threshold are declared strangers, and what they carry is not protected.',
    ...(oddsRatio === undefined ? ['The ties have no strength yet: declare oddsRatio, or they count as copies.'] : []),
  ]);
}

function finish(words: MakeWords, ties: readonly Tie[], people: number, notes: readonly string[]): void {
  const out = words.out;
  if (out === undefined) throw new Fault('USAGE', 'Where to write the ties is not said.', 'Add --out ties.csv.');
  writeWhole(out, tieTable(ties), { hint: 'Choose another --out.' });
  const degree = new Map<string, number>();
  for (const { a, b } of ties) for (const name of [a, b]) degree.set(name, (degree.get(name) ?? 0) + 1);
  const most = Math.max(0, ...degree.values());
  const strongest = Math.max(1, ...ties.map((t) => t.oddsRatio ?? 1));
  emit(words.json, { written: out, people, ties: ties.length, mostTies: most, strongest, notes }, () =>
    [
      `Wrote ${out}: ${ties.length} ties between ${people} people, at most ${most} each${strongest > 1 ? `, odds ratios up to ${figure(strongest)}` : ''}.`,
      ...notes,
      'Use it: relations: { near: { table: FILE, columns: [a, b], domain: N, symmetric: true, private: false } }',
      `        dependence: [{ kind: ties, relation: near${strongest > 1 ? ', oddsColumn: oddsRatio' : ', oddsRatio: R'} }]`,
    ].join('\n'),
  );
}

function idsOf(table: CsvTable): readonly string[] {
  const ids = neededColumn(table, 'id');
  if (new Set(ids).size !== ids.length || ids.includes(''))
    throw new Fault('DATA_MALFORMED', 'The column "id" is empty somewhere, or names somebody twice.', 'One line per person.', {
      place: { file: table.file },
    });
  return ids;
}

function radiiOf(table: CsvTable, word: string | undefined): readonly number[] {
  if (columnOf(table, 'radius')) {
    const list = neededNumbers(table, 'radius');
    if (list.every((r) => r >= 0)) return list;
  }
  if (word === undefined)
    throw new Fault(
      'USAGE',
      'How far from the public point somebody may be is not said.',
      'Add --radius (in the unit of the coordinates; miles for degrees), or a column "radius".',
    );
  return table.rows.map(() => positive(word, '--radius'));
}

const mile = 1.609344;
/** The law is in miles; km are turned into them. */
function metricOf(unit: string): { readonly metric: Metric; readonly miles: number } {
  if (unit === 'degrees') return { metric: sphereMetric, miles: 1 };
  if (unit === 'miles') return { metric: planeMetric(1), miles: 1 };
  if (unit === 'km') return { metric: planeMetric(1 / mile), miles: (1 + 1e-12) / mile };
  throw new Fault('USAGE', '--unit must be miles, km or degrees.', 'The distance law was fitted in miles.');
}

const number = (text: string, holds: (x: number) => boolean, message: string): number => {
  const x = Number(text);
  if (text.trim() !== '' && Number.isFinite(x) && holds(x)) return x;
  throw new Fault('USAGE', message, 'For example 0.8.');
};
const positive = (text: string, what: string) => number(text, (x) => x > 0, `${what} must be a number above 0.`);
const atLeastOne = (text: string, what: string) => number(text, (x) => x >= 1, `${what} must be a number of at least 1.`);

export const friendLawDefaults = { b: `${backstrom.b}`, c: `${backstrom.c}` };
