/**
 * `RobotService.Tunnel`: connections of callers to programs on this computer. Only to the ports in `network.traffic_tunnel_endpoints`, and
 * only over loopback. A tunnel ends with its call, and when an edit removes its port.
 */
import { durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import { aborted, type Clock, failedPrecondition, invalidArgument, type Log, resourceExhausted } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ListTunnelsResponse, TunnelRequest } from '@platform/proto/platform/robot/v1/robot';
import type { Call } from '@platform/rpc/server';
import type { Principal } from '../authenticate.ts';
import { type CarriedPiece, carry } from './carry.ts';
import { connectToPort } from './connect-to-port.ts';

export interface Tunnels {
  /** Sets the ports. Tunnels to those that it no longer has end at once. */
  configure(config: Pick<RobotConfig, 'network'>): void;
  list(): Pick<ListTunnelsResponse['tunnels'][number], 'port' | 'connectionTimeout'>[];
  /**
   * @param requests the first names the port. @returns what the program sends
   * @throws failed_precondition if the port is not listed; resource_exhausted; unavailable if nothing listens on it; aborted
   */
  open(
    requests: AsyncIterable<TunnelRequest>,
    call: Pick<Call<Principal>, 'principal' | 'signal'>,
  ): AsyncGenerator<CarriedPiece, void>;
}

const setting = 'network.traffic_tunnel_endpoints';
const usualTimeoutMs = 10_000;
/** All callers together: each tunnel has a socket, and up to a window of bytes in each direction. */
const maxTunnels = 256;

export function createTunnels({ clock, log }: { readonly clock: Clock; readonly log: Log }): Tunnels {
  let timeouts: ReadonlyMap<number, number> = new Map();
  const running = new Set<{ readonly port: number; readonly ending: AbortController }>();

  async function* open(
    requests: AsyncIterable<TunnelRequest>,
    { principal, signal }: Pick<Call<Principal>, 'principal' | 'signal'>,
  ): AsyncGenerator<CarriedPiece, void> {
    const messages = requests[Symbol.asyncIterator]();
    const first = await messages.next();
    if (first.done === true) throw invalidArgument('expected a first message with destination_port, found none');
    const { destinationPort: port, halfClose, data } = first.value;
    const timeoutMs = timeouts.get(port);
    if (timeoutMs === undefined) throw notListed(port, [...timeouts.keys()]);
    if (running.size >= maxTunnels)
      throw resourceExhausted(`expected at most ${maxTunnels} tunnels to this machine at once, found as many; end one`);
    const tunnel = { port, ending: new AbortController() };
    running.add(tunnel);
    const by = principal.entity;
    log.info('a tunnel began', { port, by });
    const either = AbortSignal.any([signal, tunnel.ending.signal]);
    try {
      const socket = await connectToPort(port, { timeoutMs, clock, signal: either });
      yield* carry(socket, { port, first: data, messages, halfClose, signal: either });
    } finally {
      running.delete(tunnel);
      log.info('a tunnel ended', { port, by });
    }
  }

  return {
    open,
    configure({ network }) {
      timeouts = new Map(
        (network?.trafficTunnelEndpoints ?? []).map(({ port, connectionTimeout: timeout }) => [
          port,
          (timeout && durationMs(timeout)) || usualTimeoutMs,
        ]),
      );
      for (const { port, ending } of running)
        if (!timeouts.has(port)) ending.abort(aborted(`the tunnel ended: ${setting} no longer lists port ${port}`));
    },
    list: () => [...timeouts].map(([port, ms]) => ({ port, connectionTimeout: durationFromMs(ms) })),
  };
}

function notListed(port: number, listed: readonly number[]) {
  const found = listed.length === 0 ? 'it has none' : `it has ${listed.join(', ')}`;
  return failedPrecondition(
    `port ${port}: expected a port in ${setting} of the machine's configuration, ${found}; add {"port": ${port}} to let owners tunnel to it`,
  );
}
