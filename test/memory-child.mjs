// Releases counts of one policy in its own process, on the built product, and prints its peak memory.
import { open } from '../dist/index.js';

const [policy, queries] = process.argv.slice(2);
const fugu = await open(policy, { acceptNoProtection: true });
const { tables } = await fugu.release({ queries: JSON.parse(queries) }, { epsilon: 1_000_000 });
await fugu.close();
const told = tables.flatMap(({ rows }) => rows.map(({ value }) => value));
console.log(JSON.stringify({ told, bytes: process.resourceUsage().maxRSS * 1024 }));
