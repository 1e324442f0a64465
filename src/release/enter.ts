import * as z from 'zod';
import { admission } from '../accounting/account.js';
import { type Foreign, foreignCosts, readByOthers, withOthers } from '../accounting/others.js';
import { Fault } from '../errors.js';
import { isPositive, parseRational, type Rational } from '../exact/rational.js';
import type { Entry } from '../ledger/ledger.js';
import type { Profile } from '../mechanism/profile.js';
import { everyRecord } from '../mechanism/record-class.js';
import { neighboursOf } from '../policy/neighbours.js';
import type { Policy } from '../policy/policy.js';
import { type Desk, outcomeOf } from './charge.js';
import { enteredKey } from './entered-key.js';
import { sayingOutcome } from './outcome.js';
import { reliedByOthers } from './relied.js';

/** What somebody else released, as it is entered. */
export interface Entering {
  readonly cost: Foreign;
  /** Who released it, and what it was. */
  readonly label: string;
  /** The same receipt is the same entry; what is declared by a number is another one every time. */
  readonly receipt?: string;
  /** Written also where the budget does not allow it: it was spent. */
  readonly over?: boolean;
}

/** Books what somebody else has spent on these people, durably. Nothing of the data is read. An entry that comes back settled was there before: nothing was changed. */
export async function enterSpent(desk: Desk, entering: Entering): Promise<Entry> {
  const { ledger, account, policy, analyst, as } = desk;
  if (policy.protect.secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'What others spend is entered for people; this policy protects the tuples of its relations.',
      'Lower the budget of the relations by what was spent, with an amendment.',
    );
  const { receipt } = entering;
  const own = (await ledger.entries(policy.population)).find(({ hash }) => hash === receipt);
  // What this account has released itself is counted already.
  if (own) return { ...own, settled: true };
  const [cost] = foreignCosts(entering.cost, policy);
  const profile = account.book(cost as Profile, readByOthers);
  const admit = admission(account);
  const entry = await ledger
    .reserve({
      population: policy.population,
      terms: account.terms,
      // Nobody's quota pays for it.
      analyst: `entered by ${analyst}`,
      ...(as !== undefined && { as }),
      key: enteredKey(receipt ?? `${Date.now()} ${entering.label}`),
      label: entering.label,
      profile,
      relied: reliedByOthers(policy),
      // A receipt is one entry, also if it was cut off before it was recorded. A number is another one every time.
      ...(receipt !== undefined && { unlessRecorded: true, resumable: true }),
      admit: (after, before, own) => entering.over || admit(withOthers(account, after), withOthers(account, before), own),
      opening: desk.opening,
    })
    .catch((error: unknown) => {
      throw error instanceof Fault && error.code === 'BUDGET_EXCEEDED' ? exceeded(error) : error;
    });
  if (entry.settled) return entry;
  return sayingOutcome(outcomeOf({ entry, recorded: false }), async () => {
    await ledger.settle(entry, JSON.stringify({ entered: entering.label }));
    return entry;
  });
}

const exceeded = ({ message, details, outcome }: Fault): Fault =>
  new Fault(
    'BUDGET_EXCEEDED',
    message,
    'If it was released all the same, it is spent: enter it with --over. Nothing more can be released then, unless the budget is raised by an amendment.',
    { details, ...(outcome && { outcome }) },
  );
const shape = z.object({
  label: z.string(),
  population: z.string(),
  at: z.string(),
  guarantee: z.object({
    secret: z.string(),
    neighbours: z.string().optional(),
    pairs: z.array(z.string()).optional(),
    known: z.array(z.string()).optional(),
  }),
  measures: z.array(z.object({ noise: z.object({ kind: z.string() }), columns: z.array(z.string()).optional() })),
  profile: z.object({ noise: z.enum(['pure', 'zcdp']), perRecord: z.record(z.string(), z.string()) }),
  ledger: z.object({ entry: z.number(), hash: z.string() }),
});

/** What a receipt of another publisher says was spent on one of their records, where that is one of ours. */
export function readReceipt(given: unknown, policy: Policy): Pick<Entering, 'cost' | 'label' | 'receipt'> {
  const parsed = shape.safeParse(given);
  if (!parsed.success)
    throw new Fault(
      'DATA_MALFORMED',
      'This is no receipt of a release.',
      'Give receipt.json as "fugu release --out DIR" wrote it.',
    );
  const { guarantee, measures, profile, ledger, label, population, at } = parsed.data;
  const saying = 'Say what it cost one person here with --epsilon or --rho.';
  const other = (why: string) =>
    new Fault('QUERY_UNSUPPORTED', `This receipt ${why}, so its cost is not one of a record here.`, saying);
  if (guarantee.secret !== policy.protect.secret) throw other(`protects another secret ("${guarantee.secret}")`);
  if ((guarantee.neighbours ?? 'replace') !== neighboursOf(policy)) throw other('compares data in another way');
  if (guarantee.pairs || guarantee.known)
    throw other(`is about ${guarantee.pairs ? 'pairs of values' : 'what known totals leave open'} only`);
  const cost = profile.perRecord[everyRecord];
  if (cost === undefined) throw other('books no cost for whole records: what it told was public there, or paid for elsewhere');
  // That there are so many rows is no secret here either.
  if (measures.some(({ noise, columns }) => noise.kind === 'none' && columns?.length !== 0))
    throw other('tells something without noise beside what it pays for: that was public there');
  const amount = amountOf(cost);
  return {
    cost: profile.noise === 'pure' ? { epsilon: amount } : { rho: amount },
    label: `by ${population}, ${at.slice(0, 10)}: ${label}`.slice(0, 120),
    receipt: ledger.hash,
  };
}

export function amountOf(text: string): Rational {
  const amount = parseRational(text, 'cost');
  if (isPositive(amount)) return amount;
  throw new Fault(
    'BUDGET_INVALID',
    'What was spent must be above zero.',
    'Write what one person lost at most, for example --epsilon 0.5.',
  );
}
