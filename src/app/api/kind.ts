import type * as z from 'zod';
import { Fault } from '../../base/errors.js';
import type { Policy } from '../../policy/policy.js';
import { notSpent } from '../../release/session/outcome.js';
import type { Plan } from '../../release/session/plan.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { AskOptions, Session } from '../../release/session/session.js';

/** The answer to anything that is no table: plain data, and the proof of what was promised. */
export interface Answer<R> {
  readonly result: R;
  readonly receipt: Receipt;
}

/** One kind of question: its form, how it is planned and how it is released. Words, tables and drawings of the answer are told elsewhere. */
export interface Kind<S extends z.ZodType, P extends Plan, A extends { readonly receipt: Receipt }> {
  /** The field that makes a question one of this kind; queries are everything else. */
  readonly name: string;
  /** The form of the question: what the types, the documentation and the checks are made of. */
  readonly question: S;
  /** For whoever got the form wrong. */
  readonly hint: string;
  /** Its answers are tables, which can be made tidy; of others that is refused. */
  readonly tidies?: true;
  /** A question that can be asked of this policy, or undefined where there is none. */
  example(policy: Policy): z.input<S> | undefined;
  /** Spends nothing, reads no private value. */
  plan(session: Session, question: z.input<S>, options: AskOptions): Promise<P>;
  release(session: Session, question: z.input<S>, options: AskOptions): Promise<A>;
}

export const defineKind = <S extends z.ZodType, P extends Plan, A extends { readonly receipt: Receipt }>(
  kind: Kind<S, P, A>,
): Kind<S, P, A> =>
  kind.tidies
    ? kind
    : {
        ...kind,
        plan: async (session, question, options) => kind.plan(session, question, untidied(options)),
        release: async (session, question, options) => kind.release(session, question, untidied(options)),
      };

function untidied(options: AskOptions): AskOptions {
  if (!options.tidy) return options;
  throw new Fault('QUERY_UNSUPPORTED', 'Only tables are made tidy, and this answer has none.', 'Leave --tidy (tidy) out.', {
    outcome: notSpent,
  });
}
