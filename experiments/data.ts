import { existsSync } from 'node:fs';

/**
 * Public data sets lie next to the repository, as seen from the sources or from the build.
 * Code that needs them reports their absence and skips.
 */
const places = ['../../shared/data/', '../../../shared/data/'].map((path) => new URL(path, import.meta.url));

/** A folder of public data by what must be in it. */
export const publicData = (folder: string, holds = ''): URL | undefined =>
  places.map((place) => new URL(folder, place)).find((place) => existsSync(new URL(holds, place)));
