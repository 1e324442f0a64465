import { Fault } from '../../../base/errors.js';
import { cellAt, type Space, unitX, unitY } from './space.js';

/** Visits as columns of one table; without times, ties are broken by place alone; without counts every row is one visit. */
export interface Visits {
  readonly user: ArrayLike<number>;
  readonly place: ArrayLike<number>;
  readonly lat: ArrayLike<number>;
  readonly lon: ArrayLike<number>;
  readonly time?: ArrayLike<number>;
  readonly count?: ArrayLike<number>;
}

/** Everybody's location pattern (Eq. 4 of Liu et al. 2016): the q places visited most, person by person, rank by rank. */
export interface Population {
  readonly space: Space;
  readonly ids: readonly number[];
  readonly people: number;
  readonly ranks: number;
  /** All at index person x ranks + rank. */
  readonly lat: Float64Array;
  readonly lon: Float64Array;
  readonly cell: Uint16Array;
  /** Unit coordinates, two per place: the 2q-dimensional vector of the paper. */
  readonly vector: Float64Array;
  /** Friends of person i: friends[friendStart[i] .. friendStart[i+1]]. */
  readonly friendStart: Uint32Array;
  readonly friends: Uint32Array;
}

interface Stay {
  readonly place: number;
  readonly lat: number;
  readonly lon: number;
  count: number;
  first: number;
}

/** Most visited first; ties by earliest first visit, then by place id. Fewer than q places are repeated in turn. */
export function locationPatterns(
  visits: Visits,
  ties: Iterable<readonly [number, number]>,
  space: Space,
  ranks: number,
): Population {
  const stays = new Map<number, Map<number, Stay>>();
  for (let r = 0; r < visits.user.length; r++) {
    const user = visits.user[r]!;
    const time = visits.time?.[r] ?? 0;
    const count = visits.count?.[r] ?? 1;
    let own = stays.get(user);
    if (!own) {
      own = new Map();
      stays.set(user, own);
    }
    const stay = own.get(visits.place[r]!);
    if (stay) {
      stay.count += count;
      stay.first = Math.min(stay.first, time);
    } else own.set(visits.place[r]!, { place: visits.place[r]!, lat: visits.lat[r]!, lon: visits.lon[r]!, count, first: time });
  }
  const ids = [...stays.keys()].sort((a, b) => a - b);
  const people = ids.length;
  const [lat, lon] = [new Float64Array(people * ranks), new Float64Array(people * ranks)];
  const cell = new Uint16Array(people * ranks);
  const vector = new Float64Array(people * ranks * 2);
  ids.forEach((id, i) => {
    const top = [...stays.get(id)!.values()]
      .sort((a, b) => b.count - a.count || a.first - b.first || a.place - b.place)
      .slice(0, ranks);
    for (let l = 0; l < ranks; l++) {
      const at = i * ranks + l;
      const stay = top[l % top.length]!;
      lat[at] = stay.lat;
      lon[at] = stay.lon;
      cell[at] = cellAt(space, stay.lat, stay.lon);
      vector[2 * at] = unitX(space, stay.lat);
      vector[2 * at + 1] = unitY(space, stay.lon);
    }
  });
  return { space, ids, people, ranks, lat, lon, cell, vector, ...friendLists(ids, ties) };
}

/** Symmetric adjacency without loops or repeats. A tie that names somebody without a pattern is a fault: it would be unprotected silently. */
function friendLists(ids: readonly number[], ties: Iterable<readonly [number, number]>) {
  const index = new Map(ids.map((id, i) => [id, i]));
  const sets = ids.map(() => new Set<number>());
  for (const [a, b] of ties) {
    const [i, j] = [index.get(a), index.get(b)];
    if (i === undefined || j === undefined)
      throw new Fault(
        'DATA_MALFORMED',
        'The ties name people who are not in the data.',
        'Every end of a tie must have visits; remove the others from the table.',
      );
    if (i === j) continue;
    sets[i]!.add(j);
    sets[j]!.add(i);
  }
  const friendStart = new Uint32Array(ids.length + 1);
  sets.forEach((s, i) => {
    friendStart[i + 1] = friendStart[i]! + s.size;
  });
  return { friendStart, friends: Uint32Array.from(sets.flatMap((s) => [...s].sort((a, b) => a - b))) };
}

/** Eq. 5: mean over ranks of the distance between two patterns, in km. */
export function patternDistance(
  { ranks, lat, lon }: Population,
  i: number,
  j: number,
  distance: (a: number, b: number, c: number, d: number) => number,
): number {
  let sum = 0;
  for (let l = 0; l < ranks; l++)
    sum += distance(lat[i * ranks + l]!, lon[i * ranks + l]!, lat[j * ranks + l]!, lon[j * ranks + l]!);
  return sum / ranks;
}
