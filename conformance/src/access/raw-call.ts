/** Calls over real HTTP/2 whose answers are kept as bytes, headers and trailers, so that they can be searched completely. */
import type { EventEmitter } from 'node:events';
import { create, type DescMethod, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';

export interface Answer {
  /** `OK`, `NOT_FOUND`, … */
  readonly code: string;
  readonly message: string;
  /** The bytes of all response messages, one character each. */
  readonly body: string;
  /** Names and values of headers and trailers, without those that contain the transport's time. */
  readonly headers: string;
}

/** Streams that end only when their caller disconnects. */
const endless: ReadonlySet<string> = new Set(['TailRobotPartLogs', 'Watch', 'Answer', 'OpenLink']);
/** Those that begin with a message once access is granted. */
const greeting: ReadonlySet<string> = new Set(['Answer', 'OpenLink']);
/** How long such a stream must stay open, without a refusal or a message, to count as granted. */
const openStreamMs = 1_500;
const deadlineMs = 240_000;
const codeNames: readonly string[] = Object.entries(status)
  .filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  .reduce<string[]>((names, [name, code]) => {
    names[code] = name;
    return names;
  }, []);
const asBytes = (bytes: Buffer): Buffer => bytes;
const healthPath = '/grpc.health.v1.Health/Check';
const none: Buffer = Buffer.alloc(0);

/** A stream that stays open. */
export interface OpenStream {
  /** Settles with the first message, or when the stream ends before it. */
  readonly first: Promise<unknown>;
  /** The code with which it ended. */
  readonly ended: Promise<string>;
  cancel(): void;
}

export class RawCaller implements Disposable {
  readonly #clients: readonly Client[];
  #next = 0;

  /** @param target `host:port` @param connections how many HTTP/2 connections share the calls */
  constructor(target: string, connections = 4) {
    const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.max_receive_message_length': 64 * 1024 * 1024 };
    this.#clients = Array.from(
      { length: connections },
      () => new Client(target, credentials.createInsecure(), options),
    );
  }

  /** Never rejects: a refusal is an answer. @param token absent: no authorization header @param more further headers */
  call(
    method: DescMethod,
    requests: readonly object[],
    token: string | undefined,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const client = this.#clients[this.#next++ % this.#clients.length];
    if (client === undefined) throw new Error('expected at least one connection');
    const path = `/${method.parent.typeName}/${method.name}`;
    const encoded: Buffer[] = requests.map((request) =>
      Buffer.from(toBinary(method.input, create(method.input, request as MessageInitShape<typeof method.input>))),
    );
    const metadata = new Metadata();
    if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(more)) metadata.set(name, value);
    const options = { deadline: Date.now() + deadlineMs };
    return new Promise((resolve) => {
      const bodies: Buffer[] = [];
      let headers = '';
      let settled = false;
      const settle = (code: string, message: string): void => {
        if (settled) return;
        settled = true;
        resolve({ code, message, body: Buffer.concat(bodies).toString('latin1'), headers });
      };
      const noteHeaders = (given: Metadata): void => {
        headers += textOf(given);
      };
      const noted = <T extends EventEmitter>(call: T): T => {
        call.on('metadata', noteHeaders);
        call.on('error', () => {});
        call.on('status', (given: StatusObject) => {
          noteHeaders(given.metadata);
          settle(codeNames[given.code] ?? `${given.code}`, given.details);
        });
        return call;
      };
      const answered = (_error: ServiceError | null, body?: Buffer): void => {
        if (body !== undefined) bodies.push(body);
      };
      const first = encoded[0] ?? none;
      if (method.methodKind === 'unary') {
        noted(client.makeUnaryRequest(path, asBytes, asBytes, first, metadata, options, answered));
      } else if (method.methodKind === 'client_streaming') {
        const call = noted(client.makeClientStreamRequest(path, asBytes, asBytes, metadata, options, answered));
        for (const one of encoded) call.write(one);
        call.end();
      } else {
        const isEndless = endless.has(method.name);
        const isBidi = method.methodKind === 'bidi_streaming';
        const bidi = isBidi ? client.makeBidiStreamRequest(path, asBytes, asBytes, metadata, options) : undefined;
        const call = noted(bidi ?? client.makeServerStreamRequest(path, asBytes, asBytes, first, metadata, options));
        const leave = (): void => {
          settle('OK', '');
          call.cancel();
        };
        // The cloud may be slow. This call counts as open only once a later call on the same connection is answered.
        const askOther = (): void =>
          void client.makeUnaryRequest(healthPath, asBytes, asBytes, none, metadata, options, leave);
        const timer = isEndless ? setTimeout(askOther, openStreamMs) : undefined;
        call.on('status', () => clearTimeout(timer));
        call.on('data', (body: Buffer) => {
          bodies.push(body);
          if (greeting.has(method.name)) leave();
        });
        for (const one of encoded) bidi?.write(one);
        if (!isEndless) bidi?.end();
      }
    });
  }

  /** A server-streaming call without a deadline. */
  open(method: DescMethod, request: object, token: string): OpenStream {
    const [client] = this.#clients;
    if (client === undefined) throw new Error('expected at least one connection');
    const message = create(method.input, request as MessageInitShape<typeof method.input>);
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    const path = `/${method.parent.typeName}/${method.name}`;
    const encoded: Buffer = Buffer.from(toBinary(method.input, message));
    const call = client.makeServerStreamRequest(path, asBytes, asBytes, encoded, metadata);
    const ended = new Promise<string>((resolve) => {
      call.on('status', ({ code }: StatusObject) => resolve(codeNames[code] ?? `${code}`));
    });
    call.on('error', () => {});
    const data = new Promise((resolve) => {
      call.on('data', resolve);
    });
    return { first: Promise.race([data, ended]), ended, cancel: () => call.cancel() };
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client.close();
  }
}

function textOf(metadata: Metadata): string {
  return Object.entries(metadata.getMap())
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => `${name}: ${value.toString('latin1')}\n`)
    .join('');
}
