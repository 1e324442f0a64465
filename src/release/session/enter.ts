import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import {
  compare,
  isPositive,
  isZero,
  multiply,
  parseRational,
  type Rational,
  rational,
  zero,
} from '../../base/exact/rational.js';
import { neighboursOf } from '../../policy/neighbours.js';
import type { Policy } from '../../policy/policy.js';
import type { Profile } from '../../privacy/mechanism/profile.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { type Account, admission, isGaussian } from '../accountant/account.js';
import { type Foreign, foreignCosts, readByOthers, withOthers } from '../accountant/others.js';
import type { Entry } from '../ledger/ledger.js';
import { type Desk, outcomeOf } from './charge.js';
import { openingFor } from './data-claims.js';
import { enteredKey } from './entered-key.js';
import { sayingOutcome } from './outcome.js';
import { tiedBy } from './privacy-unit.js';
import { nowSecret, type Relied, reliedByOthers, stepIn } from './relied.js';

/** Another publisher's release, as it is entered. */
export interface Entering {
  readonly cost: Foreign;
  /** The publisher and the release, in words. */
  readonly label: string;
  /** The same receipt is the same entry; a cost declared by number is a new entry every time. */
  readonly receipt?: string;
  /** Facts that were used at no cost there because everybody knows them (public-facts.ts). */
  readonly relied?: readonly Relied[];
  /** Recorded even if the budget does not allow it: it was spent. */
  readonly over?: boolean;
}

/**
 * Records the cost of another publisher's release about these people, durably, without reading data.
 * A settled entry was there before: nothing was changed.
 */
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
  // Releases of this account are counted already.
  if (own) return { ...own, settled: true };
  const [cost] = foreignCosts(entering.cost, policy);
  const profile = account.book(cost as Profile, readByOthers);
  const admit = admission(account, profile);
  const opening = await openingFor(desk);
  const entry = await ledger
    .reserve({
      population: policy.population,
      terms: account.terms,
      // No quota pays for it.
      analyst: `entered by ${analyst}`,
      ...(as !== undefined && { as }),
      key: enteredKey(receipt ?? `${Date.now()} ${entering.label}`),
      label: entering.label,
      profile,
      relied: [...reliedByOthers(policy), ...(entering.relied ?? [])],
      // A receipt is one entry, even if it was interrupted. A cost declared by number is a new entry every time.
      ...(receipt !== undefined && { unlessRecorded: true, resumable: true }),
      admit: (after, before, own) => entering.over || admit(withOthers(account, after), withOthers(account, before), own),
      ...opening,
    })
    .catch((error: unknown) => {
      throw error instanceof Fault && error.code === 'BUDGET_EXCEEDED' ? exceeded(error, unreadable(profile, account)) : error;
    });
  if (entry.settled) return enteredBefore(entry, profile);
  return sayingOutcome(outcomeOf({ entry, recorded: false }), async () => {
    await ledger.settle(entry, JSON.stringify({ entered: entering.label }));
    await desk.claims?.remember();
    return entry;
  });
}

/** A receipt counts once; with a larger bound than before it would cost more than was recorded. */
function enteredBefore(entry: Entry, { perRecord }: Profile): Entry {
  const [booked, now] = [entry.profile.perRecord, perRecord].map((costs) => costs.get(everyRecord) ?? zero);
  if (compare(now!, booked!) <= 0) return entry;
  throw new Fault(
    'LEDGER_MISMATCH',
    `This receipt was entered before, as entry ${entry.sequence}, at a lower cost than it has now.`,
    'Enter what is missing with --epsilon or --rho.',
    { details: { entry: entry.sequence } },
  );
}

/** Reason why no amount of this cost fits the budget: a rho counts only under routes with a Gaussian bound. */
function unreadable({ noise }: Profile, { routes, delta }: Account): string | undefined {
  if (noise === 'pure' || routes.some(isGaussian)) return undefined;
  const why = isZero(delta) ? 'this budget has no delta' : 'nothing is proven about Gaussian noise under the declared ties';
  return `This cost is a rho of zCDP, and ${why}: no rho can be counted in it.`;
}

function exceeded({ message, details, outcome }: Fault, why: string | undefined): Fault {
  const unless =
    why === undefined
      ? 'the budget is raised by an amendment'
      : 'an amendment declares terms that can count a rho (a budget with a delta)';
  return new Fault(
    'BUDGET_EXCEEDED',
    why ?? message,
    `If it was released all the same, it is spent: enter it with --over. Nothing more can be released then, unless ${unless}.`,
    { ...(why === undefined && { details }), ...(outcome && { outcome }) },
  );
}
const unitShape = z.object({
  secret: z.string(),
  record: z.string().max(1000),
  neighbours: z.string(),
  public: z.array(z.string()),
  ties: z.array(z.string()),
  pairs: z.string().optional(),
  known: z.string().optional(),
  relied: z.array(z.string()),
});
const shape = z.object({
  label: z.string(),
  population: z.string(),
  at: z.string(),
  guarantee: z.object({
    secret: z.string(),
    neighbours: z.string().optional(),
    pairs: z.array(z.string()).optional(),
    known: z.array(z.string()).optional(),
    assumptions: z.array(z.string()).optional(),
    sentences: z.array(z.string()).optional(),
  }),
  privacyUnit: unitShape.optional(),
  measures: z.array(z.object({ noise: z.object({ kind: z.string() }), columns: z.array(z.string()).optional() })),
  profile: z.object({ noise: z.enum(['pure', 'zcdp']), perRecord: z.record(z.string(), z.string()) }),
  ledger: z.object({ entry: z.number(), hash: z.string() }),
});
type ReadReceipt = z.output<typeof shape>;

