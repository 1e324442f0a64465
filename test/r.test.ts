import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const run = (words: readonly string[]) =>
  spawnSync('Rscript', words, {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { ...process.env, FUGU: `node ${join(root, 'dist', 'app', 'cli', 'main.js')}`, FUGU_R_SOURCE: join(root, 'r') },
  });
const there = run(['-e', 'stopifnot(requireNamespace("jsonlite", quietly = TRUE))']).status === 0;
const why = there ? '' : ' (skipped: there is no R with jsonlite)';

describe.skipIf(!there)(`the R package${why}`, () => {
  it('the R package passes its own test', () => {
    const done = run([join(root, 'r', 'tests', 'fugu.R')]);
    expect(done.stderr).toBe('');
    expect(done.stdout).toContain('everything holds');
  });

  it('the R package has a vignette whose code runs', () => {
    const page = readFileSync(join(root, 'r', 'vignettes', 'survey.Rmd'), 'utf8');
    const code = [...page.matchAll(/^```\{r\}\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines!.replace('library(fugu)', ''));
    expect(code).toHaveLength(3);
    const sources = 'for (file in list.files(file.path(Sys.getenv("FUGU_R_SOURCE"), "R"), full.names = TRUE)) source(file)';
    const done = run(['-e', [sources, ...code].join('\n')]);
    expect(done.stderr).toBe('');
    expect(done.stdout).toMatch(/party\s+value\s+low\s+high/);
  });
});
