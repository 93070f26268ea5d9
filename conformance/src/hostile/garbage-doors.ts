/** Where an attacker sends garbage, each function one kind. They return how the call of an innocent caller ended, or how the connection did. */
import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { asPlatformError } from '@platform/base';
import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import { RelayService } from '@platform/proto/platform/relay/v1/relay';
import { byteStreamOver, connect, type Link } from '@platform/rpc/client';
import { hostileClients, hostileServers, sendAsClient, sendAsServer } from '@platform/testkit';

export type Door =
  /** A port, or the socket of a machine-server for a module. */
  | {
      readonly kind: 'clients';
      readonly at: { readonly port: number; readonly host: string } | { readonly path: string };
    }
  /** The link of a machine, which is called through the cloud. */
  | {
      readonly kind: 'link';
      readonly url: string;
      readonly part: { readonly id: string; readonly secret: string };
      readonly keyId: string;
      readonly key: string;
    }
  /** A component of a module that answers with garbage. */
  | { readonly kind: 'component'; readonly url: string; readonly name: string };

/** Ends the call of an innocent caller that nobody answers. */
const timeoutMs = 300;
/** How long a server may take to end a connection, before its client does. */
const patienceMs = 20;
/** A server that reads nothing ends neither. */
const mostMs = 3_000;

export function openDoor(door: Door): { send(kind: number): Promise<string> } & AsyncDisposable {
  switch (door.kind) {
    case 'clients':
      return attackAsClient(door.at);
    case 'link':
      return attackAsMachine(door);
    case 'component':
      return callHostileComponent(door);
  }
}

function attackAsClient(at: Extract<Door, { kind: 'clients' }>['at']): ReturnType<typeof openDoor> {
  const source = hostileClients('/platform.robot.v1.RobotService/GetOperations');
  return {
    async send(kind) {
      const socket: Socket = connectSocket(at);
      const closed = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')));
      const sending = sendAsClient(socket, source.kind(kind));
      await Promise.race([sending, sleep(mostMs)]);
      const how = await Promise.race([closed, sleep(patienceMs, 'open')]);
      socket.destroy();
      await Promise.all([closed, sending]);
      return how;
    },
    async [Symbol.asyncDispose]() {},
  };
}

function attackAsMachine(door: Extract<Door, { kind: 'link' }>): ReturnType<typeof openDoor> {
  const { url, part, keyId, key } = door;
  const source = hostileServers();
  const machine = connect({
    baseUrl: url,
    credentials: { entity: part.id, type: 'robot-secret', payload: part.secret },
  });
  const caller = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  return {
    async send(kind) {
      const over = new AbortController();
      const opened = Promise.withResolvers<void>();
      const bytes = Promise.withResolvers<AsyncIterable<Uint8Array>>();
      async function* requests(): AsyncGenerator<{ partId: string } | { data: Uint8Array }, void> {
        yield { partId: part.id };
        for await (const data of await bytes.promise) yield { data };
      }
      const options = { signal: over.signal, timeoutMs: 0 };
      const responses = machine.client(RelayService).openLink(requests(), options);
      async function* incoming(): AsyncGenerator<Uint8Array, void> {
        for await (const { data } of responses) {
          opened.resolve();
          if (data.length > 0) yield data;
        }
      }
      const { duplex, outgoing } = byteStreamOver(incoming());
      duplex.once('close', () => opened.resolve());
      bytes.resolve(outgoing);
      const sending = sendAsServer(duplex, source.kind(kind));
      await opened.promise;
      const how = await endOf(caller, 'it', { 'platform-part': part.id });
      over.abort();
      duplex.destroy();
      await sending;
      return how;
    },
    async [Symbol.asyncDispose]() {
      await machine[Symbol.asyncDispose]();
      await caller[Symbol.asyncDispose]();
    },
  };
}

function callHostileComponent({ url, name }: Extract<Door, { kind: 'component' }>): ReturnType<typeof openDoor> {
  const link = connect({ baseUrl: url });
  return {
    send: () => endOf(link, name),
    [Symbol.asyncDispose]: () => link[Symbol.asyncDispose](),
  };
}

async function endOf(link: Link, name: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  try {
    await link.client(GenericService).doCommand({ name, command: {} }, { headers, timeoutMs });
    return 'ok';
  } catch (caught) {
    return asPlatformError(caught).code;
  }
}
