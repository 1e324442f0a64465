import * as z from 'zod';
import { readdirSync } from '../../base/platform/files.js';
import { join } from '../../base/platform/paths.js';
import { openEngine } from '../../data/terms/open.js';
import { readPolicy } from '../../data/terms/read.js';
import { attackPolicy, type PolicyAttack } from '../../evaluate/attack/policy/attack.js';
import { releasedTable } from '../../evaluate/attack/policy/table.js';
import { type FileName, fileNamed, integerBetween, parseOptions, progressShape, withFaults } from './input.js';
import { readText } from './named-text.js';
import { withClosing } from './open-handles.js';
import { defineRequest, field } from './request.js';
import { readAsSteward } from './steward-read.js';

const options = defineRequest('AttackOptions', {
  release: field(z.string().min(1), 'Folder with receipt.json and the released tables, as "fugu release --out" writes it.'),
  column: field(z.string().optional(), 'Histogram to attack; the tied column when absent.'),
  show: field(integerBetween(1, 200).default(6), 'Number of most exposed records to list.'),
  progress: progressShape.optional(),
});
export type AttackOptions = z.input<typeof options>;

/**
 * Posterior of a Bayesian attacker about each record after a release, with and without the ties. Reads the protected rows and pays
 * nothing: the result is as private as the rows.
 *
 * @example
 * const { attackers, promised } = await attack('policy.yaml', { release: 'out' });
 */
export async function attack(policy: FileName, given: AttackOptions): Promise<PolicyAttack> {
  return withFaults(async () => {
    const file = fileNamed(policy, 'The policy');
    const { release, column, show, progress } = parseOptions(options, given);
    const read = await readPolicy(file);
    const released = releasedTable(readText(join(release, 'receipt.json')), csvFiles(release), read, column);
    const engine = await openEngine(read);
    return withClosing(engine, () =>
      readAsSteward('attack', engine, (rows) => attackPolicy(read, rows, released, { show, ...(progress && { progress }) })),
    );
  });
}

function csvFiles(directory: string): Map<string, string> {
  const names = readdirSync(directory)
    .filter((f) => f.endsWith('.csv'))
    .sort();
  return new Map(names.map((name) => [name, readText(join(directory, name))]));
}