/** Kinds of records whose cost is that of one row, or of all rows of one person. */
const rowsOrPersons = new Set(['row', 'step', 'answer', 'person']);

/**
 * Privacy cost of one record here, by the receipt of another publisher (others.proof.md). `recordsPerPerson`: the steward's bound on how many of their
 * records hold what one record here is; no receipt can say it.
 */
export function readReceipt(
  given: unknown,
  policy: Policy,
  recordsPerPerson?: number,
): Pick<Entering, 'cost' | 'label' | 'receipt' | 'relied'> {
  const parsed = shape.safeParse(given);
  if (!parsed.success)
    throw new Fault(
      'DATA_MALFORMED',
      'This is no receipt of a release.',
      'Give receipt.json as "fugu release --out DIR" wrote it.',
    );
  const { profile, ledger, label, population, at } = parsed.data;
  const relied = comparableFacts(parsed.data, policy);
  const records = boundOf(parsed.data, recordsPerPerson);
  const told = parsed.data.measures.filter(({ noise }) => noise.kind === 'none');
  // The number of rows is public where one record is one row; several rows of one person are a secret here.
  if (told.some(({ columns }) => columns?.length !== 0) || (told.length > 0 && records > 1))
    throw notOurs('tells something without noise beside what it pays for: that was public there');
  const cost = profile.perRecord[everyRecord];
  if (cost === undefined) throw notOurs('books no cost for whole records: what it told was public there, or paid for elsewhere');
  const amount = amountOf(cost);
  const together = rational(BigInt(records));
  return {
    cost:
      profile.noise === 'pure'
        ? { epsilon: multiply(amount, together) }
        : { rho: multiply(amount, multiply(together, together)) },
    label: `by ${population}, ${at.slice(0, 10)}: ${label}`.slice(0, 100).concat(` (${records} of their records each)`),
    receipt: ledger.hash,
    relied,
  };
}

const notOurs = (why: string): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    `This receipt ${why}, so its cost is not one of a record here.`,
    'Say what it cost one person here with --epsilon or --rho.',
  );

/**
 * Facts that another publisher's release used at no cost must be public here, too;
 * refused where the definitions of neighbouring data sets differ.
 */
function comparableFacts({ guarantee, privacyUnit: unit }: ReadReceipt, policy: Policy): readonly Relied[] {
  const { secret } = unit ?? guarantee;
  if (!rowsOrPersons.has(secret)) throw notOurs(`protects another secret ("${secret}")`);
  if ((unit?.neighbours ?? guarantee.neighbours ?? 'replace') !== neighboursOf(policy))
    throw notOurs('compares data in another way (add-remove against replace)');
  if (unit?.pairs !== undefined || guarantee.pairs) throw notOurs('is about pairs of values only');
  if (unit?.known !== undefined || guarantee.known) throw notOurs('is about what known totals leave open only');
  if (!unit) return olderFacts(guarantee);
  const relied = [...new Set([...unit.relied, ...unit.public.map(stepIn)])];
  const [hidden] = nowSecret(relied, policy);
  if (hidden !== undefined) throw notOurs(`takes for public what is a secret here (${hidden})`);
  const open = new Set([...tiedBy(policy), ...[...policy.columns.values()].filter((c) => c.public).map(({ name }) => name)]);
  const tie = unit.ties.find((name) => !open.has(name));
  if (tie !== undefined) throw notOurs(`takes for known who is tied by "${tie}", which is not declared here`);
  return relied;
}

/** Receipts of version 0.2 do not list public facts: accepted where their text shows that there were none. */
function olderFacts({ secret, sentences = [], assumptions = [] }: ReadReceipt['guarantee']): readonly Relied[] {
  if (secret === 'answer' || secret === 'step' || sentences.some((text) => text.includes('which everybody knows')))
    throw notOurs('is of version 0.2 and does not list what was public there');
  if (!assumptions.some((text) => /^Different (rows|persons) are independent of one another;/.test(text)))
    throw notOurs('is of version 0.2 and does not list what tied records there');
  return [];
}

function boundOf({ guarantee, privacyUnit: unit }: ReadReceipt, records: number | undefined): number {
  if (records !== undefined) return records;
  const theirs = unit ? unit.record : `of version 0.2, and says "${guarantee.secret}" only`;
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `This receipt states the cost of one of their records (${theirs}), not how many of them are one person here.`,
    'Add --records-per-person N, the most of their records that hold one person of yours (1 if each is one person), or say the cost with --epsilon or --rho.',
  );
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
