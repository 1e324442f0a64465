/** Worked out once and kept under its name; what failed is worked out again. */
export function once<Kept extends object, Name extends keyof Kept>(
  kept: Kept,
  name: Name,
  work: () => Promise<Awaited<NonNullable<Kept[Name]>>>,
): Promise<Awaited<NonNullable<Kept[Name]>>> {
  const held = kept as { [key in Name]?: Promise<Awaited<NonNullable<Kept[Name]>>> };
  const found =
    held[name] ??
    work().catch((error: unknown) => {
      delete held[name];
      throw error;
    });
  held[name] = found;
  return found;
}
