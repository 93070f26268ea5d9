/** The unmodified public TypeScript client, signed in with an API key. */
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { createViamClient, type ViamClient } from '@viamrobotics/sdk';
import type { CloudProcess } from '../start-cloud.ts';

export function signInPublicClient({
  url,
  keyId,
  key,
}: Pick<CloudProcess, 'url' | 'keyId' | 'key'>): Promise<ViamClient> {
  return createViamClient({ serviceHost: url, credentials: { type: 'api-key', authEntity: keyId, payload: key } });
}

/** The same outside a browser: it can upload streams. */
export async function signInNativeClient(cloud: Parameters<typeof signInPublicClient>[0]): Promise<ViamClient> {
  Reflect.set(globalThis, 'VIAM', { GRPC_TRANSPORT_FACTORY: nativeTransport });
  try {
    return await signInPublicClient(cloud);
  } finally {
    Reflect.deleteProperty(globalThis, 'VIAM');
  }
}

interface Wire {
  toBinary(): Uint8Array;
}

/** A method of a service in the client's generated code. */
interface Method {
  readonly name: string;
  readonly I: new (fields: object) => Wire;
  readonly O: { fromBinary(bytes: Uint8Array): object };
}
interface Service {
  readonly typeName: string;
}

/**
 * The transport with which the public TypeScript client uploads streams outside a browser: native gRPC with the interface of Connect 1. Its
 * manual tells users to set it as `globalThis.VIAM.GRPC_TRANSPORT_FACTORY`.
 */
function nativeTransport({ baseUrl }: { readonly baseUrl: string }) {
  const client = new Client(new URL(baseUrl).host, credentials.createInsecure());
  const stream = async (
    service: Service,
    method: Method,
    _signal: unknown,
    _timeoutMs: unknown,
    headers: Iterable<[string, string]>,
    input: AsyncIterable<object> | Iterable<object>,
  ) => {
    const metadata = new Metadata();
    for (const [name, value] of new Headers([...(headers ?? [])])) metadata.set(name, value);
    const call = client.makeBidiStreamRequest<Wire, object>(
      `/${service.typeName}/${method.name}`,
      (message) => Buffer.from(message.toBinary()),
      (bytes) => method.O.fromBinary(bytes),
      metadata,
    );
    for await (const fields of input) call.write(new method.I(fields));
    call.end();
    return { ...{ stream: true, service, method, header: new Headers(), trailer: new Headers() }, message: call };
  };
  const unary = async (...[service, method, signal, timeoutMs, headers, message]: Parameters<typeof stream>) => {
    const answer = await stream(service, method, signal, timeoutMs, headers, [message]);
    for await (const one of answer.message) return { ...answer, stream: false, message: one };
    throw new Error(`no answer of ${method.name}`);
  };
  return { unary, stream };
}
