/** Checks whether multicast DNS works on this computer: a sent question must come back. */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { errorText } from '@platform/base';
import { type Check, trouble } from './run-checks.ts';

const [group, usualPort] = ['224.0.0.251', 5_353];

/** @param isDisabled `-disable-mdns` */
export function multicastCheck(isDisabled: boolean, port: number = usualPort): Check {
  return {
    name: 'multicast-dns',
    skip: isDisabled ? '-disable-mdns' : undefined,
    async run(signal) {
      const socket = createSocket({ type: 'udp4', reuseAddr: true });
      try {
        socket.bind(port);
        await once(socket, 'listening', { signal });
        socket.addMembership(group);
        socket.setMulticastLoopback(true);
        const sent = question();
        const { promise: heard, resolve } = Promise.withResolvers<void>();
        socket.on('message', (message) => {
          if (message.equals(sent)) resolve();
        });
        const failed = once(socket, 'error', { signal }).then(([error]) => Promise.reject(error));
        socket.send(sent, port, group);
        await Promise.race([heard, failed]);
        return `${group}:${port} reaches this computer`;
      } catch (caught) {
        throw trouble(
          `multicast DNS does not work (${errorText(caught)})`,
          `allow UDP ${port} in the firewall, connect a network, or use -disable-mdns: clients then need the address of the machine`,
          caught,
        );
      } finally {
        socket.close();
      }
    },
  };
}

/** A question for the service of machines, with a random id to recognise it. */
function question(): Buffer {
  const names = ['_rpc', '_tcp', 'local'].map((name) => Buffer.from([name.length, ...Buffer.from(name)]));
  const [header, end] = [Buffer.alloc(12), Buffer.from([0, 0, 12, 0, 1])];
  randomBytes(2).copy(header);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, ...names, end]);
}
