import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { readText } from '../api/named-text.js';
import { newBudgetOf, newBudgetOption } from './confirm-spending.js';
import { serveUntilStopped } from './serving.js';

interface Words {
  readonly host: string;
  readonly port: string;
  readonly tokens?: string;
  readonly log?: string;
  readonly name: string;
  readonly cert?: string;
  readonly key?: string;
  readonly behindProxy?: boolean;
  readonly bucket?: string;
  readonly newBudget?: string;
  readonly link: boolean;
  readonly json?: boolean;
}

export function registerServeCommand(program: Command): void {
  let browser = false;
  program
    .command('serve')
    .description('answer over HTTP: plan, release and ledger for stewards, analysts and auditors with tokens')
    .argument('<policy...>', 'policy files; people ask for each by the name of its file')
    .option('--host <address>', 'address to listen on; others than this machine need TLS or a proxy that has it', '127.0.0.1')
    .option('--port <number>', 'port; 0 takes any that is free', '7411')
    .option('--tokens <folder>', 'where tokens are kept (default: fugu-tokens beside the first policy)')
    .option('--log <folder>', 'where audit logs are kept (default: fugu-log beside the first policy)')
    .option('--name <name>', 'of this process, where several share a log folder', 'service')
    .option('--cert <file>', 'certificate for TLS, PEM')
    .option('--key <file>', 'its key, PEM')
    .option('--behind-proxy', 'a proxy with TLS stands in front: its x-forwarded-for and x-forwarded-proto are believed')
    .option('--bucket <milliseconds>', 'what reads data takes a whole number of these to answer, so that its time tells less')
    .option(...newBudgetOption)
    .option('--no-link', 'print no link that signs the steward in')
    .option('--open', 'open that link in your browser')
    .option('--json', 'one JSON document on stdout when it listens')
    .on('option:open', () => {
      browser = true;
    })
    .action(async (files: readonly string[], words: Words) => {
      refusePlainHttp(words);
      const { cert: _cert, key: _key, port, bucket, newBudget: _reason, ...rest } = words;
      if (browser && !words.link)
        throw new Fault('USAGE', 'Without a link there is nothing to open.', 'Leave out --no-link or --open.');
      await serveUntilStopped(files, {
        ...rest,
        ...(browser && { browser }),
        port: portOf(port),
        ...tlsOf(words),
        ...newBudgetOf(words),
        ...(bucket !== undefined && { bucket: bucketOf(bucket) }),
      });
    });
}

/** Refuses plain HTTP beyond this machine: tokens and answers must not cross a network unencrypted. */
function refusePlainHttp({ host, cert, behindProxy }: Words): void {
  if (cert !== undefined || behindProxy || /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host)) return;
  throw new Fault(
    'USAGE',
    'Other machines would send their tokens in the clear.',
    'Give --cert and --key, or --behind-proxy where a proxy with TLS stands in front.',
  );
}

function bucketOf(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new Fault('USAGE', 'A bucket is a whole number of milliseconds.', 'Use for example --bucket 250.');
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port < 65_536) return port;
  throw new Fault('USAGE', 'A port is a whole number below 65536.', 'Use for example --port 7411.');
}

function tlsOf({ cert, key }: Words) {
  if ((cert === undefined) !== (key === undefined))
    throw new Fault('USAGE', 'TLS needs a certificate and its key.', 'Give both --cert and --key.');
  return cert === undefined || key === undefined ? {} : { tls: { cert: readText(cert), key: readText(key) } };
}
