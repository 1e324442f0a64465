import { Fault } from '../errors.js';
import type { Policy } from '../policy/policy.js';
import { didYouMean } from '../policy/suggest.js';
import { openDuckdb } from './duckdb/duckdb.js';
import type { Engine, EngineLimits } from './engine.js';
import { defaultLimits, sharedWithTies } from './limits.js';
import { type EngineSource, sourceOf } from './source.js';

/** Opens the data of a policy and checks that every column the policy speaks of is there; or opens a bare source. */
export async function openEngine(
  what: Policy | ({ readonly source: string } & Partial<EngineSource>),
  limits: Partial<EngineLimits> = {},
): Promise<Engine> {
  const policy = 'protect' in what ? what : undefined;
  const source = policy ? sourceOf(policy) : { relations: [], codes: new Set<string>(), ...(what as { source: string }) };
  const said = limits.memory === undefined ? {} : { room: limits.memory };
  const allowed = { ...defaultLimits(), ...said, ...limits };
  const engine = await openDuckdb(source, policy && tiesRecords(policy) ? sharedWithTies(allowed) : allowed);
  if (!policy) return engine;
  try {
    checkColumns(
      policy,
      (await engine.columns()).map((c) => c.name),
    );
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

const tiesRecords = ({ protect, dependence }: Policy): boolean =>
  protect.secret !== 'edge' && dependence.some((d) => d.kind !== 'columns');

/** Every column of the data a policy names, with the entry that names it. */
function* named(policy: Policy): Iterable<readonly [column: string, entry: string, role: string]> {
  if (policy.protect.unit !== undefined) yield [policy.protect.unit, 'protect.unit', 'unit'];
  for (const name of policy.columns.keys()) yield [name, `columns.${name}`, 'declared'];
  for (const [i, d] of policy.dependence.entries()) {
    if (d.kind === 'groups') for (const by of d.by) yield [by, `dependence.${i}.by`, 'group'];
    if (d.kind === 'sequence') {
      yield [d.by, `dependence.${i}.by`, 'sequence'];
      yield [d.order, `dependence.${i}.order`, 'order'];
    }
  }
}

function checkColumns(policy: Policy, known: readonly string[]): void {
  const there = new Set(known);
  for (const [column, entry, role] of named(policy))
    if (!there.has(column))
      throw new Fault(
        'COLUMN_UNKNOWN',
        `The data has no ${role} column "${column}".`,
        didYouMean(column, known, 'Columns of the data'),
        {
          place: policy.places?.get(entry) ?? { file: policy.data.codebook ?? policy.file },
        },
      );
}
