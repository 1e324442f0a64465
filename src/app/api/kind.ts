import type * as z from 'zod';
import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { notSpent } from '../../release/session/outcome.js';
import type { Plan } from '../../release/session/plan.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';

/** Answer that is no table: plain data, and the receipt of its promise. */
export interface Answer<R> {
  readonly result: R;
  readonly receipt: Receipt;
}

/** One kind of question: its schema, its plan and its release. Texts, tables and drawings of the answer live elsewhere. */
export interface QuestionKind<S extends z.ZodType, P extends Plan, A extends { readonly receipt: Receipt }> {
  /** Field that makes a question one of this kind; every question without such a field is a query. */
  readonly name: string;
  /** Schema of the question: source of the types, the documentation and the checks. */
  readonly question: S;
  /** Hint for a question whose form is wrong. */
  readonly hint: string;
  /** Its answers are tables, which can be made tidy; other answers cannot. */
  readonly tidies?: true;
  /** Example of a question that suits this policy, or undefined if there is none. */
  example(policy: Policy): z.input<S> | undefined;
  /** Spends nothing, reads no private value. */
  plan(session: PrivacySession, question: z.input<S>, options: ReleaseOptions): Promise<P>;
  release(session: PrivacySession, question: z.input<S>, options: ReleaseOptions): Promise<A>;
}

export const defineKind = <S extends z.ZodType, P extends Plan, A extends { readonly receipt: Receipt }>(
  kind: QuestionKind<S, P, A>,
): QuestionKind<S, P, A> =>
  kind.tidies
    ? kind
    : {
        ...kind,
        plan: async (session, question, options) => kind.plan(session, question, untidied(options)),
        release: async (session, question, options) => kind.release(session, question, untidied(options)),
      };

function untidied(options: ReleaseOptions): ReleaseOptions {
  if (!options.tidy) return options;
  throw new Fault('QUERY_UNSUPPORTED', 'Only tables are made tidy, and this answer has none.', 'Leave --tidy (tidy) out.', {
    outcome: notSpent,
  });
}
