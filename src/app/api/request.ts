import * as z from 'zod';

/** A field of a request as an option of the command line: `--name <value>`. */
export interface CommandOption {
  /** Placeholder of the value in the help; absent for a switch. */
  readonly value?: string;
  /** Text of the help, where it says more than the description of the field. */
  readonly help?: string;
  /** Name of the option, where it is not the field's: `calibrate` for `epsilon`. */
  readonly flag?: string;
  /** The command line cannot do without it. */
  readonly needed?: true;
  /** The default stands in the help. */
  readonly showsDefault?: true;
  /** How its text is read; by the type of the field when absent. */
  readonly reads?: 'names' | 'json' | { readonly yaml: string; readonly starts: string };
  /** Refusal of a text that the field does not take: the sentence and its hint. */
  readonly refusal?: readonly [message: string, hint: string];
}

const options = z.registry<CommandOption>();
/** Option that a field was declared as. */
export const optionOf = (schema: z.ZodType): CommandOption | undefined => options.get(schema);

/** A field of a request with its description, for documents, and how the command line takes it. */
export function field<S extends z.ZodType>(schema: S, about: string, option?: CommandOption): S {
  const described = schema.describe(about);
  if (option) options.add(described, option);
  return described;
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
