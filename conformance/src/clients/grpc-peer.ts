/** A gRPC client that shares no code with ours: @grpc/grpc-js with messages of @grpc/proto-loader. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync, type MethodDefinition, type PackageDefinition } from '@grpc/proto-loader';

const protos = fileURLToPath(new URL('../../../packages/proto/proto', import.meta.url));
const files = readdirSync(join(protos, 'platform'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.proto'))
  .map((name) => `platform/${name}`);
const shared = ['proto/rpc/v1/auth.proto', 'proto/rpc/webrtc/v1/signaling.proto'];
const definitions: PackageDefinition = loadSync([...files, ...shared], {
  includeDirs: [protos],
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});

export type Answer = Record<string, unknown>;

/** Calls methods of services of one package prefix; rejects with the ServiceError. */
export class Peer implements Disposable {
  readonly #target: string;
  readonly #prefix: 'viam' | 'platform';
  readonly #clients = new Map<string, Client>();
  readonly #ca: string | undefined;
  readonly #name: string | undefined;
  #token = '';
  readonly #headers: Record<string, string> = {};

  /**
   * @param target `host:port` @param ca PEM of the authority to trust; absent: plaintext @param name the name in the certificate, if it
   * differs from the target
   */
  constructor(target: string, prefix: 'viam' | 'platform' = 'viam', ca?: string, name?: string) {
    this.#name = name;
    this.#target = target;
    this.#prefix = prefix;
    this.#ca = ca;
  }

  async signIn(entity: string, type: string, payload: string): Promise<this> {
    const answer = await this.call('proto.rpc.v1.AuthService', 'Authenticate', {
      entity,
      credentials: { type, payload },
    });
    this.#token = String(answer['access_token']);
    return this;
  }

  /** Uses a token that was obtained elsewhere. */
  withToken(token: string): this {
    this.#token = token;
    return this;
  }

  /** Sends this header with every call. */
  withHeader(name: string, value: string): this {
    this.#headers[name] = value;
    return this;
  }

  call(
    service: string,
    method: string,
    request: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize, metadata } = this.#prepare(service, method);
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, answer?: unknown): void =>
        error === null ? resolve(answer as Answer) : reject(error);
      this.#client(service).makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, done);
    });
  }

  /** A client stream: all requests, then the one answer. */
  send(service: string, method: string, requests: readonly object[]): Promise<Answer> {
    const { path, requestSerialize, responseDeserialize, metadata } = this.#prepare(service, method);
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, answer?: unknown): void =>
        error === null ? resolve(answer as Answer) : reject(error);
      const client = this.#client(service);
      const stream = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, done);
      for (const request of requests) stream.write(request);
      stream.end();
    });
  }

  /** A server stream; it ends with its error as an `error` event. */
  stream(service: string, method: string, request: object): ClientReadableStream<Answer> {
    const { path, requestSerialize, responseDeserialize, metadata } = this.#prepare(service, method);
    const deserialize = (bytes: Buffer): Answer => responseDeserialize(bytes) as Answer;
    return this.#client(service).makeServerStreamRequest(path, requestSerialize, deserialize, request, metadata);
  }

  /** A bidirectional stream; it ends with its error as an `error` event. */
  converse(
    service: string,
    method: string,
    headers: Readonly<Record<string, string>>,
  ): ClientDuplexStream<object, Answer> {
    const { path, requestSerialize, responseDeserialize, metadata } = this.#prepare(service, method);
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const deserialize = (bytes: Buffer): Answer => responseDeserialize(bytes) as Answer;
    return this.#client(service).makeBidiStreamRequest(path, requestSerialize, deserialize, metadata);
  }

  #prepare(service: string, method: string): MethodDefinition<object, object> & { metadata: Metadata } {
    const found = methodOf(service, method);
    const metadata = new Metadata();
    if (this.#token !== '') metadata.set('authorization', `Bearer ${this.#token}`);
    for (const [name, value] of Object.entries(this.#headers)) metadata.set(name, value);
    return { ...found, metadata, path: found.path.replace(/^\/platform\./, `/${this.#prefix}.`) };
  }

  #client(service: string): Client {
    const known = this.#clients.get(service);
    if (known !== undefined) return known;
    const channel =
      this.#ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(this.#ca));
    const client = new (makeGenericClientConstructor({}, service))(this.#target, channel, {
      ...(this.#name !== undefined && {
        'grpc.ssl_target_name_override': this.#name,
        'grpc.default_authority': this.#name,
      }),
    });
    this.#clients.set(service, client);
    return client;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client.close();
  }
}

function methodOf(service: string, method: string): MethodDefinition<object, object> {
  const definition = definitions[service];
  const found = definition === undefined || 'format' in definition ? undefined : definition[method];
  if (found === undefined) throw new Error(`no ${service}/${method} in our .proto files`);
  return found;
}
