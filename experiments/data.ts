import { existsSync } from 'node:fs';

/**
 * Public data sets lie next to the repository, as seen from the sources or from the build.
 * Code that needs them reports their absence and skips.
 */
const places = ['../../shared/data/', '../../../shared/data/'].map((path) => new URL(path, import.meta.url));

/** Folder of public data that contains a given file. */
export const publicData = (folder: string, holds = ''): URL | undefined =>
  places.map((place) => new URL(folder, place)).find((place) => existsSync(new URL(holds, place)));
