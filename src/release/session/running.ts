import { Fault } from '../../base/errors.js';
import { parseRational, toNumber, toText } from '../../base/exact/rational.js';
import type { Allotment } from '../../privacy/mechanism/allotment.js';
import { inDoubles } from '../../privacy/mechanism/law.js';
import { deviation } from '../../privacy/mechanism/law-width.js';
import { costTogether } from '../../privacy/mechanism/mechanism.js';
import { type StoredProfile, toStored, withoutZcdp } from '../../privacy/mechanism/profile.js';
import { type RunningTotals, runningTotals } from '../../privacy/mechanism/running/running-totals.js';
import type { Decoder } from '../../privacy/mechanism/running/way.js';
import { hiddenSteps } from '../../query/count/public-steps.js';
import { RunningCount } from '../../query/count/running-count.js';
import type { AskedFor } from './analysis.js';
import { type Charged, outcomeOf } from './charge.js';
import { notSpent, sayingOutcome } from './outcome.js';
import type { Plan } from './plan.js';
import { type Receipt, receiptOf } from './receipt.js';
import { reliedOn, stepIn } from './relied.js';
import { countedOf, type PreparedTotals, prepareTotals, type TotalsAsked } from './running-plan.js';
import type { AskOptions, Session } from './session.js';

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
interface Booked {
  readonly plan: Plan;
  readonly profile: StoredProfile;
  readonly allotment: { readonly noise: Allotment['noise']; readonly amount: string };
  readonly way: string;
}
/** One instalment as recorded: the noisy numbers of its steps. */
interface Instalment {
  readonly from: number;
  readonly to: number;
  readonly numbers: readonly string[];
}

/** Pays for the horizon, or finds that it was paid for. */
export async function openTotals(session: Session, asked: TotalsAsked, options: AskOptions): Promise<OpenTotals> {
  const prepared = await sayingOutcome(notSpent, () => prepareTotals(session, asked, options));
  const { plan, totals, allotment, measure, text } = prepared;
  const profile = toStored(withoutZcdp(costTogether([totals.mechanism])));
  const { answer, ...paid } = await session.charge<Booked>({
    canonical: text,
    label: plan.label,
    mechanisms: [totals.mechanism],
    plan,
    reading: { measures: [measure] },
    relied: [
      ...reliedOn([measure], session.policy),
      ...(hiddenSteps(session.policy, asked.steps.column) ? [] : [stepIn(asked.steps.column)]),
    ],
    ...(options.fresh && { fresh: true }),
    resumable: { length: 0 },
    // Nothing is drawn yet, so no failure can depend on the noise.
    execute: async () => ({
      plan,
      profile,
      allotment: { noise: allotment.noise, amount: toText(allotment.amount) },
      way: totals.way.how,
    }),
  });
  return sayingOutcome(outcomeOf(paid), () => new OpenTotals(asked, prepared, answer, paid, session));
}

/** A part that was reserved, and whose record is lost, is not drawn again. */
async function chargeOnce(session: Session, request: AskedFor<Instalment>): Promise<Charged<Instalment>> {
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

class OpenTotals {
  readonly receipt: Receipt;
  readonly #asked: TotalsAsked;
  readonly #prepared: PreparedTotals;
  readonly #totals: RunningTotals;
  readonly #count: RunningCount;
  readonly #decoders: readonly Decoder[];
  readonly #variances: Iterator<number>;
  #part = 0;
  #told = 0;

  constructor(
    asked: TotalsAsked,
    prepared: PreparedTotals,
    booked: Booked,
    paid: Omit<Charged<unknown>, 'answer'>,
    session: Session,
  ) {
    const { policy } = session;
    const { measure } = prepared;
    this.#asked = asked;
    this.#prepared = prepared;
    const amount = parseRational(booked.allotment.amount);
    const { counted, scope } = countedOf(session, asked, measure);
    this.#totals = runningTotals(counted, { noise: booked.allotment.noise, amount }, scope);
    if (this.#totals.way.how !== booked.way)
      throw new Fault(
        'LEDGER_MISMATCH',
        'The totals were paid for by another way of adding noise.',
        'Pay for them again with --fresh.',
      );
    this.#count = new RunningCount(policy, measure, asked.steps, this.#totals.way);
    this.#decoders = measure.cells.map(() => this.#totals.way.decoder());
    this.#variances = this.#totals.variances()[Symbol.iterator]();
    this.receipt = receiptOf({ policy, plan: booked.plan, profile: booked.profile, ...paid });
  }

  /** Every step up to this one was released. */
  get told(): number {
    return this.#told;
  }

  /**
   * The next instalment: the recorded one, or a new one up to `through` from the present data;
   * undefined if there is none yet.
   */
  async next(session: Session, through: number): Promise<readonly StepTotals[] | undefined> {
    const { measure, key } = this.#prepared;
    const { way, mechanism } = this.#totals;
    const from = this.#told + 1;
    const cells = measure.cells.length;
    let to = Math.min(through, this.#asked.horizon);
    while (to > from && way.numbers(from, to) * cells > atOnce) to = from + Math.floor((to - from) / 2);
    if (to < from) return undefined;
    const numbers = way.numbers(from, to) * cells;
    const widest = JSON.stringify('9'.repeat(await this.#digits(session))).length + 1;
    const { answer, entry, replayed } = await chargeOnce(session, {
      canonical: JSON.stringify(['instalment', this.#part]),
      label: `${this.#prepared.plan.label}, from step ${from}`.slice(0, 120),
      mechanisms: [],
      reading: { measures: [measure] },
      prepaid: { key, mechanisms: [mechanism], part: this.#part },
      resumable: { length: 80 + numbers * widest },
      execute: async (engine, paid) => {
        const add = mechanism.ready(paid, numbers);
        return { from, to, numbers: (await this.#count.noisy(engine, from, to, add)).map(String) };
      },
    });
    this.#part++;
    return sayingOutcome({ state: 'recorded', entry: entry.sequence }, () => this.#totalsOf(answer, entry.sequence, replayed));
  }

  /** Largest length of a number, except for noise beyond a thousand scales. */
  async #digits(session: Session): Promise<number> {
    const { most, mechanism } = this.#totals;
    const noise = BigInt(Math.ceil(1000 * deviation(inDoubles(mechanism.law))));
    return String(BigInt(await session.records()) * most + noise).length + 1;
  }

  #totalsOf({ from, to, numbers }: Instalment, entry: number, replayed: boolean): readonly StepTotals[] {
    const { way } = this.#totals;
    const { measure } = this.#prepared;
    const unit = toNumber(measure.grid);
    const steps: StepTotals[] = [];
    let at = 0;
    for (let step = from; step <= to; step++) {
      const each = way.numbers(step, step);
      const standardError = Math.sqrt(this.#variances.next().value as number);
      const cells = measure.cells.map((keys, cell) => {
        const noisy = numbers.slice(at, at + each).map(BigInt);
        at += each;
        return { keys, total: this.#decoders[cell]!(noisy) * unit, standardError };
      });
      steps.push({ step, cells, entry, replayed });
    }
    this.#told = to;
    return steps;
  }
}
