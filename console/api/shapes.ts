/** What the service tells, as far as the console reads it. Everything may carry more: fields are only ever added. */
export type Role = 'steward' | 'analyst' | 'auditor';
export interface Session {
  readonly name: string;
  readonly role: Role;
  readonly csrf: string;
  readonly expires: string;
}

/** A fault over HTTP: what happened, what to do, and what became of the budget. */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly hint?: string;
  readonly outcome?: unknown;
  readonly request?: string;
}

export interface PolicyName {
  readonly name: string;
  readonly population: string;
}
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly label?: string;
  readonly values?: readonly { readonly value: string; readonly label?: string }[];
  readonly bounds?: readonly [number, number];
  readonly bins?: readonly number[];
  readonly public?: boolean;
}
export interface Policy extends PolicyName {
  readonly title?: string;
  readonly secret: string;
  readonly adversary?: string;
  readonly budget?: { readonly epsilon: number; readonly delta: number; readonly belief?: { prior: number; posterior: number } };
  readonly columns: readonly Column[];
  readonly relations?: readonly { readonly name: string }[];
  readonly tables?: readonly { readonly name: string; readonly columns: readonly Column[] }[];
  readonly steps?: { readonly column: string };
  readonly sentences?: readonly { readonly topic: string; readonly text: string }[];
  /** Declared ties, in order. */
  readonly dependence?: readonly Tie[];
  /** How many rows, where everybody may know. */
  readonly records?: number;
}

export interface Tie {
  readonly kind: string;
  readonly by?: unknown;
  readonly relation?: string;
  readonly column?: string;
  readonly oddsRatio?: Figure;
}

/** A number that may have no bound. */
export type Figure = number | 'inf' | '-inf';

export interface Amounts {
  readonly total: number;
  readonly spent: number;
  readonly remaining: number;
  readonly delta: number;
}
export interface Spending {
  readonly population: string;
  readonly budget: Amounts;
  readonly gained: Figure;
  /** Of analysts; an analyst sees their own. */
  readonly quotas?: readonly {
    readonly analyst: string;
    readonly total?: Figure;
    readonly spent: Figure;
    readonly remaining: Figure;
  }[];
}
export interface Entry {
  readonly sequence: number;
  readonly at: string;
  readonly analyst: string;
  readonly label: string;
  readonly settled: boolean;
  readonly hash: string;
  readonly epsilon?: number;
}
export interface Verified {
  readonly ok: boolean;
  readonly entries: number;
}

export interface Foreseen {
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
export interface Guarantee {
  readonly certified: boolean;
  readonly sentences: readonly string[];
  readonly assumptions?: readonly string[];
}
export interface Plan {
  readonly label: string;
  readonly epsilon: number;
  readonly budget: Amounts;
  readonly fits: boolean;
  readonly refusal?: string;
  readonly warnings?: readonly string[];
  readonly waysOut?: readonly { readonly change: string; readonly error: number }[];
  readonly why: string;
  readonly mechanism: string;
  readonly errors: readonly Foreseen[];
  readonly whatIf?: readonly { readonly change: string; readonly leakage: number }[];
  readonly guarantee: Guarantee;
  readonly completes?: number;
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
export interface Receipt {
  readonly label: string;
  readonly population: string;
  readonly at: string;
  readonly epsilon: number;
  readonly mechanism: string;
  readonly why: string;
  readonly guarantee: Guarantee;
  readonly warnings?: readonly string[];
  readonly ledger: { readonly entry: number; readonly hash: string; readonly replayed: boolean };
}
export interface Answer {
  readonly receipt: Receipt;
  readonly tables?: readonly AnswerTable[];
  readonly result?: unknown;
}
export interface Asking {
  readonly question: unknown;
  readonly epsilon: string;
  readonly label?: string;
}
