import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Modules that may create files, with the reason; all others use base/files/write-file.ts. */
const writers: readonly RegExp[] = [
  /^base\/files\//,
  // It has its own protocol for crashes.
  /^release\/ledger\//,
  // Copies in a private temporary folder, unused after this process.
  /^data\/engine\/csv\/(copy|split)\.ts$/,
  // Opens for reading only, without waiting for the other end of a pipe.
  /^base\/input\/named-file\.ts$/,
];
const writing =
  /^(writeFile|appendFile|createWriteStream|open|openAsBlob|rename|copyFile|cp|link|symlink|truncate|ftruncate|write|writev|mkdir|FileHandle|WriteStream|promises|default)(Sync)?$/;
const writeCalls = /\bconsole\s*\.|process\s*\.\s*(stdout|stderr)\s*\.\s*write\b/;
/** Modules that may print text for people: app/cli/output.ts, which shows no control character. */
const writingFiles: readonly RegExp[] = [
  /^app\/cli\/output\.ts$/,
  // Output of FUGU_DEBUG.
  /^release\/session\/(charge|outcome)\.ts$/,
  // One line of JSON for the process that started it.
  /^release\/ledger\/rescue\/child-main\.ts$/,
];

/** Names taken from the file system modules; a module taken as a whole is every name. */
function takenFromFs(source: string): string[] {
  const named = [...source.matchAll(/import\s+(type\s+)?([^;'"]*?)\s+from\s+['"](?:node:)?fs(?:\/promises)?['"]/g)].flatMap(
    (m) => (m[1] ? [] : (/^\{([\s\S]*)\}$/.exec(m[2]!.trim())?.[1]?.split(',') ?? ['default'])),
  );
  const whole = [...source.matchAll(/(?:import|require)\s*\(\s*['"](?:node:)?fs(?:\/promises)?['"]/g)].map(() => 'default');
  return [...named, ...whole]
    .map((name) => name.trim().replace(/\s+as\s+.*$/s, ''))
    .filter((name) => name !== '' && !name.startsWith('type '));
}

const root = join(import.meta.dirname, '..', 'src');
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .map((f) => f.replaceAll('\\', '/'))
  .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts'));
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const code = (file: string) => text(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

describe('the one way to write files and print text', () => {
  it('every module writes files through base/files/write-file.ts', () => {
    const wrong = sources
      .filter((f) => !writers.some((w) => w.test(f)))
      .flatMap((f) =>
        takenFromFs(text(f))
          .filter((name) => writing.test(name))
          .map((name) => `${f}: ${name}`),
      );
    expect(wrong).toEqual([]);
  });

  it('every module prints text for people through app/cli/output.ts', () => {
    const wrong = sources.filter((f) => !writingFiles.some((t) => t.test(f)) && writeCalls.test(code(f)));
    expect(wrong).toEqual([]);
  });

  it('the test detects every other way', () => {
    for (const planted of [
      "import { readFileSync, writeFileSync } from 'node:fs';",
      "import { writeFile as put } from 'node:fs/promises';",
      "import * as fs from 'node:fs';",
      "import fs from 'fs';",
      "const { openSync } = await import('node:fs');",
      "import {\n  existsSync,\n  createWriteStream,\n} from 'node:fs';",
    ])
      expect(
        takenFromFs(planted).some((name) => writing.test(name)),
        planted,
      ).toBe(true);
    expect(takenFromFs("import { readFileSync, type Stats } from 'node:fs';").some((name) => writing.test(name))).toBe(false);
    for (const planted of ['console.error(e)', 'process.stdout.write(x)', 'process\n  .stderr.write(x)'])
      expect(writeCalls.test(planted), planted).toBe(true);
  });
});
