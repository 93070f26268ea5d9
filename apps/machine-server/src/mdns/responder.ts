/**
 * Answers multicast DNS (RFC 6762) over IPv4, so that clients in the same network find this machine by its name.
 *
 * It announces itself on every network of this computer, answers questions there, and says goodbye at the end. Clients wait only one or two
 * seconds for an answer, so only floods of questions are not all answered.
 * Another responder on this computer, such as Avahi, may use the port at the same time.
 */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { type Clock, errorText, harmless, type Log } from '@platform/base';
import { type Announcement, answersTo, eachName, recordsOf } from './announcement.ts';
import { readQuery, writeAnswer } from './dns-message.ts';
import { Networks } from './networks.ts';

export interface ResponderDeps {
  readonly announcement: Announcement;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: the port of multicast DNS. */
  readonly port?: number;
  /** The IPv4 addresses of this computer's networks. Default: all but loopback. */
  readonly addresses?: () => readonly string[];
}

const usualPort = 5_353;
const lookEveryMs = 15_000;
/** For resolvers that do not speak multicast DNS (RFC 6762, 6.7). */
const unicastTtlSeconds = 10;

/** One socket receives, and one for each network sends, because the sender decides the network. */
export function startResponder(deps: ResponderDeps): AsyncDisposable & { readonly port: Promise<number> } {
  const { announcement, clock, log, port: wanted = usualPort, addresses = ownAddresses } = deps;
  const bound = Promise.withResolvers<number>();
  bound.promise.catch(() => {});
  const reported = new Set<string>();
  const complain = (what: string, caught: unknown): void => {
    const text = `${what}: ${errorText(caught)}`;
    if (!reported.has(text)) log.warn(text);
    reported.add(text);
  };
  const receiver = createSocket({ type: 'udp4', reuseAddr: true });
  receiver.on('error', (error) => {
    complain('multicast DNS cannot be served; clients do not find this machine by its name', error);
    bound.reject(error);
  });
  const networks = new Networks({ announcement, receiver, complain, clock });
  const withoutAddresses = (caught: unknown): void =>
    complain('multicast DNS: the addresses of this computer cannot be read', caught);
  const look = harmless(() => networks.follow(addresses()), withoutAddresses);

  const answer = (message: Buffer, from: RemoteInfo): void => {
    const query = readQuery(message);
    if (query === undefined) return;
    if (from.port === networks.port) {
      networks.answer(query.questions);
      return;
    }
    const near = nearest(addresses(), from.address);
    const found = answersTo(query.questions, recordsOf(announcement, near));
    if (found.answers.length === 0) return;
    const bytes = writeAnswer({ ...query, ...found, ttl: unicastTtlSeconds, flushes: false });
    receiver.send(bytes, from.port, from.address, () => {});
  };
  receiver.on('message', harmless(answer, withoutAddresses));
  receiver.bind(wanted, () => {
    networks.port = receiver.address().port;
    bound.resolve(networks.port);
    log.info('announced by multicast DNS', {
      names: eachName(announcement).flatMap((each) => each.machineNames),
      port: networks.port,
    });
    look();
  });
  const looking = clock.every(lookEveryMs, look);
  return {
    port: bound.promise,
    async [Symbol.asyncDispose]() {
      looking[Symbol.dispose]();
      await networks[Symbol.asyncDispose]();
      await new Promise<void>((resolve) => receiver.close(resolve));
    },
  };
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.flatMap(({ family, internal, address }) => (family === 'IPv4' && !internal ? [address] : []));
}

/** The address with the longest common prefix with the client's. */
function nearest(addresses: readonly string[], asker: string): string[] {
  const shared = (address: string): number => {
    const [own, other] = [address.split('.'), asker.split('.')];
    const differs = own.findIndex((part, at) => part !== other[at]);
    return differs < 0 ? own.length : differs;
  };
  return addresses.toSorted((a, b) => shared(b) - shared(a)).slice(0, 1);
}
