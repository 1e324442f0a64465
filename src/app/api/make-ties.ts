import * as z from 'zod';
import { affinityTies, attributeProfiles } from '../../analysis/learn/odds/affinity.js';
import {
  type DistanceMetric,
  distanceTies,
  type PublicPlace,
  planeMetric,
  sphereMetric,
  tieByDistance,
} from '../../analysis/learn/odds/distance.js';
import { backstrom } from '../../analysis/learn/odds/friendship-model.js';
import { type TieRow, tieTable } from '../../analysis/learn/odds/tie.js';
import { Fault } from '../../base/errors.js';
import { writeWhole } from '../../base/files/write-file.js';
import { type CsvTable, columnOf, neededColumn, neededNumbers, readCsvTable } from './csv-table.js';
import { type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { defineRequest, field } from './request.js';

const above = (least: number) => z.number().gt(least);
const mustBe = (flag: string, what: string) => [`${flag} must be a number ${what}.`, 'For example 0.8.'] as const;
const above0 = (flag: string) => mustBe(flag, 'above 0');
const atLeast1 = (flag: string) => mustBe(flag, 'of at least 1');
export const distanceOptions = defineRequest('DistanceTieOptions', {
  out: field(z.string().min(1).optional(), 'Output file of the ties.', { value: 'file', help: 'where to write the ties made' }),
  radius: field(
    above(0).optional(),
    'Public radius: everybody is known to be within this distance of their point; or a column "radius".',
    {
      value: 'r',
      help: 'with --distance: everybody is publicly known to be within r of their point',
      refusal: above0('--radius'),
    },
  ),
  unit: field(z.enum(['miles', 'km', 'degrees']).default('miles'), 'Unit of the coordinates.', {
    value: 'unit',
    help: 'with --distance: miles, km or degrees',
    showsDefault: true,
    refusal: ['--unit must be miles, km or degrees.', 'The distance law was fitted in miles.'],
  }),
  b: field(above(0).default(backstrom.b), 'Parameters of the law (distance + b)^-c.', {
    value: 'miles',
    help: 'with --distance: (distance + b)^-c',
    showsDefault: true,
    refusal: above0('--b'),
  }),
  c: field(above(0).default(backstrom.c), 'The power of the law.', {
    value: 'power',
    help: 'with --distance: (distance + b)^-c',
    showsDefault: true,
    refusal: above0('--c'),
  }),
  least: field(z.number().min(1).default(1.05), 'Least odds ratio; pairs below it are left out.', {
    value: 'ratio',
    help: 'with --distance: leave out pairs with a smaller odds ratio',
    showsDefault: true,
    refusal: atLeast1('--least'),
  }),
  pairs: field(z.string().min(1).optional(), 'Pairs to keep: a CSV whose first two columns are ids.', {
    value: 'file',
    help: 'with --distance: only these pairs (first two columns)',
  }),
});
export type DistanceTieOptions = z.input<typeof distanceOptions>;

/** Ties made from public data, and the effect of leaving pairs out. */
export interface MadeTies {
  readonly ties: readonly TieRow[];
  readonly people: number;
  /** Largest number of ties of one person. */
  readonly mostTies: number;
  /** Largest odds ratio; 1 where the ties have no strength yet. */
  readonly strongest: number;
  readonly notes: readonly string[];
}

/**
 * Ties from public coordinates (a CSV id,x,y or id,lat,lon): a friendship law that decreases with distance, as a factor between
 * places known up to a radius.
 *
 * @example
 * const { ties, mostTies } = await makeDistanceTies('places.csv', { radius: 1, out: 'ties.csv' });
 */
export async function makeDistanceTies(places: FileName, given?: DistanceTieOptions): Promise<MadeTies> {
  return withFaults(() => {
    const file = fileNamed(places, 'The table of places');
    const chosen = parseOptions(distanceOptions, given);
    const table = readCsvTable(file);
    const unit = metricOf[chosen.unit];
    const [x, y] = chosen.unit === 'degrees' ? (['lat', 'lon'] as const) : (['x', 'y'] as const);
    const radius = radiiOf(table, chosen.radius);
    const [xs, ys] = [neededNumbers(table, x), neededNumbers(table, y)];
    const points = idsOf(table).map((id, i): PublicPlace => ({ id, x: xs[i]!, y: ys[i]!, radius: radius[i]! * unit.miles }));
    const { b, c, least } = chosen;
    const options = { model: { b, c }, metric: unit.metric, least };
    const ties = chosen.pairs === undefined ? distanceTies(points, options) : amongPairs(points, chosen.pairs, options);
    return finish(chosen.out, ties, points.length, [
      `Pairs with an odds ratio below ${least} were left out: they are declared strangers, and what they carry is not protected.`,
      'It is assumed that everybody is within the radius of the public point, and that places of tied people follow the distance law.',
    ]);
  });
}

function amongPairs(places: readonly PublicPlace[], file: string, options: Parameters<typeof tieByDistance>[2]): TieRow[] {
  const known = new Map(places.map((p) => [p.id, p]));
  return readCsvTable(file).rows.flatMap(([a, b], r) => {
    const [p, q] = [known.get(a!), known.get(b ?? '')];
    if (!p || !q)
      throw new Fault('DATA_MALFORMED', 'A pair names somebody without coordinates.', 'Add their line, or remove the pair.', {
        place: { file, line: r + 2 },
      });
    return p === q ? [] : (tieByDistance(p, q, options) ?? []);
  });
}

export const affinityOptions = defineRequest('AffinityTieOptions', {
  out: field(z.string().min(1).optional(), 'Output file of the ties.'),
  threshold: field(above(0).default(0.8), 'Similarity above which two people are alike.', {
    value: 't',
    help: 'with --affinity: alike means more than this',
    showsDefault: true,
    refusal: above0('--threshold'),
  }),
  norm: field(z.enum(['cosine', 'l1']).default('cosine'), 'Similarity of two people.', {
    value: 'norm',
    help: 'with --affinity: cosine or l1',
    showsDefault: true,
    refusal: ['--norm must be cosine or l1.', 'cosine finds every tie that l1 finds, and more.'],
  }),
  centre: field(z.boolean().default(false), 'Numbers are taken as distances from their mean.', {
    help: 'with --affinity: numbers as distances from their mean',
  }),
  oddsRatio: field(z.number().min(1).optional(), 'Odds ratio to write for every tie.', {
    value: 'r',
    help: 'with --affinity: the strength to write beside every tie',
    refusal: atLeast1('--odds-ratio'),
  }),
});
export type AffinityTieOptions = z.input<typeof affinityOptions>;

/**
 * Ties between people whose public attributes (a CSV id,attribute,...) are alike.
 *
 * @example
 * const { ties } = await makeAffinityTies('attributes.csv', { threshold: 0.9, oddsRatio: 3 });
 */
export async function makeAffinityTies(attributes: FileName, given?: AffinityTieOptions): Promise<MadeTies> {
  return withFaults(() => {
    const file = fileNamed(attributes, 'The table of attributes');
    const { out, threshold, norm, centre, oddsRatio } = parseOptions(affinityOptions, given);
    const table = readCsvTable(file);
    const ids = idsOf(table);
    const columns = table.names.filter((n) => n !== 'id').map((n) => neededColumn(table, n));
    const found = affinityTies(attributeProfiles(ids, columns, centre), threshold, norm);
    const ties = oddsRatio === undefined ? found : found.map((t) => ({ ...t, oddsRatio }));
    return finish(out, ties, ids.length, [
      'People below the threshold are declared strangers, and what they carry is not protected.',
      ...(oddsRatio === undefined ? ['The ties have no strength yet: declare oddsRatio, or they count as copies.'] : []),
    ]);
  });
}

function finish(out: string | undefined, ties: readonly TieRow[], people: number, notes: readonly string[]): MadeTies {
  if (out !== undefined) writeWhole(out, tieTable(ties), { hint: 'Choose another --out.' });
  const degree = new Map<string, number>();
  for (const { a, b } of ties) for (const name of [a, b]) degree.set(name, (degree.get(name) ?? 0) + 1);
  const mostTies = [...degree.values()].reduce((a, b) => Math.max(a, b), 0);
  const strongest = ties.reduce((most, t) => Math.max(most, t.oddsRatio ?? 1), 1);
  return { ties, people, mostTies, strongest, notes };
}

function idsOf(table: CsvTable): readonly string[] {
  const ids = neededColumn(table, 'id');
  if (new Set(ids).size !== ids.length || ids.includes(''))
    throw new Fault('DATA_MALFORMED', 'The column "id" is empty somewhere, or names somebody twice.', 'One line per person.', {
      place: { file: table.file },
    });
  return ids;
}

function radiiOf(table: CsvTable, radius: number | undefined): readonly number[] {
  if (columnOf(table, 'radius')) {
    const list = neededNumbers(table, 'radius');
    if (list.every((r) => r >= 0)) return list;
  }
  if (radius === undefined)
    throw new Fault(
      'USAGE',
      'How far from the public point somebody may be is not said.',
      'Add --radius (in the unit of the coordinates; miles for degrees), or a column "radius".',
    );
  return table.rows.map(() => radius);
}

const mile = 1.609344;
/** The law is in miles; km are converted. */
const metricOf: Readonly<Record<'miles' | 'km' | 'degrees', { readonly metric: DistanceMetric; readonly miles: number }>> = {
  degrees: { metric: sphereMetric, miles: 1 },
  miles: { metric: planeMetric(1), miles: 1 },
  km: { metric: planeMetric(1 / mile), miles: (1 + 1e-12) / mile },
};
