import { z } from 'zod';
import { Fault } from '../../../base/errors.js';
import { inputProblem, pathText } from '../../../base/input/input-problem.js';
import { parseJson } from '../../../base/input/json.js';
import { makeNetwork, type Network, type NetworkOrigin, networkFormat } from './network.js';
import { valueLevels } from './value-levels.js';

const origin = z.discriminatedUnion('learned', [
  z.strictObject({ learned: z.literal('unpaid') }),
  z.strictObject({ learned: z.literal('paid'), epsilon: z.string(), delta: z.string() }),
  z.strictObject({ learned: z.literal('public'), from: z.string() }),
]);
const document = z.strictObject({
  format: z.literal(networkFormat),
  name: z.string().default('network'),
  origin: origin.optional(),
  resolution: z.string().optional(),
  columns: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        values: z.array(z.string()).min(1),
        levels: valueLevels.optional(),
        parents: z.array(z.string()).default([]),
        table: z.array(z.number()),
      }),
    )
    .min(1),
});

/** An origin written elsewhere (a comment of a BIF file); undefined when it is not one. */
export function readOrigin(text: string): NetworkOrigin | undefined {
  try {
    return origin.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

/** Our own file: what `fugu learn columns` writes and `dependence: [{kind: columns, network}]` reads. */
export function readNetworkJson(text: string, file: string): Network {
  const refuse = (message: string): Fault =>
    new Fault('MODEL_INVALID', message, 'See docs/reference/policy.md for the form of a network file.', { place: { file } });
  let parsed: unknown;
  try {
    parsed = parseJson(text, { file });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw refuse('The network file is not JSON.');
  }
  const result = document.safeParse(parsed);
  if (!result.success) {
    const { path, text } = inputProblem(result.error);
    throw refuse(`The network file is not right at ${pathText(path) || 'the top'}: ${text}`);
  }
  const { columns, name, resolution } = result.data;
  const position = new Map(columns.map((c, i) => [c.name, i]));
  const variables = columns.map((c) => ({
    name: c.name,
    values: c.values,
    ...(c.levels && { levels: c.levels }),
    parents: c.parents.map((p) => {
      const at = position.get(p);
      if (at === undefined) throw refuse(`Column "${c.name}" has a parent that is not in the file.`);
      return at;
    }),
    table: Float64Array.from(c.table),
  }));
  const network = makeNetwork(name, variables, result.data.origin, { file });
  return resolution === undefined ? network : { ...network, resolution };
}

export const writeNetworkJson = (network: Network): string =>
  `${JSON.stringify(
    {
      format: networkFormat,
      name: network.name,
      ...(network.origin && { origin: network.origin }),
      ...(network.resolution !== undefined && { resolution: network.resolution }),
      columns: network.variables.map((v) => ({
        name: v.name,
        values: v.values,
        ...(v.levels && { levels: v.levels }),
        parents: v.parents.map((p) => network.variables[p]!.name),
        table: [...v.table],
      })),
    },
    null,
    1,
  )}\n`;
