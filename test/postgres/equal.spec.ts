import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { describeKeys } from '../engine-keys.js';
import { describeViews } from '../engine-views.js';
import { PostgresTown, server } from './town.js';
import { postgresTwins } from './twin.js';

describe.skipIf(!server)('a server', () => {
  describeEqual('PostgreSQL', async () => postgresTwins(await PostgresTown.open('equal')));
  describeKeys('PostgreSQL', async () => postgresTwins(await PostgresTown.open('keys')));
  describeViews('PostgreSQL', async () => postgresTwins(await PostgresTown.open('views')));
});
