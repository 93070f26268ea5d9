/** The way to a machine over WebRTC. Loaded with the first attempt to connect. */
import { fromJson, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, type Transport } from '@connectrpc/connect';
import { systemClock } from '@platform/base/clock';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { channelTransport } from '@platform/rpc/channel';
import { createEngine, dial, type Peer } from '@platform/webrtc/browser';
import { knownMethod } from './known-methods.ts';
import type { DirectWay } from './way.ts';

const engine = createEngine({ clock: systemClock });

/** @param host full name of the part @param clientOf makes clients of the cloud. Rejects as `dial` of webrtc */
export async function dialDirect(
  host: string,
  clientOf: (service: typeof SignalingService) => Client<typeof SignalingService>,
  signal: AbortSignal,
): Promise<DirectWay> {
  const signaling = clientOf(SignalingService);
  const { peer, channel } = await dial({ signaling, host, engine, clock: systemClock, signal });
  const way = wayOver(channelTransport({ channel }));
  return { ...way, path: await pathOf(peer), ended: channel.ended, close: () => channel.close() };
}

/** Relayed candidates are those of TURN servers. */
export async function pathOf(peer: Pick<Peer, 'selectedPair'>): Promise<DirectWay['path']> {
  const pair = await peer.selectedPair();
  return pair?.local === 'relay' || pair?.remote === 'relay' ? 'turn' : 'direct';
}

/** Messages as over HTTP with JSON, so that who calls need not know the path. */
export function wayOver(transport: Transport): Pick<DirectWay, 'call' | 'knows'> {
  return {
    knows: (path) => knownMethod(path) !== undefined,
    async call(path, request, { headers, signal }) {
      const method = knownMethod(path);
      if (method === undefined) throw new ConnectError(`${path} is not called over WebRTC`, Code.Unimplemented);
      // What JSON does not have, such as NaN of an empty field, becomes what it is in JSON.
      const input = fromJson(method.input, JSON.parse(JSON.stringify(request)) as JsonValue);
      const { message } = await transport.unary(method, signal, undefined, headers, input);
      return toJson(method.output, message) as JsonObject;
    },
  };
}
