import { salvage } from './salvage.js';
import { verifyPlace } from './verify.js';

/** Run by child.ts. */
const [task, place, out] = process.argv.slice(2);
const said = task === 'verify' ? await verifyPlace(place!) : salvage(place!, out!);
process.stdout.write(JSON.stringify(said));
