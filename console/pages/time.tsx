import type { Policy } from '../api/shapes.ts';
export const Time = (_: { policy: Policy; role?: string }) => null;
