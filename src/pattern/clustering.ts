import { Fault } from '../errors.js';
import { addProfiles, type PureProfile } from '../mechanism/profile.js';
import type { Plan } from '../release/plan.js';
import type { Receipt } from '../release/receipt.js';
import { askedText, type Session } from '../release/session.js';
import {
  answerPattern,
  isAdversarial,
  type PatternOptions,
  type PatternResult,
  type PreparedPattern,
  preparePattern,
} from './pattern.js';
import { clusteringParts } from './query/shortcut.js';

export interface ClusteringResult {
  /** Null when the noise left no 2-paths. */
  readonly value: number | null;
  readonly triangles: PatternResult;
  readonly paths: PatternResult;
}

/** 3 triangles / 2-paths, each paid with half, booked together: both are answered or neither is paid. */
export async function planClustering(session: Session, text: string, options: PatternOptions = {}): Promise<Plan> {
  return planOf(session, text, await prepareBoth(session, text, options));
}

export async function releaseClustering(
  session: Session,
  text: string,
  options: PatternOptions = {},
): Promise<{ result: ClusteringResult; receipt: Receipt }> {
  const both = await prepareBoth(session, text, options);
  const [triangles, paths] = both;
  return session.analyse<ClusteringResult>({
    kind: 'clustering coefficient',
    allowance: { ...triangles.allowance, asked: askedText(options) },
    canonical: JSON.stringify(both.map((p) => p.canonical)),
    plan: planOf(session, text, both),
    profile: together(both),
    relied: [...new Set(both.flatMap((p) => p.relied))],
    execute: async (engine) => {
      const closed = await answerPattern(engine, session, triangles);
      const open = await answerPattern(engine, session, paths);
      return { value: coefficient(Number(closed.value), Number(open.value)), triangles: closed, paths: open };
    },
  });
}

type Both = readonly [triangles: PreparedPattern, paths: PreparedPattern];

const coefficient = (closed: number, open: number): number | null =>
  open > 0 ? Math.min(1, Math.max(0, (3 * closed) / open)) : null;

async function prepareBoth(session: Session, text: string, options: PatternOptions): Promise<Both> {
  const of = /\s+of\s+([A-Za-z_]\w*)\s*$/.exec(text)?.[1];
  const half = { ...options, epsilon: await halfOf(session, options) };
  const [closed, open] = clusteringParts;
  const part = (what: string) => preparePattern(session, of ? `${what} of ${of}` : what, half);
  const both = [await part(closed), await part(open)] as const;
  if (both.some((p) => isAdversarial(p.chosen)))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A clustering coefficient is two counts, and adversarial privacy gives a population one.',
      'Ask without --gamma, which uses the DP budget.',
    );
  return both;
}

async function halfOf(session: Session, options: PatternOptions): Promise<string> {
  const share = session.share(options, await session.standing());
  const { epsilon } = session.policy.budget;
  return `${share.num * epsilon.num}/${2n * share.den * epsilon.den}`;
}

/** Patterns cost pure epsilon. */
const together = ([a, b]: Both): PureProfile => addProfiles(a.profile as PureProfile, b.profile as PureProfile);

function planOf(session: Session, text: string, both: Both): Plan {
  const [{ plan: first, allowance }, { plan: second }] = both;
  return {
    ...first,
    label: text,
    epsilon: first.epsilon + second.epsilon,
    fits: session.admits(together(both), allowance.reading, allowance.spent),
    why: `Two counts that share the budget. Triangles: ${first.why} 2-paths: ${second.why}`,
  };
}
