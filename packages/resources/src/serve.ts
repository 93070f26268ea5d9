/** Serving resources over RPC by their descriptors: for servers only, because it needs the listening half of `rpc`. */
export { type Entered, serveType } from './serve-type.ts';
