import { Fault } from '../../../base/errors.js';
import { faultOfDisk } from '../faults.js';
import { exitFault } from './child.js';
import { salvage } from './salvage.js';
import { verifyPlace } from './verify.js';

/** Run by child.ts. */
const [task, place, out] = process.argv.slice(2);
try {
  const result = task === 'verify' ? await verifyPlace(place!) : salvage(place!, out!);
  process.stdout.write(JSON.stringify(result));
} catch (error) {
  const fault = error instanceof Fault ? error : faultOfDisk(error, out ?? place!);
  if (!fault) throw error;
  const { code, message, hint } = fault;
  process.stdout.write(JSON.stringify({ code, message, hint, file: fault.place?.file ?? place }));
  process.exitCode = exitFault;
}
