/** Tables of the survey of Zhang et al., as printed. */
export const tableOne: Readonly<Record<string, readonly string[]>> = {
  u_1: ['loc_2', 'loc_2', 'loc_3', 'loc_4'],
  u_2: ['loc_2', 'loc_2', 'loc_3', 'loc_4'],
  u_3: ['loc_1', 'loc_4', 'loc_5', 'loc_2'],
  u_4: ['loc_4', 'loc_5', 'loc_2', 'loc_5'],
};
export const tableTwo: Readonly<Record<string, readonly number[]>> = {
  loc_1: [1, 0, 0, 0],
  loc_2: [2, 2, 1, 1],
  loc_3: [0, 0, 2, 0],
  loc_4: [1, 1, 0, 2],
  loc_5: [0, 1, 1, 1],
};
/** Its third row sums to 1.4. */
export const tableFourPrinted = [
  [0.1, 0.1, 0.8],
  [0.2, 0.3, 0.5],
  [0.6, 0.6, 0.2],
];
/** With the entry given in the text (0.6 from loc_3 to loc_1) and the rest of the row divided. */
export const tableFour = [
  [0.1, 0.1, 0.8],
  [0.2, 0.3, 0.5],
  [0.6, 0.2, 0.2],
];

export const notes: readonly string[] = [
  'Table 4: the third row sums to 1.4, and all headers read loc_1; 0.6, 0.2, 0.2 is used here. The text swaps the direction of Pr(l^t | l^(t+1)).',
  'Table 5: it calls the Gaussian model directed and acyclic and the Markov chain undirected and cyclic. For the models as they are defined it is the other way round: a precision matrix is an undirected graph, loops and all; a chain has a direction and no loop.',
  'Table 2 under Lap(1/epsilon): the counts of one moment lose 2 epsilon about two users who go together, as the text says, and what is lost about one moment over the four is not four times that but what the transitions carry over.',
];
