// dist/sbom.json (CycloneDX 1.5): every package that may be installed with Fugu, for any platform, or is part of the console, with its version and hash. From the lock file alone, so
// that the same lock file always gives the same list.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { locked } from './lock-integrity.mjs';

const root = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const address = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
const hex = (integrity) => Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');

/** Packages bundled into the console: development dependencies of this project whose code ships in its files. */
const inConsole = ['@observablehq/plot', 'preact'];

/** These packages and all their dependencies, by path. */
export function neededBy(lock, names) {
  const places = new Set();
  const waiting = names.map((name) => `node_modules/${name}`);
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    if (places.has(place)) continue;
    places.add(place);
    for (const name of Object.keys(lock.packages[place].dependencies ?? {})) {
      const own = `${place}/node_modules/${name}`;
      waiting.push(own in lock.packages ? own : `node_modules/${name}`);
    }
  }
  return places;
}

export function billOf(lock) {
  const shown = neededBy(lock, inConsole);
  const { name, version, license } = lock.packages[''];
  const parts = locked(lock)
    .filter(({ dev, place }) => !dev || shown.has(place))
    .map((part) => ({
      type: 'library',
      'bom-ref': part.place,
      name: part.name,
      version: part.version,
      scope: part.optional ? 'optional' : 'required',
      hashes: [{ alg: 'SHA-512', content: hex(part.integrity) }],
      ...(part.license && { licenses: [{ expression: part.license }] }),
      purl: address(part.name, part.version),
    }));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': name,
        name,
        version,
        licenses: [{ expression: license }],
        purl: address(name, version),
      },
    },
    components: parts,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(root('dist'), { recursive: true });
  const bill = billOf(JSON.parse(readFileSync(root('package-lock.json'), 'utf8')));
  writeFileSync(root('dist/sbom.json'), `${JSON.stringify(bill, null, 2)}\n`);
}
