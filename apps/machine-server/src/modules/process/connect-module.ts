/** The link to the process of a module. */
import type { Clock } from '@platform/base';
import { connect, type Link, maxAnswerElements } from '@platform/rpc/client';
import type { ModuleConfig } from '../module-config.ts';

/** @param address the path of its socket, or `host:port` with `tcp_mode` */
export function connectModule(
  { name, tcpMode }: Pick<ModuleConfig, 'name' | 'tcpMode'>,
  address: string,
  clock: Clock,
): Link {
  return connect({
    baseUrl: tcpMode ? `http://${address}` : 'http://localhost',
    socketPath: tcpMode ? undefined : address,
    peerName: `the module "${name}"`,
    // It may block for as long as a configuration or a call takes.
    isLocal: true,
    vocabulary: 'rdk',
    maxElements: maxAnswerElements,
    clock,
  });
}
