/** The kind of an address in use, from what the library says of it. */
import { BlockList, isIPv4 } from 'node:net';
import type { CandidateKind, SelectedPair } from '../../peer.ts';

interface Side {
  readonly address: string;
  readonly port: number;
  readonly type: string;
}

/** Addresses that no server on the internet sees. */
const local = new BlockList();
for (const [address, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  local.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  local.addSubnet(address, prefix, 'ipv6');

export function pairOf(pair: { readonly local: Side; readonly remote: Side }): SelectedPair {
  const { address, port } = pair.remote;
  return {
    local: kindOf(pair.local),
    remote: kindOf(pair.remote),
    remoteAddress: isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`,
  };
}

/** `prflx` was not announced, but seen: on a local network it is the other end itself, otherwise what a router made of it. */
function kindOf({ type, address }: Side): CandidateKind {
  if (type === 'relay') return 'relay';
  if (type === 'host') return 'host';
  return type === 'prflx' && local.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') ? 'host' : 'stun';
}
