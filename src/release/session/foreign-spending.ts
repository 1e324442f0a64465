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
import type { PrivacyCost } from '../../privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { type Account, isGaussian } from '../accountant/account.js';
import { admission } from '../accountant/admission.js';
import { type ForeignCost, foreignCosts, foreignReading, withOthers } from '../accountant/others.js';
import type { SpendEntry } from '../ledger/ledger.js';
import { openingFor } from './data-claims.js';
import { enteredKey } from './entered-key.js';
import { attachOutcome, outcomeOf } from './outcome.js';
import { tiedBy } from './privacy-unit.js';
import { factsByOthers, nowSecret, type PublicFact, reliedByTies, stepFact } from './public-facts.js';
import type { ReleaseContext } from './release-context.js';

/** Another publisher's release, as it is entered. */
export interface ForeignSpending {
  readonly cost: ForeignCost;
  /** The publisher and the release, in words. */
  readonly label: string;
  /** The same receipt is the same entry; a cost declared by number is a new entry every time. */
  readonly receipt?: string;
  /** Facts that were used at no cost there because everybody knows them (public-facts.ts). */
  readonly relied?: readonly PublicFact[];
  /** Recorded even if the budget does not allow it: it was spent. */
  readonly over?: boolean;
}

/** Records the cost of another publisher's release, durably, without reading data. A settled entry was there before. */
export async function enterForeignSpending(context: ReleaseContext, spending: ForeignSpending): Promise<SpendEntry> {
  const { ledger, account, policy, analyst, as } = context;
  if (policy.protect.secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'What others spend is entered for people; this policy protects the tuples of its relations.',
      'Lower the budget of the relations by what was spent, with an amendment.',
    );
  const { receipt } = spending;
  const own = (await ledger.entries(policy.population)).find(({ hash }) => hash === receipt);
  // Releases of this account are counted already.
  if (own) return { ...own, settled: true };
  const [cost] = foreignCosts(spending.cost, policy);
  const privacyCost = account.reservedCost(cost as PrivacyCost, foreignReading);
  const admit = admission(account, privacyCost);
  const opening = await openingFor(context);
  const entry = await ledger
    .reserve({
      population: policy.population,
      terms: account.terms,
      // No quota pays for it.
      analyst: `entered by ${analyst}`,
      ...(as !== undefined && { as }),
      key: enteredKey(receipt ?? `${Date.now()} ${spending.label}`),
      label: spending.label,
      profile: privacyCost,
      relied: [...factsByOthers(policy), ...reliedByTies(policy, account), ...(spending.relied ?? [])],
      // A receipt is one entry, even if it was interrupted. A cost declared by number is a new entry every time.
      ...(receipt !== undefined && { unlessRecorded: true, resumable: true }),
      admit: (after, before, own) => spending.over || admit(withOthers(account, after), withOthers(account, before), own),
      ...opening,
    })
    .catch((error: unknown) => {
      throw error instanceof Fault && error.code === 'BUDGET_EXCEEDED'
        ? exceeded(error, uncountableReason(privacyCost, account))
        : error;
    });
  if (entry.settled) return enteredBefore(entry, privacyCost);
  return attachOutcome(outcomeOf({ entry, recorded: false }), async () => {
    await ledger.commit(entry, JSON.stringify({ entered: spending.label }));
    await context.claims?.remember();
    return entry;
  });
}

/** A receipt counts once; with a larger bound than before it would cost more than was recorded. */
function enteredBefore(entry: SpendEntry, { perRecord }: PrivacyCost): SpendEntry {
  const [earlier, now] = [entry.profile.perRecord, perRecord].map((costs) => costs.get(everyRecord) ?? zero);
  if (compare(now!, earlier!) <= 0) return entry;
  throw new Fault(
    'LEDGER_MISMATCH',
    `This receipt was entered before, as entry ${entry.sequence}, at a lower cost than it has now.`,
    'Enter what is missing with --epsilon or --rho.',
    { details: { entry: entry.sequence } },
  );
}

