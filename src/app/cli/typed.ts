import { basename, delimiter, dirname } from 'node:path';

/**
 * The command as it was typed, for every line that tells somebody what to type next: `./fugu` (the script hands its own name on), `npx fugu`, or `fugu`
 * where that is found.
 */
export function typed(env: NodeJS.ProcessEnv = process.env): string {
  const script = env.FUGU_COMMAND;
  if (script !== undefined && script !== '') return isOnPath(script, env) ? basename(script) : script;
  return env.npm_command === 'exec' || env.npm_lifecycle_event === 'npx' ? 'npx fugu' : 'fugu';
}

const isOnPath = (script: string, { PATH = '' }: NodeJS.ProcessEnv): boolean =>
  PATH.split(delimiter).includes(dirname(script)) && basename(script) === 'fugu';

/** A name or a file as a shell reads it: in quotes where it would be read as something else. */
export const inShell = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const commands =
  'demo|init|confirm|check|plan|release|estimate|synth|stream|ledger|serve|token|epsilon|learn|posterior|temporal|leak|audit|compare|pattern|attack|location';
const said = new RegExp(`(?<![\\w./-])fugu (?=(?:${commands}|--help)\\b|--help)`, 'g');

/** A sentence of ours with its commands as they were typed. */
export const asTyped = (sentence: string, command = typed()): string =>
  command === 'fugu' ? sentence : sentence.replace(said, `${command} `);
