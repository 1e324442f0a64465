import { existsSync } from 'node:fs';

/** Public data sets stand beside the repository, seen from the sources or from the build; whatever needs them says so and skips where they are absent. */
const places = ['../../shared/data/', '../../../shared/data/'].map((path) => new URL(path, import.meta.url));

/** A folder of public data by what must be in it. */
export const publicData = (folder: string, holds = ''): URL | undefined =>
  places.map((place) => new URL(folder, place)).find((place) => existsSync(new URL(holds, place)));
