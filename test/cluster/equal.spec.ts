import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { describeKeys } from '../engine-keys.js';
import { describeViews } from '../engine-views.js';
import { ClusterTown, catalogs, cluster } from './town.js';
import { clusterTwins } from './twin.js';

/** All of them with FUGU_CLUSTER_FULL. */
const every = process.env.FUGU_CLUSTER_FULL ? 1 : 5;
describe.skipIf(!cluster)('a cluster', () => {
  describeEqual('Trino', async () => clusterTwins(await ClusterTown.open(catalogs.at(-1)!, 'equal')), { every });
  describeKeys('Trino', async () => clusterTwins(await ClusterTown.open(catalogs.at(-1)!, 'keys')));
  describeViews('Trino', async () => clusterTwins(await ClusterTown.open(catalogs.at(-1)!, 'views')), { slice: every });
});
