/** Records which functions a build enters for the first time, in order (scripts/walk.mjs). */
import { writeFileSync } from 'node:fs';
import { register } from 'node:module';

register('./walk-load.mjs', import.meta.url);
const seen = new Set();
const entered = [];
globalThis.fuguWalk = (file, k, name) => {
  const key = `${file}#${k}`;
  if (seen.has(key)) return;
  seen.add(key);
  entered.push([file, name]);
};
process.on('exit', () => writeFileSync(process.env.WALK_OUT, JSON.stringify(entered)));
