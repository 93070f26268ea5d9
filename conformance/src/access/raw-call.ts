/** Calls over real HTTP/2 whose answers are kept as bytes, headers and trailers, so that they can be searched completely. */
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
      const noteStatus = (given: StatusObject): void => {
        noteHeaders(given.metadata);
        settle(codeNames[given.code] ?? `${given.code}`, given.details);
      };
      const answered = (_error: ServiceError | null, body?: Buffer): void => {
        if (body !== undefined) bodies.push(body);
      };
      switch (method.methodKind) {
        case 'unary': {
          const call = client.makeUnaryRequest(
            path,
            asBytes,
            asBytes,
            encoded[0] ?? Buffer.alloc(0),
            metadata,
            options,
            answered,
          );
          call.on('metadata', noteHeaders);
          call.on('status', noteStatus);
          return;
        }
        case 'client_streaming': {
          const call = client.makeClientStreamRequest(path, asBytes, asBytes, metadata, options, answered);
          call.on('metadata', noteHeaders);
          call.on('status', noteStatus);
          call.on('error', () => {});
          for (const one of encoded) call.write(one);
          call.end();
          return;
        }
        case 'server_streaming':
        case 'bidi_streaming': {
          const bidi =
            method.methodKind === 'bidi_streaming'
              ? client.makeBidiStreamRequest(path, asBytes, asBytes, metadata, options)
              : undefined;
          const call =
            bidi ??
            client.makeServerStreamRequest(path, asBytes, asBytes, encoded[0] ?? Buffer.alloc(0), metadata, options);
          const leave = (): void => {
            settle('OK', '');
            call.cancel();
          };
          // The cloud may be slow. This call counts as open only once a later call on the same connection is answered.
          const askOther = (): void => {
            client.makeUnaryRequest(
              '/grpc.health.v1.Health/Check',
              asBytes,
              asBytes,
              Buffer.alloc(0),
              metadata,
              options,
              leave,
            );
          };
          const timer = endless.has(method.name) ? setTimeout(askOther, openStreamMs) : undefined;
          call.on('metadata', noteHeaders);
          call.on('data', (body: Buffer) => {
            bodies.push(body);
            if (greeting.has(method.name)) leave();
          });
          call.on('error', () => {});
          call.on('status', (given: StatusObject) => {
            clearTimeout(timer);
            noteStatus(given);
          });
          if (bidi !== undefined) {
            for (const one of encoded) bidi.write(one);
            if (!endless.has(method.name)) bidi.end();
          }
          return;
        }
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
