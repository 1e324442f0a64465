// Releases counts of one policy in a process of its own, on the built product, and tells the most memory that it held.
import { open } from '../dist/index.js';

const [policy, queries] = process.argv.slice(2);
const fugu = await open(policy, { acceptNoProtection: true });
const { tables } = await fugu.release({ queries: JSON.parse(queries) }, { epsilon: 1_000_000 });
await fugu.close();
console.log(JSON.stringify({ tables: tables.map(({ rows }) => rows.map(({ value }) => value)), bytes: process.resourceUsage().maxRSS * 1024 }));
