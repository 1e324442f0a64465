import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backupService } from '../../src/app/service/backup.js';
import { MadePolicies } from '../../src/app/service/made-policies.js';
import { open } from '../../src/index.js';
import { openWorkshop, policyYaml, type Workshop } from '../workshop.js';

let shop: Workshop;
let made: MadePolicies;
const at = (...names: string[]) => join(shop.folder, ...names);
beforeEach(() => {
  shop = openWorkshop();
  made = new MadePolicies(at('fugu-policies'));
});
afterEach(() => shop.remove());

/** A policy that was made in the console, with a ledger of its own and one release. */
async function make(name: string): Promise<void> {
  shop.write(
    `${name}.yaml`,
    policyYaml()
      .replace(/^population:.*$/m, `population: ${name}`)
      .replace(/^ledger:.*$/m, `ledger: ${name}.db`),
  );
  await using fugu = await open(at(`${name}.yaml`));
  await fugu.release({ kind: 'count' }, { epsilon: 0.1 });
  made.keep(name, at(`${name}.yaml`));
}

describe('the list of policies that were made in the console', () => {
  it('the list is empty if there is none, and a fault if its folder is a link that leads nowhere', () => {
    expect(made.list()).toEqual([]);
    symlinkSync(at('elsewhere'), at('fugu-policies'));
    expect(() => made.list()).toThrowError(expect.objectContaining({ code: 'DATA_MALFORMED' }));
    mkdirSync(at('elsewhere'));
    expect(made.list()).toEqual([]);
  });
});

describe('a backup of a service', () => {
  it('the backup copies every ledger that it can, and then reports those it could not', async () => {
    await make('first');
    await make('second');
    rmSync(at('first.yaml'));
    await expect(backupService(shop.policyFile, at('copies'), {})).rejects.toMatchObject({ place: { file: at('first.yaml') } });
    expect(readdirSync(at('copies'))).toContain('second.fugu');
  });
});
