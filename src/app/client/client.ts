// Made from the API document by scripts/client.mjs. Change the routes, not this.

/** What `signIn` answers. */
export type SignInAnswer = {
  readonly name: string;
  readonly role: 'steward' | 'analyst' | 'auditor';
  /** To be sent as x-fugu-csrf with whatever is not asked by GET. Absent where a token was sent. */
  readonly csrf?: string | undefined;
  readonly expires: string;
};
/** What `signIn` takes. */
export type SignInBody =
  | {
      /** Good once, for ten minutes. */
      readonly code: string;
    }
  | { readonly token: string };
/** What `session` answers. */
export type SessionAnswer = SignInAnswer;
/** What `signOut` answers. */
export type SignOutAnswer = { readonly ended: boolean };
/** What `policies` answers. */
export type PoliciesAnswer = {
  readonly policies: readonly {
    readonly name: string;
    readonly population: string;
    /** Whether rows follow one another: then there is something to say about time. */
    readonly steps: boolean;
  }[];
};
/** What `policy` answers. */
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
  /** The public column that puts rows in order. */
  readonly steps?: { readonly column: string } | undefined;
  readonly sentences: readonly { readonly topic: string; readonly text: string }[];
  readonly [more: string]: unknown;
};
/** What `check` answers. */
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
/** What `plan` answers. */
export type PlanAnswer = {
  readonly label: string;
  /** How much of the budget it would use, ties included. */
  readonly epsilon: number;
  readonly budget: {
    /** Epsilon of the policy. */
    readonly total: number;
    readonly spent: number;
    readonly remaining: number;
    readonly delta: number;
    readonly [more: string]: unknown;
  };
  /** Whether the ledger would take it as things stand. */
  readonly fits: boolean;
  /** The recorded answer that a release gives, free. */
  readonly recorded?: { readonly entry: number; readonly at: string; readonly [more: string]: unknown } | undefined;
  /** What a release would be refused with. */
  readonly refusal?: string | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly mechanism: string;
  readonly why: string;
  readonly guarantee: { readonly certified: boolean; readonly sentences: readonly string[]; readonly [more: string]: unknown };
  readonly [more: string]: unknown;
};
/** What `plan` takes. */
export type PlanBody = {
  /** A query ({"kind": "count"}), a list of queries, or one field that names a kind: sql, survey, workload, pattern, kmeans, classify, network, synth, stream. */
  readonly question: { readonly [more: string]: unknown } | readonly { readonly [more: string]: unknown }[];
  /** How much of the policy's epsilon to use: 0.5 or "1/2"; a tenth when absent. */
  readonly epsilon?: string | number | undefined;
  /** No negative counts, totals that agree. */
  readonly tidy?: boolean | undefined;
  /** Ask the data as it is now and pay, also when an answer to the same request is recorded. */
  readonly fresh?: boolean | undefined;
  /** What the ledger lists it as. */
  readonly label?: string | undefined;
};
/** What `release` answers. */
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
  /** Of tables and surveys. */
  readonly tables?:
    | readonly { readonly rows: readonly { readonly [more: string]: unknown }[]; readonly [more: string]: unknown }[]
    | undefined;
  /** Of streams. */
  readonly steps?: readonly { readonly step: number; readonly entry: number; readonly [more: string]: unknown }[] | undefined;
  /** Of every other kind. */
  readonly result?: unknown | undefined;
  readonly [more: string]: unknown;
};
/** What `release` takes. */
export type ReleaseBody = PlanBody;
/** What `predict` answers. */
export type PredictAnswer = {
  readonly predictions: readonly {
    readonly score: number;
    readonly positive: boolean;
    readonly probability?: number | undefined;
    readonly [more: string]: unknown;
  }[];
};
/** What `predict` takes. */
export type PredictBody = { readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[] };
/** What `begin` answers. */
export type BeginAnswer = {
  readonly job: string;
  readonly policy: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly progress?: { readonly done: number; readonly of: number; readonly what: string } | undefined;
  /** What became of the budget, as far as it is known. */
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
        /** Of tables and surveys. */
        readonly tables?:
          | readonly { readonly rows: readonly { readonly [more: string]: unknown }[]; readonly [more: string]: unknown }[]
          | undefined;
        /** Of streams. */
        readonly steps?:
          | readonly { readonly step: number; readonly entry: number; readonly [more: string]: unknown }[]
          | undefined;
        /** Of every other kind. */
        readonly result?: unknown | undefined;
        readonly [more: string]: unknown;
      }
    | undefined;
  readonly problem?: { readonly title: string; readonly code: string; readonly [more: string]: unknown } | undefined;
  readonly [more: string]: unknown;
};
/** What `begin` takes. */
export type BeginBody = PlanBody;
/** What `job` answers. */
export type JobAnswer = BeginAnswer;
/** What `cancel` answers. */
export type CancelAnswer = BeginAnswer;
/** What `budget` answers. */
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
  /** What an attacker may have gained at most about one record so far. */
  readonly gained: number | 'inf' | '-inf';
  /** Of analysts; an analyst sees their own. */
  readonly quotas?:
    | readonly {
        readonly total?: number | 'inf' | '-inf' | undefined;
        readonly spent: number | 'inf' | '-inf';
        readonly remaining: number | 'inf' | '-inf';
        readonly [more: string]: unknown;
      }[]
    | undefined;
  /** Where something was released about values of a public column only. */
  readonly parts?:
    | readonly {
        readonly total?: number | 'inf' | '-inf' | undefined;
        readonly spent: number | 'inf' | '-inf';
        readonly remaining: number | 'inf' | '-inf';
        readonly [more: string]: unknown;
      }[]
    | undefined;
  /** What every step may spend for ever. */
  readonly steps?: { readonly column: string; readonly each: number | 'inf' | '-inf' } | undefined;
  readonly [more: string]: unknown;
};
/** What `entries` answers. */
export type EntriesAnswer = {
  /** Oldest first. */
  readonly entries: readonly {
    readonly sequence: number;
    readonly at: string;
    readonly analyst: string;
    readonly label: string;
    /** What it uses of the budget by itself, ties included; absent where it pays for nothing. */
    readonly epsilon?: number | undefined;
    readonly settled: boolean;
    readonly hash: string;
    readonly [more: string]: unknown;
  }[];
  /** There are others in that direction, also where few or none are told here. */
  readonly more: boolean;
  /** Where to go on, as after or before. */
  readonly next?: number | undefined;
};
export type EntriesQuery = {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly most?: number | undefined;
};
/** What `verify` answers. */
export type VerifyAnswer = { readonly ok: boolean; readonly entries: number; readonly [more: string]: unknown };
/** What `receipt` answers. */
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
/** What `answer` answers. */
export type AnswerAnswer = ReleaseAnswer;
export type AnswerQuery = { readonly tidy?: 'true' | 'false' | undefined };
export type ReportQuery = AnswerQuery;
/** What `belief` answers. */
export type BeliefAnswer = {
  /** By which the count is. */
  readonly column?: string | undefined;
  readonly points: readonly {
    readonly epsilon: number;
    readonly posterior: Readonly<Record<string, number>>;
    readonly error: number | 'inf' | '-inf' | null;
  }[];
  readonly [more: string]: unknown;
};
/** What `leakage` answers. */
export type LeakageAnswer = {
  readonly kinds: readonly {
    readonly name: string;
    readonly records: number;
    readonly leakage: readonly { readonly base: number; readonly leak: number | 'inf' | '-inf' }[];
    readonly [more: string]: unknown;
  }[];
  /** What group privacy would charge. */
  readonly group: readonly { readonly base: number; readonly leak: number | 'inf' | '-inf' }[];
  readonly [more: string]: unknown;
};
/** What `whatIf` answers. */
export type WhatIfAnswer = {
  readonly epsilon: number;
  /** What one record may spend at most, before ties. */
  readonly base: number;
  readonly amplification: number | 'inf' | '-inf';
  readonly error: number | 'inf' | '-inf' | null;
  readonly posterior: Readonly<Record<string, number>>;
  readonly [more: string]: unknown;
};
/** What `whatIf` takes. */
export type WhatIfBody = {
  readonly epsilon?: string | number | undefined;
  readonly belief?: { readonly prior: string | number; readonly posterior: string | number } | undefined;
  readonly ties?: readonly { readonly index: number; readonly oddsRatio: number | 'inf' }[] | undefined;
};
/** What `ties` answers. */
export type TiesAnswer = {
  readonly records: number;
  readonly ties: number;
  readonly shown: {
    readonly nodes: readonly {
      readonly id: number;
      readonly degree: number;
      /** No record: what several of them share and nobody sees. */
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
/** What `time` answers. */
export type TimeAnswer = {
  readonly column: string;
  /** What every step may spend for ever. */
  readonly each?: number | 'inf' | '-inf' | undefined;
  readonly steps: readonly {
    readonly part: string;
    readonly spent: number | 'inf' | '-inf';
    readonly remaining: number | 'inf' | '-inf';
    readonly [more: string]: unknown;
  }[];
  readonly [more: string]: unknown;
};
/** What `attack` answers. */
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
/** What `attack` takes. */
export type AttackBody = {
  readonly entry: number;
  /** Which histogram; the tied column when absent. */
  readonly column?: string | undefined;
  readonly show?: number | undefined;
};
/** What `drafts` answers. */
export type DraftsAnswer = {
  readonly drafts: readonly {
    readonly id: string;
    readonly file: string;
    readonly made: string;
    readonly [more: string]: unknown;
  }[];
};
/** What `draft` answers. */
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
  /** As it would be written. */
  readonly policy: string;
  readonly [more: string]: unknown;
};
/** What `drafted` answers. */
export type DraftedAnswer = DraftAnswer;
/** What `endDraft` answers. */
export type EndDraftAnswer = SignOutAnswer;
/** What `answerDraft` answers. */
export type AnswerDraftAnswer = DraftAnswer;
/** What `answerDraft` takes. */
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
/** What `confirmDraft` answers. */
export type ConfirmDraftAnswer = { readonly name: string; readonly population: string };
/** What `confirmDraft` takes. */
export type ConfirmDraftBody = {
  /** What the policy is called, and its file. */
  readonly name: string;
  /** Those that were looked at; "all" when absent. */
  readonly columns?: 'all' | readonly string[] | undefined;
  /** Why this data may have a budget although it has another one; written into the chain of the ledger. */
  readonly newBudget?: string | undefined;
};
/** What `verifyLog` answers. */
export type VerifyLogAnswer = {
  readonly events: number;
  /** Hash of the last event: whoever keeps it notices lines that are taken from the end. */
  readonly head: string;
  /** Files whose last line a power cut tore. */
  readonly torn: readonly string[];
};

/** What goes with a request. */
export interface CallOptions {
  /** Sent twice under one key, a request is one request. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ClientOptions {
  /** Where the service is: https://fugu.example.org */
  readonly url: string;
  /** As "fugu token make" showed it. */
  readonly token: string;
  /** So often a request that was turned away (429, 503) is sent again, after what the service says; 3 when absent. */
  readonly retries?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** A request that was refused, in the words of the service. */
export class FuguProblem extends Error {
  override readonly name = 'FuguProblem';
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  /** Under which the audit log knows it. */
  readonly request: string;
  /** What became of the budget. */
  readonly outcome: { readonly state: string; readonly entry?: number } | undefined;
  constructor(status: number, told: Readonly<Record<string, unknown>>) {
    super(typeof told.title === 'string' ? told.title : `The service answered ${status}.`);
    this.status = status;
    this.code = String(told.code ?? 'UNKNOWN');
    this.hint = String(told.hint ?? '');
    this.request = String(told.request ?? '');
    this.outcome = told.outcome as FuguProblem['outcome'];
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

/** Speaks to a service that `fugu serve` runs. Needs nothing but fetch. */
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

  /** Signs a browser in, by a one-time code or by a token: sets a cookie. */
  signIn(body: SignInBody, options: CallOptions = {}): Promise<SignInAnswer> {
    return this.#call({ method: 'POST', path: `/v1/session`, body, ...options }) as Promise<SignInAnswer>;
  }

  /** Who is signed in. */
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

  /** What may be asked: the declared columns, who is protected from whom, the budget, in figures and in words. */
  policy(policy: string | number): Promise<PolicyAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}` }) as Promise<PolicyAnswer>;
  }

  /** What the policy promises and what is missing in it, in plain words. Loads every file that it names; spends nothing. */
  check(policy: string | number): Promise<CheckAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/check` }) as Promise<CheckAnswer>;
  }

  /** What a release would cost and how wrong it would be. Spends nothing. */
  plan(policy: string | number, body: PlanBody, options: CallOptions = {}): Promise<PlanAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/plan`,
      body,
      ...options,
    }) as Promise<PlanAnswer>;
  }

  /** Pays, and answers. The same request again is told the recorded answer and spends nothing. */
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

  /** The same as a release, but nobody waits: answers at once with the name of a job. */
  begin(policy: string | number, body: BeginBody, options: CallOptions = {}): Promise<BeginAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/jobs`,
      body,
      ...options,
    }) as Promise<BeginAnswer>;
  }

  /** How far a job is, and its answer. */
  job(job: string | number): Promise<JobAnswer> {
    return this.#call({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(job)}` }) as Promise<JobAnswer>;
  }

  /** Cancels a job. What is booked stays booked: such a job is finished and recorded, and the same request is told its answer. */
  cancel(job: string | number): Promise<CancelAnswer> {
    return this.#call({ method: 'DELETE', path: `/v1/jobs/${encodeURIComponent(job)}` }) as Promise<CancelAnswer>;
  }

  /** Server-sent events: progress, then done, failed or cancelled. */
  events(job: string | number): Promise<Response> {
    return this.#call({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(job)}/events`, as: 'stream' }) as Promise<Response>;
  }

  /** What this population has spent, and what remains. */
  budget(policy: string | number): Promise<BudgetAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/budget` }) as Promise<BudgetAnswer>;
  }

  /** Everything this population has paid for; an analyst sees what they paid for themselves. */
  entries(policy: string | number, query: EntriesQuery = {}): Promise<EntriesAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/ledger`,
      query,
    }) as Promise<EntriesAnswer>;
  }

  /** Walks the chain of the ledger. */
  verify(policy: string | number): Promise<VerifyAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/ledger/verify`,
    }) as Promise<VerifyAnswer>;
  }

  /** The proof of what was promised for an entry of the ledger; analysts see their own. */
  receipt(policy: string | number, entry: string | number): Promise<ReceiptAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/receipts/${encodeURIComponent(entry)}`,
    }) as Promise<ReceiptAnswer>;
  }

  /** The recorded answer of an entry, told again for nothing; analysts see their own. */
  answer(policy: string | number, entry: string | number, query: AnswerQuery = {}): Promise<AnswerAnswer> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/answers/${encodeURIComponent(entry)}`,
      query,
    }) as Promise<AnswerAnswer>;
  }

  /** The same as a page of its own, to be kept or mailed. */
  report(policy: string | number, entry: string | number, query: ReportQuery = {}): Promise<string> {
    return this.#call({
      method: 'GET',
      path: `/v1/policies/${encodeURIComponent(policy)}/reports/${encodeURIComponent(entry)}`,
      query,
      as: 'text',
    }) as Promise<string>;
  }

  /** How wrong a count is against how much an attacker can come to believe, for budgets around that of the policy. */
  belief(policy: string | number): Promise<BeliefAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/belief` }) as Promise<BeliefAnswer>;
  }

  /** What an attacker who knows the ties gains about records with few and with many of them. Where the policy hides ties, or how many records there are: for stewards only. */
  leakage(policy: string | number): Promise<LeakageAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/leakage` }) as Promise<LeakageAnswer>;
  }

  /** What another limit, or other strengths of the ties, would come to. Reads ties only, spends nothing, changes nothing. */
  whatIf(policy: string | number, body: WhatIfBody, options: CallOptions = {}): Promise<WhatIfAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/what-if`,
      body,
      ...options,
    }) as Promise<WhatIfAnswer>;
  }

  /** A part of the network of ties, to be drawn. Nothing in it names anybody. */
  ties(policy: string | number, query: TiesQuery = {}): Promise<TiesAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/ties`, query }) as Promise<TiesAnswer>;
  }

  /** Where the policy has steps: what is spent and left at each, ties included. */
  time(policy: string | number): Promise<TimeAnswer> {
    return this.#call({ method: 'GET', path: `/v1/policies/${encodeURIComponent(policy)}/time` }) as Promise<TimeAnswer>;
  }

  /** What attackers with and without the ties believe after a recorded release. As private as the rows, and recorded nowhere. */
  attack(policy: string | number, body: AttackBody, options: CallOptions = {}): Promise<AttackAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/policies/${encodeURIComponent(policy)}/attack`,
      body,
      ...options,
    }) as Promise<AttackAnswer>;
  }

  /** Files that were sent, and of which no policy was made yet. */
  drafts(): Promise<DraftsAnswer> {
    return this.#call({ method: 'GET', path: `/v1/drafts` }) as Promise<DraftsAnswer>;
  }

  /** Sends a file as it is, its name in x-file-name, and begins the interview about it. What is told of it is as private as the file. */
  draft(fileName: string, file: Blob | Uint8Array | string, options: CallOptions = {}): Promise<DraftAnswer> {
    return this.#call({ method: 'POST', path: `/v1/drafts`, file, fileName, ...options }) as Promise<DraftAnswer>;
  }

  /** What is asked about a file, and what was answered. */
  drafted(draft: string | number): Promise<DraftedAnswer> {
    return this.#call({ method: 'GET', path: `/v1/drafts/${encodeURIComponent(draft)}` }) as Promise<DraftedAnswer>;
  }

  /** Takes a file that was sent away again. */
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

  /** Accepts what was read from the data, writes the policy beside the first one and serves it, also after a restart. Data that has a budget already is refused unless newBudget says why. */
  confirmDraft(draft: string | number, body: ConfirmDraftBody, options: CallOptions = {}): Promise<ConfirmDraftAnswer> {
    return this.#call({
      method: 'POST',
      path: `/v1/drafts/${encodeURIComponent(draft)}/confirm`,
      body,
      ...options,
    }) as Promise<ConfirmDraftAnswer>;
  }

  /** Walks the chain of the audit log of this process. */
  verifyLog(): Promise<VerifyLogAnswer> {
    return this.#call({ method: 'GET', path: `/v1/log/verify` }) as Promise<VerifyLogAnswer>;
  }

  /** Counters and times, as Prometheus reads them. */
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
      // Bytes are bytes to every fetch, whatever its types call them.
      ...(file !== undefined && { body: file as Blob }),
      ...(signal && { signal }),
    });
    if (answer.ok) return as === 'stream' ? answer : as === 'text' ? answer.text() : answer.json();
    const wait = Number(answer.headers.get('retry-after'));
    const told = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    if ((answer.status !== 429 && answer.status !== 503) || !(wait > 0) || left === 0) throw new FuguProblem(answer.status, told);
    await new Promise((go) => setTimeout(go, 1000 * wait));
    return this.#call(call, left - 1);
  }
}
