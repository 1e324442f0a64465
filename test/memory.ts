import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtOnce } from './fugu.js';

const child = fileURLToPath(new URL('./memory-child.mjs', import.meta.url));

/** Memory limit of our process that guides and figures promise, for any number of rows. */
export const mostMemory = 300e6;

/** Declared values of `note`; other rows hold a long text. */
const codes = [...'abcdefghi'];

/** So many counts at once that our process counts row by row (memory-child.mjs): their values, and its peak memory in bytes. */
export async function countsOfNotes(data: string): Promise<{ readonly told: readonly number[]; readonly bytes: number }> {
  builtOnce();
  const folder = mkdtempSync(join(tmpdir(), 'fugu-memory-'));
  try {
    const policy = join(folder, 'policy.yaml');
    writeFileSync(
      policy,
      `data: { ${data} }
protect: { secret: row }
budget: { epsilon: 1000000 }
population: notes
ledger: ledger.db
dependence: none
columns:
  note: { type: category, values: [${codes.join(', ')}] }
`,
    );
    const counts = codes.map((value) => ({ kind: 'count', where: [{ column: 'note', op: '=', value }] }));
    const { stdout } = await promisify(execFile)(process.execPath, [child, policy, JSON.stringify(counts)]);
    return JSON.parse(stdout) as { told: number[]; bytes: number };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
