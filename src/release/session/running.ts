import { Fault } from '../../base/errors.js';
import { parseRational, toNumber, toText } from '../../base/exact/rational.js';
import type { BudgetShare } from '../../privacy/mechanism/budget-share.js';
import { inDoubles } from '../../privacy/mechanism/distribution.js';
import { standardDeviation } from '../../privacy/mechanism/half-width.js';
import { totalCostOf } from '../../privacy/mechanism/mechanism.js';
import { type StoredCost, toStored, withoutZcdp } from '../../privacy/mechanism/privacy-cost.js';
import type { Decoder } from '../../privacy/mechanism/running/continual-strategy.js';
import { type RunningTotals, runningTotals } from '../../privacy/mechanism/running/running-totals.js';
import { protectedStepsFault } from '../../query/count/public-steps.js';
import { RunningCount } from '../../query/count/running-count.js';
import type { CanonicalRequest } from './analysis.js';
import { attachOutcome, notSpent, outcomeOf } from './outcome.js';
import type { Plan } from './plan.js';
import { factsReliedOn, stepFact } from './public-facts.js';
import type { Receipt } from './receipt.js';
import type { ChargeResult } from './release-context.js';
import { countedTotals, type PreparedTotals, prepareTotals, type TotalsRequest } from './running-plan.js';
import type { PrivacySession, ReleaseOptions } from './session.js';

/** The totals of one step: one per cell of the query. */
export interface StepTotals {
  readonly step: number;
  readonly cells: readonly TotalOfCell[];
  readonly entry: number;
  readonly replayed: boolean;
}
export interface TotalOfCell {
  readonly keys: readonly string[];
  readonly total: number;
  readonly standardError: number;
}

/** Payment as recorded in the ledger: enough to make the same mechanism again. */
interface PaidTotals {
  readonly plan: Plan;
  readonly profile: StoredCost;
  readonly allotment: { readonly noise: BudgetShare['noise']; readonly amount: string };
  readonly way: string;
}
/** One instalment as recorded: the noisy numbers of its steps. */
interface Instalment {
  readonly from: number;
  readonly to: number;
  readonly numbers: readonly string[];
}

/** Pays for the horizon, or finds that it was paid for. */
export async function openTotals(session: PrivacySession, request: TotalsRequest, options: ReleaseOptions): Promise<OpenTotals> {
  const prepared = await attachOutcome(notSpent, () => prepareTotals(session, request, options));
  const { plan, totals, budgetShare, measure, text } = prepared;
  const cost = toStored(withoutZcdp(totalCostOf([totals.mechanism])));
  const { answer, ...paid } = await session.charge<PaidTotals>({
    canonical: text,
    label: plan.label,
    mechanisms: [totals.mechanism],
    plan,
    reading: { measures: [measure] },
    relied: [
      ...factsReliedOn([measure], session.policy),
      ...(protectedStepsFault(session.policy, request.steps.column) ? [] : [stepFact(request.steps.column)]),
    ],
    ...(options.fresh && { fresh: true }),
    resumable: { length: 0 },
    // Nothing is drawn yet, so no failure can depend on the noise.
    execute: async () => ({
      plan,
      profile: cost,
      allotment: { noise: budgetShare.noise, amount: toText(budgetShare.amount) },
      way: totals.strategy.description,
    }),
  });
  return attachOutcome(outcomeOf(paid), () => new OpenTotals({ session, request, prepared, paidTotals: answer, paid }));
}

/** A part that was reserved, and whose record is lost, is not drawn again. */
async function chargeOnce(session: PrivacySession, request: CanonicalRequest<Instalment>): Promise<ChargeResult<Instalment>> {
  try {
    return await session.charge(request);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'BUDGET_EXCEEDED') throw error;
    throw new Fault(
      'BUDGET_EXCEEDED',
      'The next totals were drawn before, and their record was lost with the machine; they cannot be drawn a second time.',
      'Pay for a new horizon with --fresh.',
      { outcome: notSpent },
    );
  }
}

/** Largest number of values in one instalment. */
const atOnce = 8192;

interface TotalsParts {
  readonly session: PrivacySession;
  readonly request: TotalsRequest;
  readonly prepared: PreparedTotals;
  readonly paidTotals: PaidTotals;
  readonly paid: Omit<ChargeResult<unknown>, 'answer'>;
}

