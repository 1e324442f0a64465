import * as z from 'zod';

/** A field of a request as an option of the command line: `--name <value>`. */
export interface CommandOption {
  /** Placeholder of the value in the help; absent for a switch. */
  readonly value?: string;
  /** Text of the help, where it says something else than the description of the field. */
  readonly help?: string;
  /** The command line cannot do without it. */
  readonly needed?: true;
  /** The default stands in the help. */
  readonly showsDefault?: true;
  /** Text that stands for more: names separated by commas, JSON (also as @file.json), or the name of a YAML file. */
  readonly reads?: 'names' | 'json' | { readonly name: string; readonly starts: string };
  /** Refusal of a value that the field does not take; where absent, the request itself refuses what is too large. */
  readonly refusal?: readonly [message: string, hint: string];
}

const options = z.registry<CommandOption>();

/** A field of a request: its schema, its description for documents, and how the command line takes it. */
export function field<S extends z.ZodType>(schema: S, about: string, option?: CommandOption): S {
  return option ? worded(schema.describe(about), option) : schema.describe(about);
}

/** The same field with other words: commands share fields, and say what they do there. */
export function worded<S extends z.ZodType>(schema: S, option: CommandOption): S {
  const copy = schema.clone();
  options.add(copy, { ...optionOf(schema), ...option });
  return copy;
}

/** How the command line takes a field, also one that was made optional since. */
export function optionOf(schema: z.ZodType): CommandOption | undefined {
  const within = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : undefined;
  return options.get(schema) ?? (within && optionOf(within));
}

/** Every request by the name of its type: the library page is written from here (scripts/api.mjs). */
export const requests = new Map<string, z.ZodObject>();

/** A request: fields that are checked, described and offered as options from this one declaration. */
export function defineRequest<S extends z.core.$ZodLooseShape>(
  name: string,
  shape: S,
): z.ZodObject<z.core.util.Writeable<S>, z.core.$strict> {
  const request = z.strictObject(shape);
  requests.set(name, request);
  return request;
}
