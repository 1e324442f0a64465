import type { FaultPlace } from '../base/errors.js';
import type { Rational } from '../base/exact/rational.js';
import type { KnownTotals } from './known/known.js';
import type { Pairs } from './pairs/pairs.js';

/** Policy as parsed and checked. All other code uses this and never the YAML. */
export interface Policy {
  /** Real path of the policy file and its folder; relative paths in it have been resolved against the folder. */
  readonly file: string;
  readonly directory: string;
  /** Whose budget this is: policies with one population share one ledger account. */
  readonly population: string;
  /** Name of the population in publications. */
  readonly title?: string;
  /** Real path of the file in which it is recorded. */
  readonly ledger: string;
  readonly data: DataSource;
  readonly protect: Protect;
  readonly budget: Budget;
  readonly design?: Design;
  readonly columns: ReadonlyMap<string, Column>;
  readonly relations: ReadonlyMap<string, Relation>;
  /** Further tables; the table of the data defines the persons. */
  readonly tables?: ReadonlyMap<string, LinkedTable>;
  /**
   * Set if this is a view over the tables of a file, with the known properties of its rows (src/query/view), which are already
   * truncated.
   */
  readonly view?: ViewRows;
  /** Empty for `dependence: none`, which the steward must write explicitly. */
  readonly dependence: readonly Dependence[];
  /** `dependence: undecided`: dependence between records is not declared yet, so no promise is possible. */
  readonly undecided?: true;
  /** Exact totals that everybody knows already. */
  readonly known?: KnownTotals;
  /** Columns tied by skip logic, which a survey may release as one joint histogram. */
  readonly merge?: readonly MergedColumns[];
  /** Columns whose domain or bounds were read from the data by `fugu init` and not yet confirmed. */
  readonly unconfirmed: readonly string[];
  /** Digest of the terms of the guarantee: protect, budget, dependence. Policies of one population must agree on it. */
  readonly digest: string;
  /** The same digest with files relative to the ledger's folder, so that request keys survive a move of the folder. */
  readonly movableDigest?: string;
  /** Terms of the digest, one per line, to report which of them changed. */
  readonly terms?: readonly string[];
  /** Place of each entry in the file ("protect.unit", "columns.age.bounds"), for faults found after parsing. */
  readonly places?: ReadonlyMap<string, FaultPlace>;
}

export interface DataSource {
  /** A path to a file, or the address of a database (address.ts). */
  readonly source: string;
  readonly table?: string;
  readonly codebook?: string;
  /** Numbers written as text have a comma before their fraction. */
  readonly decimal?: ',';
  /**
   * Encoding of a CSV; UTF-8 when absent. Declared and never detected, because one record's letters would then decide the reading
   * of all others.
   */
  readonly encoding?: string;
  /** Columns other than the unit by which its rows are joined to other tables. */
  readonly links?: readonly string[];
}

/** Further table: rows of the same persons, or public rows. */
export interface LinkedTable {
  readonly name: string;
  /** The file it is read from; the data's own source when absent. */
  readonly source?: string;
  readonly table?: string;
  /** Column that names the person a row belongs to; absent where the table is public. */
  readonly unit?: string;
  /**
   * Key: no two rows of one person (of a public table: no two rows) share these values; of duplicates in the data, one is used.
   */
  readonly key?: readonly string[];
  /** Columns other than unit and key by which its rows are joined to other tables. */
  readonly links: readonly string[];
  /** Most rows one person may have; rows of a public table belong to nobody. */
  readonly maxRows: number;
  /** Largest number of them with one value of a column. */
  readonly period?: { readonly column: string; readonly maxRows: number };
  readonly public: boolean;
  readonly columns: ReadonlyMap<string, Column>;
}

/** Properties of a view's rows other than their columns and the number per person. */
export interface ViewRows {
  /** Columns that have one value in all rows of one person. */
  readonly steady: ReadonlySet<string>;
}

/** Sample design, as needed for standard errors: declared, never read from the data. */
export interface Design {
  /** Design effect: variance of a share or mean relative to a simple random sample of the same size. */
  readonly effect: number;
  /** Factor of the design effect due to clusters, and columns whose values vary within clusters as in the whole population. */
  readonly clusters?: { readonly effect: number; readonly mixed: readonly string[] };
  /** Size of the population that was sampled; infinite when absent. */
  readonly population?: number;
  /** Mean of a weight column, and its design effect: variance relative to equal weights (Kish). */
  readonly weights?: { readonly column: string; readonly mean: number; readonly effect: number };
  /** Strata: codes of a column, and the population size of each stratum. */
  readonly strata?: { readonly column: string; readonly sizes: ReadonlyMap<string, number> };
}

