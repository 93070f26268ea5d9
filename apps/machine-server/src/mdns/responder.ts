/**
 * Answers multicast DNS (RFC 6762) over IPv4, so that clients in the same network find this machine by its name.
 *
 * It announces itself on every network of this computer, answers questions there, and says goodbye at the end. Clients wait only one or two
 * seconds for an answer, so only floods of questions are not all answered.
 * Another responder on this computer, such as Avahi, may use the port at the same time.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { type Clock, errorText, harmless, type Log } from '@platform/base';
import { type Announcement, answersTo, eachName, recordsOf } from './announcement.ts';
import { type Answer, readQuery, writeAnswer } from './dns-message.ts';

export interface ResponderDeps {
  readonly announcement: Announcement;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: the port of multicast DNS. */
  readonly port?: number;
  /** The IPv4 addresses of this computer's networks. Default: all but loopback. */
  readonly addresses?: () => readonly string[];
}

const group = '224.0.0.251';
const usualPort = 5_353;
const ttlSeconds = 120;
/** For resolvers that do not speak multicast DNS (RFC 6762, 6.7). */
const unicastTtlSeconds = 10;
const lookEveryMs = 15_000;
/** In one network. */
const maxAnswersInSecond = 20;

/** One socket receives, and one for each network sends, because the sender decides the network. */
export function startResponder(deps: ResponderDeps): AsyncDisposable & { readonly port: Promise<number> } {
  const { announcement, clock, log, port: wanted = usualPort, addresses = ownAddresses } = deps;
  const bound = Promise.withResolvers<number>();
  let port = wanted;
  const senders = new Map<string, { readonly socket: Socket; secondMs: number; answers: number }>();
  let reported = '';
  const complain = (what: string, caught: unknown): void => {
    const text = `${what}: ${errorText(caught)}`;
    if (text !== reported) log.warn(text);
    reported = text;
  };
  const receiver = createSocket({ type: 'udp4', reuseAddr: true });
  receiver.on('error', (error) => {
    complain('multicast DNS cannot be served; clients do not find this machine by its name', error);
    bound.reject(error);
  });
  bound.promise.catch(() => {});

  const send = (address: string, answer: Omit<Answer, 'id' | 'questions' | 'flushes'>): Promise<void> => {
    const bytes = writeAnswer({ id: 0, questions: [], flushes: true, ...answer });
    const { promise, resolve } = Promise.withResolvers<void>();
    // Clients repeat questions whose answers were lost.
    senders.get(address)?.socket.send(bytes, port, group, () => resolve());
    return promise;
  };
  const announce = async (address: string, ttl: number): Promise<void> => {
    for (const each of eachName(announcement))
      await send(address, { answers: recordsOf(each, [address]), additional: [], ttl });
  };
  const mayAnswer = (sender: { secondMs: number; answers: number }): boolean => {
    const nowMs = clock.monotonic();
    if (nowMs - sender.secondMs >= 1_000) Object.assign(sender, { secondMs: nowMs, answers: 0 });
    return ++sender.answers <= maxAnswersInSecond;
  };

  const join = (address: string): void => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true });
    senders.set(address, { socket, secondMs: Number.NEGATIVE_INFINITY, answers: 0 });
    socket.on('error', (error) => complain(`multicast DNS cannot be sent from ${address}`, error));
    socket.bind(0, address, () => {
      try {
        receiver.addMembership(group, address);
        socket.setMulticastInterface(address);
        socket.setMulticastTTL(255);
        void announce(address, ttlSeconds);
      } catch (caught) {
        complain(`multicast DNS cannot be served on ${address}`, caught);
      }
    });
  };
  const look = (): void => {
    const now = addresses();
    for (const [address, { socket }] of senders) {
      if (now.includes(address)) continue;
      socket.close();
      senders.delete(address);
    }
    for (const address of now) if (!senders.has(address)) join(address);
  };
  const answerAll = (message: Buffer, from: RemoteInfo): void => {
    const query = readQuery(message);
    if (query === undefined) return;
    if (from.port !== port) {
      const near = nearest(addresses(), from.address);
      const found = answersTo(query.questions, recordsOf(announcement, near));
      if (found.answers.length === 0) return;
      const bytes = writeAnswer({ ...query, ...found, ttl: unicastTtlSeconds, flushes: false });
      receiver.send(bytes, from.port, from.address, () => {});
      return;
    }
    for (const [address, sender] of senders) {
      const found = eachName(announcement)
        .map((each) => answersTo(query.questions, recordsOf(each, [address])))
        .filter(({ answers }) => answers.length > 0);
      if (found.length === 0 || !mayAnswer(sender)) continue;
      for (const each of found) void send(address, { ...each, ttl: ttlSeconds });
    }
  };

  const withoutAddresses = (caught: unknown): void =>
    complain('multicast DNS: the addresses of this computer cannot be read', caught);
  receiver.on('message', harmless(answerAll, withoutAddresses));
  receiver.bind(wanted, () => {
    port = receiver.address().port;
    bound.resolve(port);
    log.info('announced by multicast DNS', {
      names: eachName(announcement).flatMap((each) => each.machineNames),
      port,
    });
    lookAgain();
  });
  const lookAgain = harmless(look, withoutAddresses);
  const looking = clock.every(lookEveryMs, lookAgain);
  return {
    port: bound.promise,
    async [Symbol.asyncDispose]() {
      looking[Symbol.dispose]();
      await Promise.all([...senders.keys()].map((address) => announce(address, 0)));
      const sockets = [receiver, ...[...senders.values()].map(({ socket }) => socket)];
      await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
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
