import { sha256 } from '../../base/platform/hash.js';
import type { GridPlaces } from '../../policy/grid.js';
import type { Relation } from '../../policy/policy.js';

/** Description of the data for an engine, from a policy or from a caller without one. */
export interface EngineSource extends CellReadings {
  readonly source: string;
  readonly table?: string;
  /** Encoding of a CSV; UTF-8 by default. */
  readonly encoding?: string;
  readonly relations: readonly RelationSource[];
  readonly tables?: readonly TableSource[];
}

/** A side table: a file, or a table in the data's own database. */
export interface TableSource extends CellReadings {
  readonly name: string;
  readonly source?: string;
  readonly table?: string;
}

/** Properties of the cells of a table, known before they are read. */
export interface CellReadings {
  /** Columns declared as categories. */
  readonly codes: ReadonlySet<string>;
  /** Codes of categories from which only these codes are read: an engine may drop any other text in them. */
  readonly domains?: ReadonlyMap<string, readonly string[]>;
  /** Columns from which only numbers are read. */
  readonly numbers?: ReadonlySet<string>;
  /** Those of them whose text has a comma before the fraction. */
  readonly commas?: ReadonlySet<string>;
  /** Those of them whose cells are dates: days since 1970-01-01 are shown. */
  readonly dates?: ReadonlySet<string>;
  /** Grids through which numbers are read: an engine that holds the data may compute every cell's place once. */
  readonly grids?: ReadonlyMap<string, PlaceGrid>;
}

export type PlaceGrid = GridPlaces;

/** Two grids with one text give every number the same place. */
export const gridText = ({ from, top, rate, last, missing }: PlaceGrid): string => [from, top, rate, last, ...missing].join();

export interface RelationSource extends Pick<Relation, 'name' | 'table' | 'columns' | 'symmetric'> {
  /** The column that holds each tie's own odds ratio; shown as `odds`. */
  readonly odds?: string;
}

/** Content only: the same data under another name is the same snapshot. */
export const dataDigest = (source: EngineSource, contents: readonly string[]): string =>
  sha256(
    JSON.stringify([
      source.table ?? '',
      contents,
      ...(source.encoding === undefined ? [] : [source.encoding]),
      ...(source.tables ?? []).map(({ name, table }) => [name, table ?? '']),
    ]),
  );
