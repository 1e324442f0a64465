import type { Policy } from '../api/shapes.ts';
export const Attack = (_: { policy: Policy; role?: string }) => null;
