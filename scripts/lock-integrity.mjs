// Every package in package-lock.json with the hash that npm checks it by.
//
//   node scripts/lock-integrity.mjs            checks, offline: every entry has a sha512 and none names a registry
//   node scripts/lock-integrity.mjs --fill     asks the registry for the hashes that are missing and writes them
//   node scripts/lock-integrity.mjs --compare  asks the registry for every hash and compares, where it can be reached
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const whole = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** Packages as locked: name, version and hash; the project itself is none. */
export const locked = (lock) =>
  Object.entries(lock.packages)
    .filter(([place]) => place !== '')
    .map(([place, entry]) => ({ ...entry, place, name: entry.name ?? place.slice(place.lastIndexOf('node_modules/') + 13) }));

/** What is wrong with a lock file; nothing when npm can check every package that it may ever install. */
export function problems(lock) {
  return locked(lock).flatMap(({ place, integrity, resolved, link }) => [
    ...(link ? [`${place} is a link to a folder`] : []),
    ...(integrity === undefined ? [`${place} has no hash`] : whole.test(integrity) ? [] : [`${place} has a weak hash`]),
    ...(resolved === undefined ? [] : [`${place} names where it comes from`]),
  ]);
}

function registryHash(name, version) {
  try {
    const said = execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}

function fill(lock) {
  for (const { place, name, version, integrity } of locked(lock)) {
    if (integrity !== undefined) continue;
    const found = registryHash(name, version);
    if (!whole.test(found ?? '')) continue;
    const { version: kept, ...rest } = lock.packages[place];
    lock.packages[place] = { version: kept, integrity: found, ...rest };
    process.stdout.write(`filled ${place}\n`);
  }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

function compare(lock) {
  const asked = locked(lock).map((entry) => ({ ...entry, found: registryHash(entry.name, entry.version) }));
  const unknown = asked.filter((e) => e.found === undefined);
  process.stdout.write(`${asked.length - unknown.length} of ${asked.length} hashes compared with the registry\n`);
  return asked.filter((e) => e.found !== undefined && e.found !== e.integrity).map((e) => `${e.place} has another hash in the registry`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  if (process.argv.includes('--fill')) fill(lock);
  const wrong = [...problems(lock), ...(process.argv.includes('--compare') ? compare(lock) : [])];
  process.stdout.write(wrong.length === 0 ? `${locked(lock).length} packages, every one with its hash\n` : `${wrong.join('\n')}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