export type SecretKind = 'row' | 'person' | 'answer' | 'step' | 'edge';
export type Adversary = 'informed' | 'uninformed';

export interface Protect {
  readonly secret: SecretKind;
  /** Column that names the person a row belongs to (secret `person`), or that names the row (ties and groups refer to it). */
  readonly unit?: string;
  /** Most rows one person may contribute; 1 unless the secret is `person`. */
  readonly maxRows: number;
  /** Number of consecutive steps of one sequence that form one privacy unit (secret `step`); 1 when absent. */
  readonly window?: number;
  readonly adversary: Adversary;
  /** Absent: replace (policy/neighbours.ts). */
  readonly neighbours?: 'add-remove';
  /** Pairs of values that must be indistinguishable; any two values when absent. */
  readonly pairs?: Pairs;
}

export interface Budget {
  /** Limit on the leakage of one record, ties included. */
  readonly epsilon: Rational;
  /** 0 for a pure guarantee. */
  readonly delta: Rational;
  /** Present when the steward chose epsilon by belief: the statement that set epsilon. */
  readonly belief?: { readonly prior: Rational; readonly posterior: Rational };
  /**
   * Releases about steps spend the cost that every step can afford for ever, unless they request otherwise. Same account; not
   * part of the terms.
   */
  readonly per?: 'step';
  /** All belief statements of the steward; epsilon is the least that satisfies all of them. */
  readonly beliefs?: readonly BeliefStatement[];
  /** Cost per record of releases by others about the same people, counted as spent. */
  readonly others?: { readonly epsilon?: Rational; readonly rho?: Rational };
  /** Division of the budget among analysts; not part of the terms. */
  readonly analysts?: Quotas;
}

/** In epsilon of the whole budget, by the operating system's user name; `each`: for everybody not named. */
export interface Quotas {
  readonly each?: Rational;
  readonly named: ReadonlyMap<string, Rational>;
}

/**
 * Statement: an attacker with prior probability `prior` for `about` has a posterior of at most `posterior` and at least `floor`
 * after all releases.
 */
export interface BeliefStatement {
  readonly prior: Rational;
  readonly posterior?: Rational;
  readonly floor?: Rational;
  readonly about?: string;
}

export type Column = CategoryColumn | NumberColumn | MultiColumn | WeightColumn;
interface ColumnBase {
  readonly name: string;
  readonly label?: string;
  /** Codes that mean "no answer", as text. */
  readonly missing: readonly string[];
  /** Random forms and skip gates: public, not protected. */
  readonly public?: boolean;
}
export interface CategoryColumn extends ColumnBase {
  readonly type: 'category';
  /** Declared codes as text, in display order; anything else in the data counts as missing. */
  readonly values: readonly string[];
  readonly labels: ReadonlyMap<string, string>;
  /**
   * Answers rarer than this share form one secret in learned pairwise bounds; with public shares in the codebook also one level.
   */
  readonly pool?: number;
  /** Answers that are counted and shown as one level, from the policy or from public shares, never from the data. */
  readonly pools?: readonly (readonly string[])[];
}
export interface NumberColumn extends ColumnBase {
  readonly type: 'integer' | 'number';
  /** Values are clamped into the bounds. */
  readonly bounds: readonly [Rational, Rational];
  /** Resolution a `number` is rounded to; integers use 1. */
  readonly step: Rational;
  /** Cells are texts with a decimal comma, if data.decimal declares it. */
  readonly decimal?: ',';
  /** Its cells are dates, each a whole number: days since 1970-01-01. */
  readonly date?: true;
  /** Inner edges of the bins used when the column is shown as a histogram or used as a key. */
  readonly bins?: readonly Rational[];
}
export interface MultiColumn extends ColumnBase {
  readonly type: 'multi';
  readonly values: readonly string[];
  readonly labels: ReadonlyMap<string, string>;
  readonly separator: string;
}
export interface WeightColumn extends ColumnBase {
  readonly type: 'weight';
  readonly bounds: readonly [Rational, Rational];
  readonly step: Rational;
  readonly decimal?: ',';
}

/** Category columns and the combinations of their answers that the questionnaire allows (null: no answer), each once. */
export interface MergedColumns {
  readonly columns: readonly string[];
  readonly support: readonly (readonly (string | null)[])[];
}

export interface Relation {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** Public size of the domain the columns range over. */
  readonly domain: number;
  readonly symmetric: boolean;
  /** A public relation costs nothing and hides nothing. */
  readonly private: boolean;
}

/** Declared dependence; its other properties depend on the kind (data/ties/kinds.ts). */
export interface Dependence {
  readonly kind: string;
}
