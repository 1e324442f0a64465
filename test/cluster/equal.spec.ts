import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { describeKeys } from '../engine-keys.js';
import { describeViews } from '../engine-views.js';
import { catalogs, cluster, Town } from './town.js';
import { twinsIn } from './twin.js';

/** All of them with FUGU_CLUSTER_FULL. */
const every = process.env.FUGU_CLUSTER_FULL ? 1 : 5;
describe.skipIf(!cluster)('a cluster', () => {
  describeEqual('Trino', async () => twinsIn(await Town.open(catalogs.at(-1)!, 'equal')), { every });
  describeKeys('Trino', async () => twinsIn(await Town.open(catalogs.at(-1)!, 'keys')));
  describeViews('Trino', async () => twinsIn(await Town.open(catalogs.at(-1)!, 'views')), { slice: every });
});
