import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

// Every run queries the same data under a budget of its own.
process.env.FUGU_REGISTRY ??= 'off';

/** `npm run experiment -- NAME [OUT]`: each experiment writes CSV and SVG into its folder and prints what it found. */
const experiments: Record<string, () => Promise<{ run(out: string): Promise<void> }>> = {
  coverage: () => import('./coverage/run.js'),
  households: () => import('./households/run.js'),
  learning: () => import('./learning/run.js'),
  lpb: () => import('./lpb/run.js'),
  ndss16: () => import('./ndss16/run.js'),
  policies: () => import('./policies/run.js'),
  'reference-ties': () => import('./reference-ties/run.js'),
  relationships: () => import('./relationships/run.js'),
  'stream-scale': () => import('./stream-scale/run.js'),
  synth: () => import('./synth/run.js'),
  tabular: () => import('./tabular/run.js'),
  time: () => import('./time/run.js'),
  workloads: () => import('./workloads/run.js'),
};

const [name = '', out = join('out', name)] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const load = experiments[name];
if (!load) {
  console.error(`experiments: ${Object.keys(experiments).join(', ') || 'none'}\nusage: npm run experiment -- NAME [OUT]`);
  process.exit(2);
}
mkdirSync(out, { recursive: true });
await (await load()).run(out);
console.log(`written to ${out}`);
