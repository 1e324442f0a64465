// The same as shim.c where there is no C compiler: a disk that fails on demand below Node's own functions. The ledger's driver does not go through them.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { resolve, sep } from 'node:path';

const { FAULT_FOLDER: folder, FAULT_AT, FAULT_HOW: how = 'fail', FAULT_ERRNO, FAULT_LOG: log } = process.env;
for (const name of ['FAULT_FOLDER', 'FAULT_AT', 'FAULT_HOW', 'FAULT_ERRNO', 'FAULT_LOG', 'FAULT_VICTIM']) delete process.env[name];
const at = Number(FAULT_AT ?? 0);
const errno = Object.entries(constants.errno).find(([, value]) => value === Number(FAULT_ERRNO))?.[0] ?? 'EIO';
const sound = { ...fs };
const places = new Map();
let calls = 0;

const inside = (place) => folder !== undefined && (place === folder || place.startsWith(folder + sep));
const die = () => process.kill(process.pid, 'SIGKILL');

function turn(what, place, half, whole) {
  if (place === undefined || !inside(place)) return whole();
  calls++;
  if (log) sound.appendFileSync(log, `${what} ${place}\n`);
  if (at === 0 || calls < at || (calls > at && how !== 'lasting')) return whole();
  if (how === 'lasting' && errno === 'ENOSPC' && what === 'unlink') return whole();
  if (how === 'kill') die();
  if (how === 'tear' || how === 'after') {
    if (how === 'after') whole();
    else half?.();
    die();
  }
  throw Object.assign(new Error(`${errno}: planted, ${what}`), { code: errno, errno: -constants.errno[errno], syscall: what });
}

const onFile = (name, what, half) => {
  fs[name] = (file, ...rest) =>
    turn(
      what,
      typeof file === 'number' ? places.get(file) : undefined,
      half && (() => half(file, ...rest)),
      () => sound[name](file, ...rest),
    );
};
onFile('writeFileSync', 'write', (file, text) => sound.writeSync(file, String(text).slice(0, String(text).length / 2)));
onFile('fsyncSync', 'fsync');

const onPath = (name, what, which) => {
  fs[name] = (...rest) => turn(what, resolve(String(rest[which])), undefined, () => sound[name](...rest));
};
onPath('renameSync', 'rename', 1);
onPath('linkSync', 'link', 1);
onPath('rmSync', 'unlink', 0);
onPath('mkdirSync', 'mkdir', 0);

fs.openSync = (path, flags = 'r', ...rest) => {
  const place = resolve(String(path));
  const makes = typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : /[wa]/.test(flags);
  const open = () => {
    const file = sound.openSync(path, flags, ...rest);
    places.set(file, place);
    return file;
  };
  return makes ? turn('open', place, undefined, open) : open();
};
syncBuiltinESMExports();
