import { Command } from 'commander';
import { vi } from 'vitest';

/** Runs one command in this process and returns what it printed; faults are thrown. */
export async function runCommand(register: (program: Command) => void, ...words: string[]): Promise<string> {
  const program = new Command('fugu').exitOverride().configureOutput({ writeErr: () => undefined });
  register(program);
  let out = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  try {
    await program.parseAsync(['node', 'fugu', ...words]);
  } finally {
    spy.mockRestore();
  }
  return out;
}
