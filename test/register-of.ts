import type { Command } from 'commander';

type Register = (program: Command) => void;

/** Function that registers the command of a file in src/app/cli; undefined where the file registers none. */
export async function registerIn(name: string): Promise<Register | undefined> {
  const exports = (await import(`../src/app/cli/${name}.ts`)) as Readonly<Record<string, Register>>;
  return exports[`register${name.charAt(0).toUpperCase()}${name.slice(1)}Command`];
}

/** The same for a file that must register a command. */
export async function registerOf(name: string): Promise<Register> {
  const register = await registerIn(name);
  if (!register) throw new Error(`${name}.ts registers no command`);
  return register;
}
