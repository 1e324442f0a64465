import { Fault } from '../../base/errors.js';
import { add } from '../../base/exact/rational.js';
import { defaultLimits } from '../../data/engine/limits.js';
import type { Mechanism } from '../../privacy/mechanism/mechanism.js';
import { epsilonText } from '../../release/accountant/share.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { PrivacySession } from '../../release/session/session.js';
import { refuseTooLong } from './counting-time.js';
import { ownPlan, type PatternPlan, planOf, refusedWhere } from './plan.js';
import { type PatternOptions, type PreparedPattern, preparePattern } from './prepare.js';
import { clusteringParts } from './query/shortcut.js';
import { answerPattern, type PatternResult } from './release.js';
import { isAdversarial } from './strategies/strategy.js';

export interface ClusteringResult {
  /** Null if the noise left no 2-paths. */
  readonly value: number | null;
  readonly triangles: PatternResult;
  readonly paths: PatternResult;
}

/** 3 triangles / 2-paths, each with half of the budget, reserved together: both are answered or neither is paid. */
export async function planClustering(session: PrivacySession, text: string, options: PatternOptions = {}): Promise<PatternPlan> {
  return planBoth(session, text, await prepareBoth(session, text, options));
}

export async function releaseClustering(
  session: PrivacySession,
  text: string,
  options: PatternOptions = {},
): Promise<{ result: ClusteringResult; receipt: Receipt }> {
  const both = await prepareBoth(session, text, options);
  const [triangles, paths] = both;
  return session.analyse<ClusteringResult>({
    kind: 'clustering coefficient',
    allowance: { ...triangles.allowance, epsilonText: epsilonText(options) },
    canonical: JSON.stringify(both.map((p) => p.canonical)),
    plan: planBoth(session, text, both),
    mechanisms: jointMechanisms(both),
    relied: [...new Set(both.flatMap((p) => p.relied))],
    still: async () => {
      for (const { work } of both) refuseTooLong(work.expected, defaultLimits());
    },
    execute: async (engine, payment) => {
      const closed = await answerPattern(engine, triangles, payment);
      const open = await answerPattern(engine, paths, payment);
      return { value: coefficient(Number(closed.value), Number(open.value)), triangles: closed, paths: open };
    },
  });
}

type PatternPair = readonly [triangles: PreparedPattern, paths: PreparedPattern];

const coefficient = (closed: number, open: number): number | null =>
  open > 0 ? Math.min(1, Math.max(0, (3 * closed) / open)) : null;

async function prepareBoth(session: PrivacySession, text: string, options: PatternOptions): Promise<PatternPair> {
  const of = /\s+of\s+([A-Za-z_]\w*)\s*$/.exec(text)?.[1];
  const half = { ...options, epsilon: await halfOf(session, options) };
  const [closed, open] = clusteringParts;
  const part = (what: string) => preparePattern(session, of ? `${what} of ${of}` : what, half);
  const both = [await part(closed), await part(open)] as const;
  if (both.some((p) => isAdversarial(p.drawn))) throw oneBatchFault();
  return both;
}

export const oneBatchFault = (): Fault =>
  new Fault(
    'QUERY_UNSUPPORTED',
    'A clustering coefficient is two counts, and adversarial privacy gives a population one.',
    'Ask without --gamma, which uses the DP budget.',
  );

async function halfOf(session: PrivacySession, options: PatternOptions): Promise<string> {
  const share = session.share(options, await session.balance());
  const { epsilon } = session.policy.budget;
  return `${share.num * epsilon.num}/${2n * share.den * epsilon.den}`;
}

const jointMechanisms = (both: PatternPair): readonly Mechanism[] => both.flatMap((p) => p.drawn.mechanisms);

function planBoth(session: PrivacySession, text: string, both: PatternPair): PatternPlan {
  const [first, second] = [ownPlan(session, both[0]), ownPlan(session, both[1])];
  const framed = session.completePlan({
    ...first,
    label: text,
    share: add(first.share, second.share),
    mechanisms: jointMechanisms(both),
    why: `Two counts that share the budget. Triangles: ${first.why} 2-paths: ${second.why}`,
    errors: [...first.errors, ...second.errors],
  });
  const works = both.map(({ work }) => work.expected);
  return { ...planOf(session, both[0]), ...framed, ...refusedWhere(framed, works) };
}
