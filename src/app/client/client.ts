// Made from the API document by scripts/client.mjs. Change the routes, not this.

/** Answer of `signIn`. */
export type SignInAnswer = {
  readonly name: string;
  readonly role: 'steward' | 'analyst' | 'auditor';
  /** Anti-forgery value for the header x-fugu-csrf of every request but GET. Absent with a token. */
  readonly csrf?: string | undefined;
  readonly expires: string;
};
/** Body of `signIn`. */
export type SignInBody =
  | {
      /** Valid once, for ten minutes. */
      readonly code: string;
    }
  | { readonly token: string };
/** Answer of `session`. */
export type SessionAnswer = SignInAnswer;
/** Answer of `signOut`. */
export type SignOutAnswer = { readonly ended: boolean };
/** Answer of `policies`. */
export type PoliciesAnswer = {
  readonly policies: readonly {
    readonly name: string;
    readonly population: string;
    /** True if rows are ordered in time: then the route `time` has figures. */
    readonly steps: boolean;
  }[];
};
/** Answer of `policy`. */
export type PolicyAnswer = {
  readonly name: string;
  readonly population: string;
  readonly title?: string | undefined;
  readonly secret: string;
  readonly adversary: string;
  readonly neighbours?: string | undefined;
  readonly budget: {
    readonly epsilon: number;
    readonly delta: number;
    readonly belief?: { readonly prior: number; readonly posterior: number } | undefined;
    readonly [more: string]: unknown;
  };
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly label?: string | undefined;
    readonly values?: readonly { readonly value: string; readonly label?: string | undefined }[] | undefined;
    readonly bounds?: readonly number[] | undefined;
    readonly bins?: readonly number[] | undefined;
    readonly step?: number | undefined;
    readonly date?: true | undefined;
    readonly public?: true | undefined;
    readonly [more: string]: unknown;
  }[];
  /** Declared ties, in order. */
  readonly dependence: readonly { readonly kind: string; readonly [more: string]: unknown }[];
  readonly relations?:
    | readonly { readonly name: string; readonly columns: readonly string[]; readonly [more: string]: unknown }[]
    | undefined;
  readonly tables?:
    | readonly {
        readonly name: string;
        readonly columns: readonly {
          readonly name: string;
          readonly type: string;
          readonly label?: string | undefined;
          readonly values?: readonly { readonly value: string; readonly label?: string | undefined }[] | undefined;
          readonly bounds?: readonly number[] | undefined;
          readonly bins?: readonly number[] | undefined;
          readonly step?: number | undefined;
          readonly date?: true | undefined;
          readonly public?: true | undefined;
          readonly [more: string]: unknown;
        }[];
        readonly [more: string]: unknown;
      }[]
    | undefined;
  /** Public column that orders the rows. */
  readonly steps?: { readonly column: string } | undefined;
  readonly sentences: readonly { readonly topic: string; readonly text: string }[];
  readonly [more: string]: unknown;
};
/** Answer of `check`. */
export type CheckAnswer = {
  readonly ready: boolean;
  readonly undecided: boolean;
  readonly population: string;
  readonly epsilon: string;
  readonly delta: string;
  readonly explanation: readonly { readonly topic: string; readonly text: string }[];
  readonly warnings: readonly string[];
  readonly [more: string]: unknown;
};
/** Answer of `plan`. */
export type PlanAnswer = {
  readonly label: string;
  /** Share of the budget that it would use, ties included, in epsilon. */
  readonly epsilon: number;
  readonly budget: {
    /** Epsilon of the policy. */
    readonly total: number;
    readonly spent: number;
    readonly remaining: number;
    readonly delta: number;
    readonly [more: string]: unknown;
  };
  /** True if the budget admits it now. */
  readonly fits: boolean;
  /** The recorded answer that a release gives, free. */
  readonly recorded?: { readonly entry: number; readonly at: string; readonly [more: string]: unknown } | undefined;
  /** Reason for refusing a release. */
  readonly refusal?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly mechanism: string;
  readonly why: string;
  readonly guarantee: { readonly certified: boolean; readonly sentences: readonly string[]; readonly [more: string]: unknown };
  readonly [more: string]: unknown;
};
/** Body of `plan`. */
export type PlanBody = {
  /** A query ({"kind": "count"}), a list of queries, or one field that names a kind: sql, survey, workload, pattern, kmeans, classify, network, synth, stream. */
  readonly question: { readonly [more: string]: unknown } | readonly { readonly [more: string]: unknown }[];
  /** Share of the policy's epsilon to use: 0.5 or "1/2"; a tenth when absent. */
  readonly epsilon?: string | number | undefined;
  /** No negative counts, totals that agree. */
  readonly tidy?: boolean | undefined;
  /** Answers from the current data and pays, even if an answer to the same request is recorded. */
  readonly fresh?: boolean | undefined;
  /** Label in the ledger. */
  readonly label?: string | undefined;
};
/** Answer of `release`. */
export type ReleaseAnswer = {
  /** Absent only for a stream none of whose steps is over. */
  readonly receipt?:
    | {
        readonly label: string;
        readonly population: string;
        readonly at: string;
        readonly epsilon: number;
        readonly guarantee: {
          readonly certified: boolean;
          readonly sentences: readonly string[];
          readonly [more: string]: unknown;
        };
        readonly ledger: {
          readonly entry: number;
          readonly hash: string;
          readonly replayed: boolean;
          readonly [more: string]: unknown;
        };
        readonly [more: string]: unknown;
      }
    | undefined;
  /** Tables, for queries and surveys. */
  readonly tables?:
    | readonly { readonly rows: readonly { readonly [more: string]: unknown }[]; readonly [more: string]: unknown }[]
    | undefined;
  /** Steps, for streams. */
  readonly steps?: readonly { readonly step: number; readonly entry: number; readonly [more: string]: unknown }[] | undefined;
  /** Result of every other kind. */
  readonly result?: unknown | undefined;
  readonly [more: string]: unknown;
};
/** Body of `release`. */
export type ReleaseBody = PlanBody;
/** Answer of `predict`. */
export type PredictAnswer = {
  readonly predictions: readonly {
    readonly score: number;
    readonly positive: boolean;
    readonly probability?: number | undefined;
    readonly [more: string]: unknown;
  }[];
};
/** Body of `predict`. */
export type PredictBody = { readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[] };
/** Answer of `begin`. */
export type BeginAnswer = {
  readonly job: string;
  readonly policy: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly progress?: { readonly done: number; readonly of: number; readonly what: string } | undefined;
  /** Budget outcome, as far as it is known. */
  readonly outcome?: { readonly state: string; readonly [more: string]: unknown } | undefined;
  readonly answer?:
    | {
        /** Absent only for a stream none of whose steps is over. */
        readonly receipt?:
          | {
              readonly label: string;
              readonly population: string;
              readonly at: string;
              readonly epsilon: number;
              readonly guarantee: {
                readonly certified: boolean;
                readonly sentences: readonly string[];
                readonly [more: string]: unknown;
              };
              readonly ledger: {
                readonly entry: number;
                readonly hash: string;
                readonly replayed: boolean;
                readonly [more: string]: unknown;
              };
              readonly [more: string]: unknown;
            }
          | undefined;
        /** Tables, for queries and surveys. */
        readonly tables?:
          | readonly { readonly rows: readonly { readonly [more: string]: unknown }[]; readonly [more: string]: unknown }[]
          | undefined;
        /** Steps, for streams. */
        readonly steps?:
          | readonly { readonly step: number; readonly entry: number; readonly [more: string]: unknown }[]
          | undefined;
        /** Result of every other kind. */
        readonly result?: unknown | undefined;
        readonly [more: string]: unknown;
      }
    | undefined;
  readonly problem?: { readonly title: string; readonly code: string; readonly [more: string]: unknown } | undefined;
  readonly [more: string]: unknown;
};
/** Body of `begin`. */
export type BeginBody = PlanBody;
/** Answer of `job`. */
export type JobAnswer = BeginAnswer;
/** Answer of `cancel`. */
export type CancelAnswer = BeginAnswer;
/** Answer of `budget`. */
export type BudgetAnswer = {
  readonly population: string;
  readonly budget: {
    /** Epsilon of the policy. */
    readonly total: number;
    readonly spent: number;
    readonly remaining: number;
    readonly delta: number;
    readonly [more: string]: unknown;
  };
  /** Upper bound on the privacy loss of one record so far. */
  readonly gained: number | 'inf' | '-inf';
  /** Quotas of analysts; an analyst sees their own. */
  readonly quotas?:
    | readonly {
        readonly total?: number | 'inf' | '-inf' | undefined;
        readonly spent: number | 'inf' | '-inf';
        readonly remaining: number | 'inf' | '-inf';
        readonly [more: string]: unknown;
      }[]
    | undefined;
  /** Budget use by values of public columns, if releases covered single values. */
  readonly parts?:
    | readonly {
        readonly total?: number | 'inf' | '-inf' | undefined;
        readonly spent: number | 'inf' | '-inf';
        readonly remaining: number | 'inf' | '-inf';
        readonly [more: string]: unknown;
      }[]
    | undefined;
  /** Budget of every step, without an end. */
  readonly steps?: { readonly column: string; readonly each: number | 'inf' | '-inf' } | undefined;
  readonly [more: string]: unknown;
};
/** Answer of `entries`. */
export type EntriesAnswer = {
  /** Oldest first. */
  readonly entries: readonly {
    readonly sequence: number;
    readonly at: string;
    readonly analyst: string;
    readonly label: string;
    /** Budget used by this entry alone, ties included; absent where it paid for nothing. */
    readonly epsilon?: number | undefined;
    readonly settled: boolean;
    readonly hash: string;
    readonly [more: string]: unknown;
  }[];
  /** True if more entries may follow in that direction, even if few or none are listed here. */
  readonly more: boolean;
  /** Sequence number to continue from, as after or before. */
  readonly next?: number | undefined;
};
export type EntriesQuery = {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly most?: number | undefined;
};
/** Answer of `verify`. */
export type VerifyAnswer = { readonly ok: boolean; readonly entries: number; readonly [more: string]: unknown };
/** Answer of `receipt`. */
export type ReceiptAnswer = {
  readonly label: string;
  readonly population: string;
  readonly at: string;
  readonly epsilon: number;
  readonly guarantee: { readonly certified: boolean; readonly sentences: readonly string[]; readonly [more: string]: unknown };
  readonly ledger: {
    readonly entry: number;
    readonly hash: string;
    readonly replayed: boolean;
    readonly [more: string]: unknown;
  };
  readonly [more: string]: unknown;
};
/** Answer of `answer`. */
export type AnswerAnswer = ReleaseAnswer;
export type AnswerQuery = { readonly tidy?: 'true' | 'false' | undefined };
export type ReportQuery = AnswerQuery;
/** Answer of `belief`. */
export type BeliefAnswer = {
  /** Column of the count. */
  readonly column?: string | undefined;
  readonly points: readonly {
    readonly epsilon: number;
    readonly posterior: Readonly<Record<string, number>>;
    readonly error: number | 'inf' | '-inf' | null;
  }[];
  readonly [more: string]: unknown;
};
/** Answer of `leakage`. */
export type LeakageAnswer = {
  readonly kinds: readonly {
    readonly name: string;
    readonly records: number;
    readonly leakage: readonly { readonly base: number; readonly leak: number | 'inf' | '-inf' }[];
    readonly [more: string]: unknown;
  }[];
  /** Leakage under group privacy. */
  readonly group: readonly { readonly base: number; readonly leak: number | 'inf' | '-inf' }[];
  readonly [more: string]: unknown;
};
/** Answer of `whatIf`. */
export type WhatIfAnswer = {
  readonly epsilon: number;
  /** Largest spending of one record, before ties. */
  readonly base: number;
  readonly amplification: number | 'inf' | '-inf';
  readonly error: number | 'inf' | '-inf' | null;
  readonly posterior: Readonly<Record<string, number>>;
  readonly [more: string]: unknown;
};
/** Body of `whatIf`. */
export type WhatIfBody = {
  readonly epsilon?: string | number | undefined;
  readonly belief?: { readonly prior: string | number; readonly posterior: string | number } | undefined;
  readonly ties?: readonly { readonly index: number; readonly oddsRatio: number | 'inf' }[] | undefined;
};
/** Answer of `ties`. */
export type TiesAnswer = {
  readonly records: number;
  readonly ties: number;
  readonly shown: {
    readonly nodes: readonly {
      readonly id: number;
      readonly degree: number;
      /** A hidden variable that several records share, instead of a record. */
      readonly kind?: 'shared' | undefined;
      readonly [more: string]: unknown;
    }[];
    readonly edges: readonly {
      readonly a: number;
      readonly b: number;
      readonly kind: string;
      readonly oddsRatio: number | 'inf' | '-inf';
      readonly [more: string]: unknown;
    }[];
    readonly [more: string]: unknown;
  };
  readonly kinds: readonly { readonly kind: string; readonly index: number; readonly [more: string]: unknown }[];
  readonly [more: string]: unknown;
};
export type TiesQuery = { readonly most?: number | undefined };
/** Answer of `time`. */
export type TimeAnswer = {
  readonly column: string;
  /** Budget of every step, without an end. */
  readonly each?: number | 'inf' | '-inf' | undefined;
  readonly steps: readonly {
    readonly part: string;
    readonly spent: number | 'inf' | '-inf';
    readonly remaining: number | 'inf' | '-inf';
    readonly [more: string]: unknown;
  }[];
  readonly [more: string]: unknown;
};
/** Answer of `attack`. */
export type AttackAnswer = {
  readonly private: true;
  readonly column: string;
  readonly attackers: readonly {
    readonly name: string;
    readonly median: number | 'inf' | '-inf';
    readonly most: number | 'inf' | '-inf';
    readonly [more: string]: unknown;
  }[];
  readonly exposed: readonly {
    readonly beliefs: readonly { readonly [more: string]: unknown }[];
    readonly [more: string]: unknown;
  }[];
  readonly [more: string]: unknown;
};
/** Body of `attack`. */
export type AttackBody = {
  readonly entry: number;
  /** Histogram to attack; the tied column when absent. */
  readonly column?: string | undefined;
  readonly show?: number | undefined;
};
/** Answer of `drafts`. */
export type DraftsAnswer = {
  readonly drafts: readonly {
    readonly id: string;
    readonly file: string;
    readonly made: string;
    readonly [more: string]: unknown;
  }[];
};
/** Answer of `draft`. */
export type DraftAnswer = {
  readonly id: string;
  readonly file: string;
  readonly made: string;
  readonly questions: readonly {
    readonly id: string;
    readonly text: string;
    readonly choices?: readonly { readonly value: string; readonly text: string }[] | undefined;
    readonly several?: true | undefined;
    readonly usual?: string | readonly string[] | undefined;
    readonly answer?: string | readonly string[] | undefined;
    readonly needed?: true | undefined;
    readonly [more: string]: unknown;
  }[];
  readonly columns: readonly { readonly name: string; readonly type: string; readonly [more: string]: unknown }[];
  readonly leftOut: readonly { readonly name: string; readonly why: string; readonly [more: string]: unknown }[];
  readonly doubts: readonly string[];
  readonly undecided: boolean;
  /** Its data has the budget of another policy: confirming it needs newBudget. */
  readonly hasBudget?: true | undefined;
  /** Text of the policy as it would be written. */
  readonly policy: string;
  readonly [more: string]: unknown;
};
/** Answer of `drafted`. */
export type DraftedAnswer = DraftAnswer;
/** Answer of `endDraft`. */
export type EndDraftAnswer = SignOutAnswer;
/** Answer of `answerDraft`. */
export type AnswerDraftAnswer = DraftAnswer;
/** Body of `answerDraft`. */
export type AnswerDraftBody = {
  readonly columns?: readonly string[] | undefined;
  readonly person?: string | undefined;
  readonly maxRows?: string | undefined;
  readonly dependence?: string | undefined;
  readonly oddsRatio?: string | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly weights?: readonly string[] | undefined;
  readonly budget?: string | undefined;
};
/** Answer of `confirmDraft`. */
export type ConfirmDraftAnswer = { readonly name: string; readonly population: string };
/** Body of `confirmDraft`. */
export type ConfirmDraftBody = {
  /** Name of the policy, and of its file. */
  readonly name: string;
  /** Columns that were reviewed; "all" when absent. */
  readonly columns?: 'all' | readonly string[] | undefined;
  /** Reason for a further budget of this data; permanent in the ledger's chain. */
  readonly newBudget?: string | undefined;
};
/** Answer of `verifyLog`. */
export type VerifyLogAnswer = {
  readonly events: number;
  /** Hash of the last event: a stored copy reveals lines missing at the end. */
  readonly head: string;
  /** Files whose last line is incomplete after a power cut. */
  readonly torn: readonly string[];
};

