import { Fault } from '../../base/errors.js';
import { type DatabaseScheme, databaseOf } from '../../policy/address.js';
import type { LinkedTable, Policy } from '../../policy/policy.js';
import { didYouMean } from '../../policy/suggest.js';
import { openDuckdb } from '../engine/duckdb/duckdb.js';
import { type Engine, type EngineLimits, type SourceColumn, withSnapshot } from '../engine/engine.js';
import { defaultLimits, sharedWithTies } from '../engine/limits.js';
import type { EngineSource } from '../engine/source.js';
import { type TieKinds, tieKindColumns, tieKindOf, tieKinds } from '../ties/kinds.js';
import { joiningColumns, sourceOf } from './source.js';

/** Opens the data of a policy and checks that every column it names exists; or opens a bare source. */
export async function openEngine(
  what: Policy | ({ readonly source: string } & Partial<EngineSource>),
  limits: Partial<EngineLimits> = {},
  kinds: TieKinds = tieKinds,
): Promise<Engine> {
  const policy = 'protect' in what ? what : undefined;
  const source = policy ? sourceOf(policy, kinds) : { relations: [], codes: new Set<string>(), ...(what as { source: string }) };
  const tieLimit = limits.memory === undefined ? {} : { room: limits.memory };
  const allowed = { ...defaultLimits(), ...tieLimit, ...limits };
  const opened = policy && tiesRecords(policy, kinds) ? sharedWithTies(allowed) : allowed;
  const database = databaseOf(source.source);
  const open = database === undefined ? openDuckdb : await databases[database]();
  const engine = await open(source, opened);
  if (!policy) return engine;
  try {
    await withSnapshot(engine, async (data) => {
      checkColumns(policy, await data.columns(), named(policy, kinds));
      for (const table of policy.tables?.values() ?? [])
        checkColumns(policy, await data.columns(table.name), namedIn(table), `table "${table.name}"`);
    });
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

type Open = (source: EngineSource, limits: EngineLimits) => Promise<Engine>;
/** Database adapter by URL scheme. A driver is loaded only when it is used (docs/explanation/decisions/0021-start.md). */
const databases: Readonly<Record<DatabaseScheme, () => Promise<Open>>> = {
  postgres: async () => (await import('../engine/postgres/postgres.js')).openPostgres,
  trino: async () => (await import('../engine/trino/trino.js')).openTrino,
};

const tiesRecords = ({ protect, dependence }: Policy, kinds: TieKinds): boolean =>
  protect.secret !== 'edge' && dependence.some((d) => tieKindOf(d, kinds).records !== undefined);

/** Every column of the data a policy names, with the entry that names it. */
function* named(policy: Policy, kinds: TieKinds): Iterable<readonly [column: string, entry: string, role: string]> {
  if (policy.protect.unit !== undefined) yield [policy.protect.unit, 'protect.unit', 'unit'];
  for (const name of policy.data.links ?? []) yield [name, 'data.links', 'joining'];
  for (const name of policy.columns.keys()) yield [name, `columns.${name}`, 'declared'];
  for (const [i, d] of policy.dependence.entries())
    for (const { column, key, role } of tieKindColumns(d, kinds)) yield [column, `dependence.${i}.${key}`, role];
}

function* namedIn(table: LinkedTable): ReturnType<typeof named> {
  for (const name of joiningColumns(table)) yield [name, `tables.${table.name}`, 'joining'];
  for (const name of table.columns.keys()) yield [name, `tables.${table.name}.columns`, 'declared'];
}

function checkColumns(policy: Policy, columns: readonly SourceColumn[], wanted: ReturnType<typeof named>, where = 'data'): void {
  const known = columns.map((c) => c.name);
  const there = new Set(known);
  for (const [column, entry, role] of wanted) {
    if (there.has(column)) continue;
    const hint = didYouMean(column, known, `Columns of the ${where}`);
    const place = policy.places?.get(entry) ?? { file: policy.data.codebook ?? policy.file };
    throw new Fault('COLUMN_UNKNOWN', `The ${where} has no ${role} column "${column}".`, hint, { place });
  }
}
