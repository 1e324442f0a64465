import { isAboutSpending, type Plan } from '../../release/session/plan.js';
import { notOnRecord, type OnRecord, type Replayed } from '../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';
import type { AnyKind } from './kinds.js';

/** Plan of a question; where a release would return a recorded answer, a free plan with the noise of that answer. */
export async function planOnRecord(
  kind: AnyKind,
  session: PrivacySession,
  request: unknown,
  options: ReleaseOptions,
): Promise<Plan> {
  const plan = await kind.plan(session, request, options);
  const found = await recordedFor(kind, session, request, options);
  return found ? freePlan(plan, found) : plan;
}

/** Recorded answer that a release would return, read through a session that cannot pay. */
async function recordedFor(
  kind: AnyKind,
  session: PrivacySession,
  request: unknown,
  options: ReleaseOptions,
): Promise<Replayed | undefined> {
  if (!(await session.hasEntries())) return undefined;
  const found: OnRecord[] = [];
  try {
    await kind.release(
      session.reader((each) => found.push(each)),
      request,
      options,
    );
  } catch (error) {
    if (!found.includes(notOnRecord)) throw error;
  }
  const last = found.at(-1);
  return last === notOnRecord ? undefined : last;
}

function freePlan(now: Plan, { plan, entry, at }: Replayed): Plan {
  const { refusal: _refusal, waysOut: _ways, completes: _completes, warnings: _warnings, ...rest } = now;
  const { route, why, mechanism, measures, errors, candidates, whatIf, guarantee, records } = plan;
  const warnings = plan.warnings?.filter((text) => !isAboutSpending(text)) ?? [];
  return {
    ...rest,
    ...{ route, why, mechanism, measures, errors, candidates, whatIf, guarantee },
    ...(records && { records }),
    ...(warnings.length > 0 && { warnings }),
    epsilon: 0,
    fits: true,
    recorded: { entry, at },
  };
}
