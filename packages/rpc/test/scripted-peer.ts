/** A peer on a loopback port that serves calls over HTTP/2 through a pipe, which the test can stop, delay, damage or cut. */
import { once } from 'node:events';
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';

export interface PeerConnection {
  readonly socket: Socket;
  /** The server's side of the HTTP/2 connection. */
  readonly session: ServerHttp2Session;
  /** While held, bytes from the client wait. */
  holdRequests(isHeld: boolean): void;
  /** While held, bytes to the client wait. */
  holdAnswers(isHeld: boolean): void;
}

export interface ScriptedPeer extends AsyncDisposable {
  readonly url: string;
  readonly connections: PeerConnection[];
  /** Waits for the connection with this number, from 0. */
  connection(number: number): Promise<PeerConnection>;
}

export interface PeerScript {
  readonly answer: (stream: ServerHttp2Stream) => void;
  /** Changes the bytes to the client, in order, for the connection with this number; called once for each write. */
  readonly change?: (bytes: Buffer, connection: number, socket: Socket) => Uint8Array;
}

export async function startScriptedPeer({ answer, change }: PeerScript): Promise<ScriptedPeer> {
  const http2 = createHttp2Server();
  http2.on('stream', (stream) => answer(stream.on('error', () => {})));
  const connections: PeerConnection[] = [];
  let wake = (): void => {};
  const server = createServer((socket) => {
    const number = connections.length;
    const [near, far] = duplexPair();
    for (const each of [socket, near, far]) each.on('error', () => {});
    http2.once('session', (session) => {
      session.on('error', () => {});
      const [holdRequests, holdAnswers] = [
        holdable(socket, far),
        holdable(far, socket, (bytes) => change?.(bytes, number, socket)),
      ];
      connections.push({ socket, session, holdRequests, holdAnswers });
      wake();
    });
    http2.emit('connection', near);
    socket.on('close', () => near.destroy());
    near.on('close', () => socket.destroySoon());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    async connection(number) {
      for (;;) {
        const found = connections[number];
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of connections) socket.destroy();
      server.close();
    },
  };
}

function holdable(
  from: Duplex,
  to: Duplex,
  change?: (bytes: Buffer) => Uint8Array | undefined,
): (isHeld: boolean) => void {
  let isHeld = false;
  const waiting: Uint8Array[] = [];
  from.on('data', (bytes: Buffer) => {
    const passed = change?.(bytes) ?? bytes;
    if (isHeld) waiting.push(passed);
    else if (!to.destroyed && passed.length > 0) to.write(passed);
  });
  return (hold) => {
    isHeld = hold;
    if (!hold) for (const bytes of waiting.splice(0)) to.write(bytes);
  };
}
