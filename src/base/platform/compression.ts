export { crc32, createGunzip, createInflateRaw, deflateRawSync, gunzipSync, inflateSync } from 'node:zlib';
