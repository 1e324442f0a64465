import type { Command } from 'commander';

type Commands<T> = Readonly<Record<string, T>>;
export function pageOf(program: Command, groups: Commands<Commands<unknown>>): string;
export function programOf(command: typeof Command, commands: Commands<() => Promise<(program: Command) => void>>): Promise<Command>;
