/** Accepted forms of a model argument, for the help of a command. */
export const modelArgument =
  'a model: records and factors or a chain (JSON), or a Bayesian network (.bif, also .gz, or from fugu learn)';
