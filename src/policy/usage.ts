import { z } from 'zod';
import type { Path } from './yaml-file.js';

/** Usage examples of policy sections, each registered with the schema of its section. */
export const usages = z.registry<{ usage: string }>();

type Schema = z.core.$ZodType;
type Def = z.core.$ZodTypes['_zod']['def'];

/** Usage of the innermost section around a place in the policy. */
export function usageAt(schema: Schema, path: Path): string | undefined {
  return inner(schema, path) ?? usages.get(schema)?.usage;
}

function inner(schema: Schema, path: Path): string | undefined {
  const def = schema._zod.def as Def;
  const [key, ...rest] = path;
  const at = (next: Schema | undefined, left: Path): string | undefined => next && usageAt(next, left);
  switch (def.type) {
    case 'optional':
    case 'default':
      return at(def.innerType, path);
    case 'pipe':
      return at(def.in, path);
    case 'union':
      return def.options.map((option) => at(option, path)).find((usage) => usage !== undefined);
    case 'record':
      return key === undefined ? undefined : at(def.valueType, rest);
    case 'object':
      return key === undefined ? undefined : at(def.shape[key], rest);
    case 'array':
      return key === undefined ? undefined : at(def.element, rest);
    default:
      return undefined;
  }
}
