/** The kind of an address in use, from what engines say of it. */
import type { CandidateKind, SelectedPair } from './peer.ts';

interface Side {
  /** Empty: hidden. */
  readonly address: string;
  readonly port: number;
  /** `host`, `srflx`, `prflx` or `relay`. */
  readonly type: string;
}

/** Addresses that no server on the internet sees. */
const local = [
  /^(10|127)\./,
  /^192\.168\./,
  /^169\.254\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^::1$/,
  /^f[cd][\da-f]{2}:/i,
  /^fe[89ab][\da-f]:/i,
];

export function pairOf(pair: { readonly local: Side; readonly remote: Side }): SelectedPair {
  const { address, port } = pair.remote;
  return {
    local: kindOf(pair.local),
    remote: kindOf(pair.remote),
    remoteAddress: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
  };
}

/**
 * `prflx` was not announced, but seen: on a local network it is the end itself, otherwise what a router made of it. Browsers hide addresses
 * of local networks.
 */
function kindOf({ type, address }: Side): CandidateKind {
  if (type === 'relay' || type === 'host') return type;
  return type === 'prflx' && (address === '' || local.some((pattern) => pattern.test(address))) ? 'host' : 'stun';
}
