import { Fault } from '../../base/errors.js';
import { readPolicy } from '../../data/terms/read.js';
import { attackPolicy } from '../../evaluate/attack/policy/attack.js';
import { releasedTable } from '../../evaluate/attack/policy/table.js';
import type { Policy } from '../../policy/policy.js';
import { checkPolicy } from '../api/check.js';
import { type WhatIfRequest, whatIfFigures } from '../api/policy-figures.js';
import { withStewardData } from '../api/steward-read.js';
import { leakageByKind, tieSample } from '../api/tie-figures.js';

/** Free tasks with a long computation, run on a worker thread. */
export type WorkerTask = { readonly file: string; readonly digest: string } & (
  | { readonly kind: 'check' }
  | { readonly kind: 'leakage' }
  | { readonly kind: 'network'; readonly most: number }
  | { readonly kind: 'whatIf'; readonly request: WhatIfRequest }
  | {
      readonly kind: 'attack';
      readonly receipt: string;
      readonly tables: readonly (readonly [name: string, csv: string])[];
      readonly column: string | undefined;
      readonly show: number;
    }
);

/** Most records of an attack: larger ones belong on the command line. */
const mostAttacked = 2000;

export async function runWorkerTask(task: WorkerTask): Promise<object> {
  const policy = await readPolicy(task.file);
  // The served policy is the one that was opened; a file changed since is refused.
  if (policy.digest !== task.digest)
    throw new Fault('LEDGER_MISMATCH', 'The policy was changed while it is served.', 'Restart the service.');
  return taskResult(task, policy);
}

function taskResult(task: WorkerTask, policy: Policy): Promise<object> {
  if (task.kind === 'check') return checkPolicy(task.file);
  if (task.kind === 'leakage') return leakageByKind(policy);
  if (task.kind === 'network') return tieSample(policy, task.most);
  if (task.kind === 'whatIf') return whatIfFigures(policy, task.request);
  const released = releasedTable(task.receipt, new Map(task.tables), policy, task.column);
  return withStewardData('attack', task.file, (rows) =>
    attackPolicy(policy, rows, released, { show: task.show, limit: mostAttacked }),
  );
}
