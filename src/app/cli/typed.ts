import { basename, delimiter, dirname } from '../../base/platform/paths.js';
import { commands } from './commands.js';

/**
 * Command name as typed, for every hint that contains a command: `./fugu` (the script passes its own name), `npx fugu`, or `fugu`
 * if that is on the path.
 */
export function typed(env: NodeJS.ProcessEnv = process.env): string {
  const script = env.FUGU_COMMAND;
  if (script !== undefined && script !== '') return isOnPath(script, env) ? basename(script) : script;
  return env.npm_command === 'exec' || env.npm_lifecycle_event === 'npx' ? 'npx fugu' : 'fugu';
}

const isOnPath = (script: string, { PATH = '' }: NodeJS.ProcessEnv): boolean =>
  PATH.split(delimiter).includes(dirname(script)) && basename(script) === 'fugu';

/** Name or file quoted for a shell where it would be read as something else. */
export const inShell = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const commandPattern = new RegExp(`(?<![\\w./-])fugu (?=(?:${Object.keys(commands).join('|')}|--help)\\b|--help)`, 'g');

/** Sentence of ours with its commands as they were typed. */
export const asTyped = (sentence: string, command = typed()): string =>
  command === 'fugu' ? sentence : sentence.replace(commandPattern, `${command} `);
