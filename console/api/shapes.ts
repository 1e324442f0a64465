import type {
  BudgetAnswer,
  EntriesAnswer,
  PlanAnswer,
  PlanBody,
  PoliciesAnswer,
  PolicyAnswer,
  ReceiptAnswer,
  ReleaseAnswer,
  SessionAnswer,
  TiesAnswer,
  VerifyAnswer,
} from '../../src/app/client/client.ts';

/**
 * Responses of the service, typed from its API document (types only: no client code in these files). Additional fields
 * that the console reads are declared here, and checked before use.
 */
type Known<T> = T extends readonly (infer U)[]
  ? readonly Known<U>[]
  : T extends object
    ? { readonly [K in keyof T as string extends K ? never : K]: Known<T[K]> }
    : T;
type Of<List extends readonly unknown[] | undefined> = NonNullable<List>[number];

export type Session = Known<SessionAnswer>;
export type Role = Session['role'];
export type PolicyName = Of<PoliciesAnswer['policies']>;
type PolicyKnown = Known<PolicyAnswer>;
export type Column = Omit<Of<PolicyKnown['columns']>, 'bounds'> & { readonly bounds?: readonly [low: number, high: number] };
export type Tie = Of<PolicyKnown['dependence']> & {
  readonly by?: unknown;
  readonly relation?: string;
  readonly column?: string;
  readonly oddsRatio?: Figure;
};
export interface Policy extends Omit<PolicyKnown, 'dependence' | 'columns'> {
  readonly columns: readonly Column[];
  readonly dependence: readonly Tie[];
  /** Number of rows, where it is public. */
  readonly records?: number;
}

/** A number that may have no bound. */
export type Figure = number | 'inf' | '-inf';
type Spent = Known<BudgetAnswer>;
export type Amounts = Spent['budget'];
export interface Spending extends Omit<Spent, 'quotas'> {
  readonly quotas?: readonly (Of<Spent['quotas']> & { readonly analyst: string })[];
}
export type Entries = Known<EntriesAnswer>;
export type Entry = Of<Entries['entries']>;
export type Verified = Known<VerifyAnswer>;
export type Network = Known<TiesAnswer>;

/** Fault over HTTP: the problem, its remedy, and what became of the budget. */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly hint?: string;
  readonly outcome?: unknown;
  readonly request?: string;
}

export interface PlannedError {
  readonly name: string;
  readonly query: {
    readonly kind: string;
    readonly column?: string;
    readonly by?: readonly string[];
    readonly columns?: readonly string[];
  };
  readonly cells: number;
  readonly standardError: number;
  readonly halfWidth: number;
  readonly perRow: boolean;
  readonly mostlyNoise?: string;
}
type PlanKnown = Known<PlanAnswer>;
export type Guarantee = PlanKnown['guarantee'] & { readonly assumptions?: readonly string[] };
export interface Plan extends Omit<PlanKnown, 'guarantee'> {
  readonly guarantee: Guarantee;
  readonly errors: readonly PlannedError[];
  /** For kinds without expected table errors: the measures, and the error of each number where it has one. */
  readonly measures?: readonly { readonly name: string; readonly cells: number; readonly error95?: number }[];
  readonly waysOut?: readonly { readonly change: string; readonly error: number }[];
}

export interface AnswerRow {
  readonly keys: readonly string[];
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly rankError?: number;
}
export interface AnswerTable {
  readonly name: string;
  readonly query: { readonly kind: string };
  readonly columns: readonly string[];
  readonly rows: readonly AnswerRow[];
  readonly mostlyNoise?: string;
}
export interface Receipt extends Omit<Known<ReceiptAnswer>, 'guarantee'> {
  readonly guarantee: Guarantee;
  readonly mechanism: string;
  readonly why: string;
  readonly warnings?: readonly string[];
}
export interface Answer extends Omit<Known<ReleaseAnswer>, 'receipt' | 'tables'> {
  readonly receipt: Receipt;
  readonly tables?: readonly AnswerTable[];
}
export interface QuestionRequest extends Pick<PlanBody, 'label'> {
  readonly question: unknown;
  readonly epsilon: string;
}
