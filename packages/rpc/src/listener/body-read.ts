/** Bodies that were already read to their end when the general path took over. */
import type { ServerHttp2Stream } from 'node:http2';

export const bodyRead: WeakMap<ServerHttp2Stream, Uint8Array> = new WeakMap();