/** Reason why no amount of this cost fits the budget: a rho counts only under routes with a Gaussian bound. */
function uncountableReason({ noise }: PrivacyCost, { routes, delta }: Account): string | undefined {
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
const receiptShape = z.object({
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
type ReadReceipt = z.output<typeof receiptShape>;

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
): Pick<ForeignSpending, 'cost' | 'label' | 'receipt' | 'relied'> {
  const parsed = receiptShape.safeParse(given);
  if (!parsed.success)
    throw new Fault(
      'DATA_MALFORMED',
      'This is no receipt of a release.',
      'Give receipt.json as "fugu release --out DIR" wrote it.',
    );
  const { profile: privacyCost, ledger, label, population, at } = parsed.data;
  const relied = comparableFacts(parsed.data, policy);
  const records = boundOf(parsed.data, recordsPerPerson);
  const exactMeasures = parsed.data.measures.filter(({ noise }) => noise.kind === 'none');
  // The number of rows is public where one record is one row; several rows of one person are a secret here.
  if (exactMeasures.some(({ columns }) => columns?.length !== 0) || (exactMeasures.length > 0 && records > 1))
    throw unusableReceipt('tells something without noise beside what it pays for: that was public there');
  const cost = privacyCost.perRecord[everyRecord];
  if (cost === undefined)
    throw unusableReceipt('charges no cost to whole records: its answers were public there, or paid for elsewhere');
  const amount = amountOf(cost);
  const together = rational(BigInt(records));
  return {
    cost:
      privacyCost.noise === 'pure'
        ? { epsilon: multiply(amount, together) }
        : { rho: multiply(amount, multiply(together, together)) },
    label: `by ${population}, ${at.slice(0, 10)}: ${label}`.slice(0, 100).concat(` (${records} of their records each)`),
    receipt: ledger.hash,
    relied,
  };
}

const unusableReceipt = (why: string): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    `This receipt ${why}, so its cost is not one of a record here.`,
    'Say what it cost one person here with --epsilon or --rho.',
  );

/** Facts that another publisher used at no cost must be public here; their neighbouring data sets must be ours. */
function comparableFacts({ guarantee, privacyUnit: unit }: ReadReceipt, policy: Policy): readonly PublicFact[] {
  const { secret } = unit ?? guarantee;
  if (!rowsOrPersons.has(secret)) throw unusableReceipt(`protects another secret ("${secret}")`);
  if ((unit?.neighbours ?? guarantee.neighbours ?? 'replace') !== neighboursOf(policy))
    throw unusableReceipt('compares data in another way (add-remove against replace)');
  if (unit?.pairs !== undefined || guarantee.pairs) throw unusableReceipt('is about pairs of values only');
  if (unit?.known !== undefined || guarantee.known) throw unusableReceipt('is about what known totals leave open only');
  if (!unit) return olderFacts(guarantee);
  const relied = [...new Set([...unit.relied, ...unit.public.map(stepFact)])];
  const [hidden] = nowSecret(relied, policy);
  if (hidden !== undefined) throw unusableReceipt(`takes for public what is a secret here (${hidden})`);
  const open = new Set([...tiedBy(policy), ...[...policy.columns.values()].filter((c) => c.public).map(({ name }) => name)]);
  const tie = unit.ties.find((name) => !open.has(name));
  if (tie !== undefined) throw unusableReceipt(`takes for known who is tied by "${tie}", which is not declared here`);
  return relied;
}

/** Receipts of version 0.2 do not list public facts: accepted where their text shows that there were none. */
function olderFacts({ secret, sentences = [], assumptions = [] }: ReadReceipt['guarantee']): readonly PublicFact[] {
  if (secret === 'answer' || secret === 'step' || sentences.some((text) => text.includes('which everybody knows')))
    throw unusableReceipt('is of version 0.2 and does not list what was public there');
  if (!assumptions.some((text) => /^Different (rows|persons) are independent of one another;/.test(text)))
    throw unusableReceipt('is of version 0.2 and does not list what tied records there');
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