/** Options of a request. */
export interface CallOptions {
  /** Key that makes a repeated request count as one. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ClientOptions {
  /** Address of the service: https://fugu.example.org */
  readonly url: string;
  /** Token as "fugu token make" printed it. */
  readonly token: string;
  /** Number of repeated attempts after a refusal (429, 503), each after the time in Retry-After; 3 when absent. */
  readonly retries?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** Refused request, with the problem that the service sent. */
export class FuguProblem extends Error {
  override readonly name = 'FuguProblem';
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  /** Identifier of the request in the audit log. */
  readonly request: string;
  /** Budget outcome. */
  readonly outcome: { readonly state: string; readonly entry?: number } | undefined;
  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(typeof problem.title === 'string' ? problem.title : `The service answered ${status}.`);
    this.status = status;
    this.code = String(problem.code ?? 'UNKNOWN');
    this.hint = String(problem.hint ?? '');
    this.request = String(problem.request ?? '');
    this.outcome = problem.outcome as FuguProblem['outcome'];
  }
}

interface Call extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly file?: Blob | Uint8Array | string;
  readonly fileName?: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly as?: 'text' | 'stream';
}

/** Client of a service that `fugu serve` runs. Needs nothing but fetch. */
export class FuguClient {
  readonly #url: string;
  readonly #token: string;
  readonly #retries: number;
  readonly #fetch: typeof fetch;
  constructor({ url, token, retries = 3, fetch: own = fetch }: ClientOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
    this.#retries = retries;
    this.#fetch = own;
  }

