import { basename, dirname, isAbsolute, join, relative } from '../base/platform/paths.js';
import { isDatabase } from './address.js';
import type { Policy } from './policy.js';
import { canonicalPath, filesOfPopulation, secretFiles } from './population.js';

/** Full path by which version 0.2 knew a file. A table of the data's own database has no path. */
export type FullPath = (source: string) => string;

/**
 * Path resolvers: for the present location of the policy's files and, if the folder was moved, for the location that the
 * population is named after.
 */
export function fullPaths(policy: Policy): readonly [FullPath, ...FullPath[]] {
  const [now, before] = [secretFiles(policy), filesOfPopulation(policy.population)];
  const isMoved = now.length === before.length && now.some((file, i) => file !== before[i] && !isDatabase(file));
  return isMoved ? [fullPath, movedBack(now, before)] : [fullPath];
}

const fullPath: FullPath = (source) => (isAbsolute(source) || isDatabase(source) ? canonicalPath(source) : source);

/** Paths of the population's files, and of all files in the folder that moved with the first of them. */
function movedBack(now: readonly string[], before: readonly string[]): FullPath {
  const [from, to] = movedFolder(now[0]!, before[0]!);
  const named = new Map(now.map((file, i) => [file, before[i]!]));
  return (source) => {
    const file = fullPath(source);
    const inside = isAbsolute(file) ? relative(from, file) : '..';
    return named.get(file) ?? (inside.startsWith('..') || isAbsolute(inside) ? file : join(to, inside));
  };
}

/** Parent folders of two paths after removal of their common ending: /b/town/people.csv and /a/town/people.csv give /b and /a. */
function movedFolder(now: string, before: string): readonly [from: string, to: string] {
  const parents = [dirname(now), dirname(before)] as const;
  const isAlike = basename(now) === basename(before) && parents[0] !== now && parents[1] !== before;
  return isAlike && parents[0] !== parents[1] && basename(parents[0]) === basename(parents[1])
    ? movedFolder(...parents)
    : parents;
}
