// docs/reference/command-line.md, from the commands: `node scripts/command-line.mjs` writes it, test/command-line.test.ts compares it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadSources } from './load.mjs';

const under = (command) => [command, ...command.commands.flatMap(under)];
const path = (command) => (command.parent ? [...path(command.parent), command.name()] : [command.name()]);

/** The text of the page; `program` has every command. */
export function pageOf(program, groups) {
  const sections = Object.entries(groups).map(([heading, commands]) =>
    [
      `## ${heading.replace(':', '')}`,
      ...Object.keys(commands).flatMap((name) =>
        under(program.commands.find((command) => command.name() === name)).map((command) => {
          command.configureHelp({ helpWidth: 100 });
          return `### ${path(command).join(' ')}\n\n\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\``;
        }),
      ),
    ].join('\n\n'),
  );
  return `# The command line

<!-- Written by scripts/command-line.mjs from the commands: change it there. -->

Every command with its options, as \`fugu COMMAND --help\` prints them.

${sections.join('\n\n')}
`;
}

/** A program with every command, in the order of its groups. */
export async function programOf(Command, commands) {
  const program = new Command('fugu');
  for (const register of Object.values(commands)) (await register())(program);
  return program;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [{ commands, groups }] = await loadSources('app/cli/commands.ts');
  const { Command } = await import('commander');
  const file = fileURLToPath(new URL('../docs/reference/command-line.md', import.meta.url));
  writeFileSync(file, pageOf(await programOf(Command, commands), groups));
}