  /** Signs a browser in with a one-time code or a token, and sets a cookie. */
  signIn(body: SignInBody, options: CallOptions = {}): Promise<SignInAnswer> {
    return this.#call({ method: 'POST', path: `/v1/session`, body, ...options }) as Promise<SignInAnswer>;
  }

  /** Identity of the session. */
  session(): Promise<SessionAnswer> {
    return this.#call({ method: 'GET', path: `/v1/session` }) as Promise<SessionAnswer>;
  }

  /** Ends the session. */
  signOut(): Promise<SignOutAnswer> {
    return this.#call({ method: 'DELETE', path: `/v1/session` }) as Promise<SignOutAnswer>;
  }

  /** The policies this token opens. */
  policies(): Promise<PoliciesAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies` }) as Promise<PoliciesAnswer>;
  }

  /** Declared columns, privacy unit, attacker and budget, in figures and in words. */
  policy(policy: string | number): Promise<PolicyAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}` }) as Promise<PolicyAnswer>;
  }

  /** Promise of the policy and its missing declarations, in plain words. Loads every file that it names; spends nothing. */
  check(policy: string | number): Promise<CheckAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/check` }) as Promise<CheckAnswer>;
  }

  /** Privacy cost and expected error of a release. Spends nothing. */
  plan(policy: string | number, body: PlanBody, options: CallOptions = {}): Promise<PlanAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/plan`,
      body,
      ...options,
    }) as Promise<PlanAnswer>;
  }

  /** Pays and answers. The same request again returns the recorded answer and spends nothing. */
  release(policy: string | number, body: ReleaseBody, options: CallOptions = {}): Promise<ReleaseAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/release`,
      body,
      ...options,
    }) as Promise<ReleaseAnswer>;
  }

  /** Applies a released classifier to rows. Reads no data and costs nothing. */
  predict(policy: string | number, entry: string | number, body: PredictBody, options: CallOptions = {}): Promise<PredictAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/answers/${encodeURIComponent(entry)}/predict`,
      body,
      ...options,
    }) as Promise<PredictAnswer>;
  }

  /** The same as a release, in the background: answers at once with the name of a job. */
  begin(policy: string | number, body: BeginBody, options: CallOptions = {}): Promise<BeginAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/jobs`,
      body,
      ...options,
    }) as Promise<BeginAnswer>;
  }

  /** State of a job, and its answer. */
  job(job: string | number): Promise<JobAnswer> {
    return this.#call({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(job)}` }) as Promise<JobAnswer>;
  }

  /** Cancels a job. A reserved cost stays reserved: such a job is finished and recorded, and the same request returns its answer. */
  cancel(job: string | number): Promise<CancelAnswer> {
    return this.#call({ method: 'DELETE', path: `/v1/jobs/${encodeURIComponent(job)}` }) as Promise<CancelAnswer>;
  }

  /** Server-sent events: progress, then done, failed or cancelled. */
  events(job: string | number): Promise<Response> {
    return this.#call({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(job)}/events`, as: 'stream' }) as Promise<Response>;
  }

  /** Spent and remaining budget of this population. */
  budget(policy: string | number): Promise<BudgetAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/budget` }) as Promise<BudgetAnswer>;
  }

  /** All ledger entries of this population; an analyst sees their own. */
  entries(policy: string | number, query: EntriesQuery = {}): Promise<EntriesAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/ledger`,
      query,
    }) as Promise<EntriesAnswer>;
  }

  /** Verifies the chain of the ledger. */
  verify(policy: string | number): Promise<VerifyAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/ledger/verify`,
    }) as Promise<VerifyAnswer>;
  }

  /** Receipt of a ledger entry: its cost and its promise; analysts see their own. */
  receipt(policy: string | number, entry: string | number): Promise<ReceiptAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/receipts/${encodeURIComponent(entry)}`,
    }) as Promise<ReceiptAnswer>;
  }

  /** Recorded answer of a ledger entry, free; analysts see their own. */
  answer(policy: string | number, entry: string | number, query: AnswerQuery = {}): Promise<AnswerAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/answers/${encodeURIComponent(entry)}`,
      query,
    }) as Promise<AnswerAnswer>;
  }

  /** The same as a standalone page, to be kept or mailed. */
  report(policy: string | number, entry: string | number, query: ReportQuery = {}): Promise<string> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/reports/${encodeURIComponent(entry)}`,
      query,
      as: 'text',
    }) as Promise<string>;
  }

  /** Expected error of a count compared with the highest posterior of an attacker, for budgets around that of the policy. */
  belief(policy: string | number): Promise<BeliefAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/belief` }) as Promise<BeliefAnswer>;
  }

  /** Leakage to an attacker who knows the ties, for records with few and with many of them. For stewards only if the policy hides ties or the number of records. */
  leakage(policy: string | number): Promise<LeakageAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/leakage` }) as Promise<LeakageAnswer>;
  }

  /** Effect of another limit, or of other odds ratios of the ties. Reads ties only, spends nothing, changes nothing. */
  whatIf(policy: string | number, body: WhatIfBody, options: CallOptions = {}): Promise<WhatIfAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/what-if`,
      body,
      ...options,
    }) as Promise<WhatIfAnswer>;
  }

  /** Part of the network of ties, for a drawing. Holds no names. */
  ties(policy: string | number, query: TiesQuery = {}): Promise<TiesAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/ties`, query }) as Promise<TiesAnswer>;
  }

  /** Spent and remaining budget of each step, ties included, if the policy has steps. */
  time(policy: string | number): Promise<TimeAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/time` }) as Promise<TimeAnswer>;
  }

  /** Posteriors of attackers with and without the ties after a recorded release. As private as the rows, and recorded nowhere. */
  attack(policy: string | number, body: AttackBody, options: CallOptions = {}): Promise<AttackAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/attack`,
      body,
      ...options,
    }) as Promise<AttackAnswer>;
  }

  /** Files that were sent and have no policy yet. */
  drafts(): Promise<DraftsAnswer> {
    return this.#call({ method: 'GET', path: `/v1/drafts` }) as Promise<DraftsAnswer>;
  }

  /** Sends a file as it is, its name in x-file-name, and begins the interview about it. The answer is as private as the file. */
  draft(fileName: string, file: Blob | Uint8Array | string, options: CallOptions = {}): Promise<DraftAnswer> {
    return this.#call({ method: 'POST', path: `/v1/drafts`, file, fileName, ...options }) as Promise<DraftAnswer>;
  }

  /** Questions about a file, and the answers so far. */
  drafted(draft: string | number): Promise<DraftedAnswer> {
    return this.#call({ method: 'GET', path: `/v1/drafts/${encodeURIComponent(draft)}` }) as Promise<DraftedAnswer>;
  }

  /** Removes a file that was sent. */
  endDraft(draft: string | number): Promise<EndDraftAnswer> {
    return this.#call({ method: 'DELETE', path: `/v1/drafts/${encodeURIComponent(draft)}` }) as Promise<EndDraftAnswer>;
  }

  /** Answers questions of the interview, by their ids. */
  answerDraft(draft: string | number, body: AnswerDraftBody, options: CallOptions = {}): Promise<AnswerDraftAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/drafts/${encodeURIComponent(draft)}/answers`,
      body,
      ...options,
    }) as Promise<AnswerDraftAnswer>;
  }

  /** Accepts the domains read from the data, writes the policy next to the first one and serves it, also after a restart. Data that has a budget already is refused unless newBudget gives a reason. */
  confirmDraft(draft: string | number, body: ConfirmDraftBody, options: CallOptions = {}): Promise<ConfirmDraftAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/drafts/${encodeURIComponent(draft)}/confirm`,
      body,
      ...options,
    }) as Promise<ConfirmDraftAnswer>;
  }

  /** Verifies the chain of this process's audit log. */
  verifyLog(): Promise<VerifyLogAnswer> {
    return this.#call({ method: 'GET', path: `/v1/log/verify` }) as Promise<VerifyLogAnswer>;
  }

  /** Counters and times in Prometheus' text format. */
  metrics(): Promise<string> {
    return this.#call({ method: 'GET', path: `/metrics`, as: 'text' }) as Promise<string>;
  }

  async #call(call: Call, left = this.#retries): Promise<unknown> {
    const { method, path, body, file, fileName, query = {}, as, idempotencyKey, signal } = call;
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
    const answer = await this.#fetch(`${this.#url}${path}${search && `?${search}`}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(fileName !== undefined && { 'x-file-name': fileName, 'content-type': 'application/octet-stream' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // Every fetch accepts bytes, whatever its types call them.
      ...(file !== undefined && { body: file as Blob }),
      ...(signal && { signal }),
    });
    if (answer.ok) return as === 'stream' ? answer : as === 'text' ? answer.text() : answer.json();
    const wait = Number(answer.headers.get('retry-after'));
    const problem = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    if ((answer.status !== 429 && answer.status !== 503) || !(wait > 0) || left === 0)
      throw new FuguProblem(answer.status, problem);
    await new Promise((go) => setTimeout(go, 1000 * wait));
    return this.#call(call, left - 1);
  }
}
