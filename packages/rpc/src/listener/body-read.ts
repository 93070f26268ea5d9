/** Bodies that were read to their end before the general path was asked. */
import type { ServerHttp2Stream } from 'node:http2';

export const bodyRead: WeakMap<ServerHttp2Stream, Uint8Array> = new WeakMap();
