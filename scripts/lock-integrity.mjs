// Checks offline that every entry of package-lock.json, and of the site's, has a sha512 hash and that none names a registry.
// Usage: node scripts/lock-integrity.mjs [--fill (add missing hashes from the registry) | --compare (check all against it)]
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const siteFile = fileURLToPath(new URL('../site/package-lock.json', import.meta.url));
const whole = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** Locked packages: name, version and hash; without the project itself. */
export const locked = (lock) =>
  Object.entries(lock.packages)
    .filter(([place]) => place !== '')
    .map(([place, entry]) => ({ ...entry, place, name: entry.name ?? place.slice(place.lastIndexOf('node_modules/') + 13) }));

/** Problems of a lock file; empty when npm can verify every package that it may ever install. */
export function problems(lock) {
  return locked(lock).flatMap(({ place, integrity, resolved, link }) => [
    ...(link ? [`${place} is a link to a folder`] : []),
    ...(integrity === undefined ? [`${place} has no hash`] : whole.test(integrity) ? [] : [`${place} has a weak hash`]),
    ...(resolved === undefined ? [] : [`${place} names where it comes from`]),
  ]);
}

const run = promisify(execFile);

/** Through npm, which has the registry, its proxies and keys; undefined where it does not know the package. */
async function registryHash({ name, version }) {
  try {
    return JSON.parse((await run('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'])).stdout);
  } catch {
    return undefined;
  }
}

/** A few at a time. */
async function withHashes(packages) {
  const left = [...packages];
  const asked = [];
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) asked.push({ ...next, found: await registryHash(next) });
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  return asked;
}

async function fill(lock) {
  for (const { place, found } of await withHashes(locked(lock).filter((p) => p.integrity === undefined))) {
    if (!whole.test(found ?? '')) continue;
    const { version, ...rest } = lock.packages[place];
    lock.packages[place] = { version, integrity: found, ...rest };
    process.stdout.write(`filled ${place}\n`);
  }
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

async function compare(lock) {
  const asked = await withHashes(locked(lock));
  const known = asked.filter((e) => e.found !== undefined);
  process.stdout.write(`${known.length} of ${asked.length} hashes compared with the registry\n`);
  return known.filter((e) => e.found !== e.integrity).map((e) => `${e.place} has another hash in the registry`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  if (process.argv.includes('--fill')) await fill(lock);
  const site = JSON.parse(readFileSync(siteFile, 'utf8'));
  const wrong = [...problems(lock), ...problems(site), ...(process.argv.includes('--compare') ? await compare(lock) : [])];
  process.stdout.write(wrong.length === 0 ? `${locked(lock).length + locked(site).length} packages, every one with its hash\n` : `${wrong.join('\n')}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
