import { gowalla, kmeansFigures } from './places.js';
export async function run(_out: string): Promise<void> {
  await kmeansFigures(gowalla!, Number(process.env.FUGU_TIMES ?? 6));
}