class OpenTotals {
  readonly receipt: Receipt;
  readonly #request: TotalsRequest;
  readonly #prepared: PreparedTotals;
  readonly #totals: RunningTotals;
  readonly #count: RunningCount;
  readonly #decoders: readonly Decoder[];
  readonly #variances: Iterator<number>;
  #part = 0;
  #lastStep = 0;

  constructor({ session, request, prepared, paidTotals, paid }: TotalsParts) {
    const { policy } = session;
    const { measure } = prepared;
    this.#request = request;
    this.#prepared = prepared;
    const amount = parseRational(paidTotals.allotment.amount);
    const { counted, scope } = countedTotals(session, request, measure);
    this.#totals = runningTotals(counted, { noise: paidTotals.allotment.noise, amount }, scope);
    if (this.#totals.strategy.description !== paidTotals.way)
      throw new Fault(
        'LEDGER_MISMATCH',
        'The totals were paid for by another way of adding noise.',
        'Pay for them again with --fresh.',
      );
    this.#count = new RunningCount(policy, measure, request.steps, this.#totals.strategy);
    this.#decoders = measure.cells.map(() => this.#totals.strategy.decoder());
    this.#variances = this.#totals.variances()[Symbol.iterator]();
    this.receipt = session.receipt({ plan: paidTotals.plan, profile: paidTotals.profile, ...paid });
  }

  /** Every step up to this one was released. */
  get lastStep(): number {
    return this.#lastStep;
  }

  /** The next instalment, recorded or from the present data up to `through`; undefined if there is none yet. */
  async next(session: PrivacySession, through: number): Promise<readonly StepTotals[] | undefined> {
    const { measure, key } = this.#prepared;
    const { strategy, mechanism } = this.#totals;
    const from = this.#lastStep + 1;
    const cells = measure.cells.length;
    let to = Math.min(through, this.#request.horizon);
    while (to > from && strategy.numbers(from, to) * cells > atOnce) to = from + Math.floor((to - from) / 2);
    if (to < from) return undefined;
    const numbers = strategy.numbers(from, to) * cells;
    const widest = JSON.stringify('9'.repeat(await this.#digits(session))).length + 1;
    const { answer, entry, replayed } = await chargeOnce(session, {
      canonical: JSON.stringify(['instalment', this.#part]),
      label: `${this.#prepared.plan.label}, from step ${from}`.slice(0, 120),
      mechanisms: [],
      reading: { measures: [measure] },
      prepaid: { key, mechanisms: [mechanism], part: this.#part },
      resumable: { length: 80 + numbers * widest },
      execute: async (engine, paid) => {
        const add = mechanism.prepare(paid, numbers);
        return { from, to, numbers: (await this.#count.noisy(engine, from, to, add)).map(String) };
      },
    });
    this.#part++;
    return attachOutcome({ state: 'recorded', entry: entry.sequence }, () => this.#totalsOf(answer, entry.sequence, replayed));
  }

  /** Largest length of a number, except for noise beyond a thousand scales. */
  async #digits(session: PrivacySession): Promise<number> {
    const { most, mechanism } = this.#totals;
    const noise = BigInt(Math.ceil(1000 * standardDeviation(inDoubles(mechanism.distribution))));
    return String(BigInt(await session.records()) * most + noise).length + 1;
  }

  #totalsOf({ from, to, numbers }: Instalment, entry: number, replayed: boolean): readonly StepTotals[] {
    const { strategy } = this.#totals;
    const { measure } = this.#prepared;
    const unit = toNumber(measure.grid);
    const steps: StepTotals[] = [];
    let at = 0;
    for (let step = from; step <= to; step++) {
      const each = strategy.numbers(step, step);
      const standardError = Math.sqrt(this.#variances.next().value as number);
      const cells = measure.cells.map((keys, cell) => {
        const noisy = numbers.slice(at, at + each).map(BigInt);
        at += each;
        return { keys, total: this.#decoders[cell]!(noisy) * unit, standardError };
      });
      steps.push({ step, cells, entry, replayed });
    }
    this.#lastStep = to;
    return steps;
  }
}
