/** All failures a user can meet: a closed list, so that a new failure is a new line here with its exit code. */
const exits = {
  USAGE: 2,
  POLICY_SYNTAX: 2,
  POLICY_INVALID: 2,
  POLICY_UNCONFIRMED: 2,
  DATA_NOT_FOUND: 2,
  DATA_MALFORMED: 2,
  COLUMN_UNKNOWN: 2,
  VALUE_UNKNOWN: 2,
  QUERY_INVALID: 2,
  QUERY_UNSUPPORTED: 2,
  MODEL_INVALID: 2,
  MODEL_TOO_LARGE: 2,
  RELATION_UNKNOWN: 2,
  PATTERN_SYNTAX: 2,
  PATTERN_ARITY: 2,
  PATTERN_UNSAFE: 2,
  PATTERN_HEAD: 2,
  PATTERN_TYPE: 2,
  PATTERN_UNSATISFIABLE: 2,
  PATTERN_UNSTABLE: 2,
  DOMAIN_EXCEEDED: 2,
  LIMIT_EXCEEDED: 2,
  NOT_PRIVATE: 2,
  BUDGET_INVALID: 2,
  BUDGET_EXCEEDED: 3,
  ACCESS_DENIED: 4,
  LEDGER_MISMATCH: 2,
  LEDGER_CORRUPT: 5,
  LEDGER_BUSY: 5,
  ENGINE_FAILED: 5,
  ENGINE_DEADLINE: 5,
  ENGINE_MEMORY: 5,
  DISK_FULL: 5,
  DISK_FAILED: 5,
  READ_ONLY: 5,
  INTERNAL: 1,
} as const;

export type FaultCode = keyof typeof exits;

/** Position of a fault in a file; lines and columns are numbered from one. */
export interface FaultPlace {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** State of the privacy budget after a request that pays: one of three ways such a request can end. */
export type Outcome =
  | { readonly state: 'not spent' }
  /** Cost reserved, no answer given; if `resumable`, repeating the request completes it without a second payment. */
  | { readonly state: 'spent'; readonly entry: number; readonly resumable: boolean }
  /** Cost committed with the answer; repeating the request returns the recorded answer. */
  | { readonly state: 'recorded'; readonly entry: number };

/** The only error that users see: a sentence, a hint and a stable code. Never holds a value from the data. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly hint: string;
  readonly place: FaultPlace | undefined;
  /** Numbers for programs: requested, spent, remaining, size, limit. */
  readonly details: Readonly<Record<string, number | string>>;
  /** Absent if the fault comes from outside a request that pays. */
  readonly outcome: Outcome | undefined;

  constructor(
    code: FaultCode,
    message: string,
    hint: string,
    more: { place?: FaultPlace; details?: Record<string, number | string>; outcome?: Outcome } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.place = more.place;
    this.details = more.details ?? {};
    this.outcome = more.outcome;
  }

  get exit(): number {
    return exits[this.code];
  }

  toJSON() {
    return {
      error: {
        code: this.code,
        message: this.message,
        hint: this.hint,
        ...(this.place && { place: this.place }),
        ...this.details,
        ...(this.outcome && { outcome: this.outcome }),
      },
    };
  }
}

export const faultCodes = Object.keys(exits) as readonly FaultCode[];

/** The same fault in other words, or with the outcome for the budget. */
export const changedFault = (
  { code, message, hint, place, details, outcome }: Fault,
  change: { readonly message?: string; readonly hint?: string; readonly outcome?: Outcome },
): Fault =>
  new Fault(code, change.message ?? message, change.hint ?? hint, {
    ...(place && { place }),
    details: { ...details },
    ...((change.outcome ?? outcome) && { outcome: (change.outcome ?? outcome)! }),
  });
