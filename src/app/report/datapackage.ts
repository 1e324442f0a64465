import type { Receipt } from '../../release/session/receipt.js';
import type { PublishedTable } from './published-table.js';

/** Release as a Frictionless data package: contents of each file, and the promise about the people in it. */
export const dataPackage = (receipt: Receipt, files: readonly (readonly [file: string, PublishedTable])[]) => ({
  profile: 'tabular-data-package',
  name: 'release',
  title: receipt.population,
  created: receipt.at,
  resources: files.map(([path, table], k) => ({
    profile: 'tabular-data-resource',
    name: `table-${k + 1}`,
    title: table.name,
    ...(table.question !== undefined && { description: table.question }),
    ...(table.warning !== undefined && { warning: table.warning }),
    path,
    format: 'csv',
    mediatype: 'text/csv',
    encoding: 'utf-8',
    schema: {
      fields: table.fields.map(({ name, type, meaning }) => ({ name, type, description: meaning })),
      missingValues: [''],
    },
  })),
  privacy: privacyOf(receipt),
});

/** Privacy promise, for readers of a package. */
export const privacyOf = ({ guarantee, mechanism, ledger, fugu }: Receipt) => ({
  certified: guarantee.certified,
  epsilon: guarantee.epsilon,
  delta: guarantee.delta,
  neighbours: guarantee.neighbours ?? 'replace',
  promise: guarantee.sentences,
  assumptions: guarantee.assumptions,
  noise: mechanism,
  ledger,
  fugu,
});
