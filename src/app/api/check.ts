import * as z from 'zod';
import { toText } from '../../base/exact/rational.js';
import { type Explanation, explain } from '../../data/terms/explain.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import { type KnownWords, knownWords } from '../../policy/known/words.js';
import { noProtection } from '../../policy/no-protection.js';
import { type PairExamples, pairExamples } from '../../policy/pairs/examples.js';
import { readingWarnings } from '../../policy/pairs/warnings.js';
import type { Adversary, LinkedTable, Policy, SecretKind } from '../../policy/policy.js';
import { accountWarnings } from '../../policy/population.js';
import { countHiddenCells, type PrivateFigures } from '../../query/count/hidden-cells.js';
import { compareKnown, type KnownAgreement } from '../../query/count/known-agreement.js';
import { budgetElsewhere } from '../../release/session/data-claims.js';
import { accountOnData } from '../../release/session/session.js';
import { type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';
import { readAsSteward } from './steward-read.js';

const options = defineRequest('CheckOptions', {
  private: field(
    z.boolean().optional(),
    'Adds exact figures on what the declarations hide. They are as private as the rows: for the steward only, never written to a file.',
  ),
});
export type CheckOptions = z.input<typeof options>;

/** Declarations of a policy, checked against its data and described in plain words. */
export interface CheckedPolicy {
  readonly policy: string;
  /** False while domains read from the data are unconfirmed, dependence is undecided, or the budget protects nothing. */
  readonly ready: boolean;
  /** True for `dependence: undecided`. */
  readonly undecided: boolean;
  readonly population: string;
  readonly ledger: string;
  readonly secret: SecretKind;
  readonly adversary: Adversary;
  readonly epsilon: string;
  readonly delta: string;
  readonly columns: number;
  readonly unconfirmed: readonly string[];
  readonly digest: string;
  readonly explanation: readonly Explanation[];
  /** With pairs of values: examples of what stays protected and what may be learned. */
  readonly pairs?: readonly PairExamples[];
  /** With known totals: what may be learned, what stays protected, and the most rows that a change takes which keeps the totals. */
  readonly known?: KnownWords & { readonly together: number };
  readonly warnings: readonly string[];
  /** Reason why the budget protects nothing, if so; no release is made under such a budget unless this is accepted. */
  readonly protectsNothing?: string;
  /** Exact figures about the rows, on request: never to be published or written to a file. */
  readonly private?: PrivateFigures & {
    readonly known?: readonly KnownAgreement[];
    /** The same figures for every linked table, by its name. */
    readonly tables?: readonly (PrivateFigures & { readonly table: string })[];
  };
}

/**
 * Describes what a policy protects, and from whom, and verifies that its data and every file it names can be used.
 *
 * @example
 * const { ready, explanation } = await checkPolicy('policy.yaml');
 * console.log(ready, explanation[0].text);
 */
export async function checkPolicy(policy: FileName, given?: CheckOptions): Promise<CheckedPolicy> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const chosen = parseOptions(options, given);
    const read = await readPolicy(file);
    const engine = await openEngine(read);
    await withClosing(engine, () => accountOnData(read, engine.whole));
    const nothing = noProtection(read);
    const hidden = chosen.private ? await hiddenInData(read) : undefined;
    const linkedTables = chosen.private && read.tables ? await hiddenInLinked(read, [...read.tables.values()]) : undefined;
    const compared = chosen.private && read.known ? await comparedText(read) : undefined;
    return {
      policy: read.file,
      ready: read.unconfirmed.length === 0 && !read.undecided && nothing === undefined,
      undecided: read.undecided === true,
      population: read.population,
      ledger: read.ledger,
      secret: read.protect.secret,
      adversary: read.protect.adversary,
      epsilon: toText(read.budget.epsilon),
      delta: toText(read.budget.delta),
      columns: read.columns.size,
      unconfirmed: read.unconfirmed,
      digest: read.digest,
      explanation: explain(read),
      ...(read.protect.pairs && { pairs: pairExamples(read) }),
      ...(read.known && { known: { ...knownWords(read), together: read.known.together } }),
      warnings: [...accountWarnings(read), ...readingWarnings(read), ...(await budgetElsewhere(read))],
      ...(nothing !== undefined && { protectsNothing: nothing }),
      ...(hidden && {
        private: { ...hidden, ...(compared && { known: compared }), ...(linkedTables && { tables: linkedTables }) },
      }),
    };
  });
}

async function comparedText(policy: Policy): Promise<readonly KnownAgreement[]> {
  const engine = await openEngine(policy);
  return withClosing(engine, () => readAsSteward('check --private', engine, (rows) => compareKnown(rows, policy)));
}

/** The data as it is: an engine opened for the policy would drop text that is not declared. */
async function hiddenInData(policy: Policy): Promise<PrivateFigures> {
  const { source, table, encoding } = policy.data;
  const engine = await openEngine({
    source,
    ...(table !== undefined && { table }),
    ...(encoding !== undefined && { encoding }),
  });
  return withClosing(engine, () => readAsSteward('check --private', engine, (rows) => countHiddenCells(rows, policy)));
}

/** Tables linked to the data by person; nothing else links their rows. */
async function hiddenInLinked({ data, protect: { secret, adversary } }: Policy, tables: readonly LinkedTable[]) {
  const counted: (PrivateFigures & { readonly table: string })[] = [];
  for (const { name, source = data.source, table, columns, unit, maxRows } of tables) {
    const engine = await openEngine({ source, ...(table !== undefined && { table }) });
    const protect = { secret, adversary, maxRows, ...(unit !== undefined && { unit }) };
    const figures = await withClosing(engine, () =>
      readAsSteward('check --private', engine, (rows) => countHiddenCells(rows, { columns, dependence: [], protect })),
    );
    counted.push({ table: name, ...figures });
  }
  return counted;
}
