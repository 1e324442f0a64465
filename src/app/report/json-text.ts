/** JSON of any document: whole numbers of any size, infinities and maps included. */
export const jsonText = (document: unknown, indent?: number): string => JSON.stringify(document, replacer, indent);

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (value === Number.NEGATIVE_INFINITY) return '-inf';
  return value instanceof Map ? Object.fromEntries(value) : value;
}
