import * as z from 'zod';

/** Role of a token: manages policies, queries within a quota, or reads the log. */
const roles = ['steward', 'analyst', 'auditor'] as const;
export const role = z.enum(roles);
export type Role = z.output<typeof role>;
export const everybody: readonly Role[] = roles;
