import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { askOver, serveTown } from './served.js';

/**
 * Schemathesis makes good and bad requests from the API document and checks the responses. FUGU_SCHEMATHESIS names its program
 * (pip install schemathesis, bin/st), FUGU_SCHEMATHESIS_EXAMPLES the number of requests per route.
 */
const program = process.env.FUGU_SCHEMATHESIS ?? 'st';
const there = process.env.FUGU_SCHEMATHESIS !== undefined && spawnSync(program, ['--version']).status === 0;
const examples = process.env.FUGU_SCHEMATHESIS_EXAMPLES ?? '20';
/** A schema cannot state that a question fits the policy: a well-formed body may be refused. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'missing_required_header',
  'unsupported_method',
  'ignored_auth',
];

let place: Awaited<ReturnType<typeof serveTown>>;
beforeAll(async () => {
  if (!there) return;
  // High limits: throttling of guessed tokens is not under test here.
  place = await serveTown('{ epsilon: 16 }', { limits: { guesses: 1e9, burst: 1e9, perSecond: 1e9 } });
  const file = join(place.folder, 'town.csv');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/,h(\d)/g, ',zqmark$1'));
});
afterAll(() => place?.close());

describe('requests made by schemathesis', () => {
  it.skipIf(!there)(
    `schemathesis finds nothing${there ? '' : ' (skipped: FUGU_SCHEMATHESIS names no program)'}`,
    async () => {
      const { folder, serving: service } = place;
      const root = new TokenStore(join(folder, 'tokens')).make({ name: 'root', role: 'steward', days: 1 }).text;
      const count = { question: { kind: 'count', by: ['party'] }, epsilon: '1/4' };
      const { receipt } = (await askOver(service.url, root, '/v1/policies/town/release', count)).body;
      const named = ['[parameters]', '"path.policy" = "town"', `"path.entry" = ${receipt.ledger.entry}`];
      writeFileSync(join(folder, 'schemathesis.toml'), `${named.join('\n')}\n`);
      const words = ['run', `${service.url}/openapi.json`, '-H', `Authorization: Bearer ${root}`, '--checks', checks.join(',')];
      const more = [
        '--max-examples',
        examples,
        '--workers',
        '1',
        '--request-timeout',
        '30',
        '--rate-limit',
        '40/s',
        '--seed',
        '1',
      ];
      const result = await new Promise<{ code: unknown; out: string }>((done) =>
        execFile(program, [...words, ...more], { maxBuffer: 2 ** 26, cwd: folder }, (error, out, err) =>
          done({ code: error?.code ?? 0, out: out + err }),
        ),
      );
      console.log(result.out.slice(-4000));
      expect(result.out).not.toContain('zqmark');
      expect(result.code).toBe(0);
      expect((await askOver(service.url, root, '/v1/policies/town/ledger/verify')).body).toMatchObject({ ok: true });
    },
    1_800_000,
  );
});
