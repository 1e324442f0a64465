import { readFileSync } from 'node:fs';

/** Reference values that Fugu did not compute; vectors/README.md describes each file. */
// biome-ignore lint/suspicious/noExplicitAny: the files are data, each with its own shape
export const readVectors = (name: 'exact-loss' | 'leakage' | 'alike'): any =>
  JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8'));
